package command

import "strings"

// stored returns the file that a word of the kind "rev" or "range" names; without Access if it
// names none: a pathspec that excludes files, lines without a file.
func stored(kind string, w Word) File {
	f := File{Access: Read, Stored: true}
	text := w.all()
	rest, magic := strings.CutPrefix(text, ":")
	switch at := outside(text); {
	case kind == "range":
		text = text[strings.LastIndexByte(text, ':')+1:]
		if len(text) == len(w.all()) {
			return File{}
		}
	case magic && strings.HasPrefix(rest, "("): // :(top,icase)FILE
		names, path, _ := strings.Cut(rest[1:], ")")
		if strings.Contains(","+names+",", ",exclude,") {
			return File{}
		}
		text, f.Root = path, strings.Contains(","+names+",", ",top,")
		f.Path.Glob = true
	case magic && len(rest) > 1 && rest[1] == ':' && rest[0] >= '0' && rest[0] <= '3': // :STAGE:FILE
		text, f.Root = rest[2:], true
	case magic: // :FILE, or :/FILE and :!FILE
		text, f.Root = strings.TrimLeft(rest, "/!^"), true
		if strings.ContainsAny(rest[:len(rest)-len(text)], "!^") {
			return File{}
		}
		f.Path.Glob = true
	case at >= 0: // REVISION:FILE
		text, f.Root = text[at+1:], true
	default:
		f.Path.Glob = true
	}
	if text == "" {
		return File{}
	}
	if strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		f.Root = false
	}
	before, _, unknown := strings.Cut(text, hole)
	f.Path = Word{Text: before, Known: w.Known || !unknown, Glob: f.Path.Glob && strings.ContainsAny(text, "*?["), shell: text}
	if f.Path.Known {
		f.Path.Text = text
	}
	return f
}

// outside returns the index of the first colon that is not in braces, as it is in HEAD@{12:00};
// -1 without one.
func outside(text string) int {
	depth := 0
	return strings.IndexFunc(text, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return r == ':' && depth == 0
	})
}
