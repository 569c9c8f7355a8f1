package command

import "strings"

// gitKinds are the kinds of words that name files as git does.
var gitKinds = []string{"rev", "range", "spec", "specw"}

// gitFile returns the file that a word of the kind "rev", "range", "spec" or "specw" names;
// without Access if it names none: a pathspec that excludes files, lines without a file.
func gitFile(kind string, w Word) File {
	tree := kind == "spec" || kind == "specw" // a pathspec, never a revision
	f := File{Access: Read, Stored: !tree}
	if kind == "specw" {
		f.Access = Write
	}
	text := w.all()
	rest, magic := strings.CutPrefix(text, ":")
	switch at := outside(text); {
	case kind != "range" && excludes(text):
		return File{}
	case kind == "range":
		text = text[strings.LastIndexByte(text, ':')+1:]
		if len(text) == len(w.all()) {
			return File{}
		}
	case magic && strings.HasPrefix(rest, "("): // :(top,icase)FILE
		names, path, _ := strings.Cut(rest[1:], ")")
		text, f.Root = path, strings.Contains(","+names+",", ",top,")
		f.Path.Glob = true
	case !tree && magic && len(rest) > 1 && rest[1] == ':' && rest[0] >= '0' && rest[0] <= '3': // :STAGE:FILE
		text, f.Root = rest[2:], true
	case magic: // :FILE, or :/FILE and :!FILE
		text, f.Root = strings.TrimLeft(rest, "/!^"), !tree || strings.HasPrefix(rest, "/")
		f.Path.Glob = true
	case !tree && at >= 0: // REVISION:FILE
		text, f.Root = text[at+1:], true
	default:
		f.Path.Glob = !tree || w.Glob
	}
	if text == "" && tree && f.Root {
		text = "."
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

// excludes reports whether a pathspec names files that git leaves out.
func excludes(text string) bool {
	if names, ok := strings.CutPrefix(text, ":("); ok {
		names, _, _ = strings.Cut(names, ")")
		return strings.Contains(","+names+",", ",exclude,")
	}
	rest, magic := strings.CutPrefix(text, ":")
	path := strings.TrimLeft(rest, "/!^")
	return magic && strings.ContainsAny(rest[:len(rest)-len(path)], "!^")
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
