package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stream is the data in a pipe.
type stream struct {
	text     Word
	some     bool // something is connected
	from, to int  // the commands that write it
}

// redirect reads one redirection: the file that it opens, and the target that gets the
// statement's output (err: its error output).
func (w *walker) redirect(r *syntax.Redirect, in *stream) (f *File, target *Word, err bool) {
	err = r.N != nil && r.N.Value != "1" && r.Op != syntax.RdrAll && r.Op != syntax.AppAll
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text := known("")
		if r.Hdoc != nil {
			text = w.document(r.Hdoc)
		}
		*in = stream{text: text, some: true}
		return nil, nil, err
	case syntax.WordHdoc:
		text := w.word(r.Word)
		text.Text += "\n"
		*in = stream{text: text, some: true}
		return nil, nil, err
	}
	from, feeds := len(w.line.Commands), w.from
	name := w.word(r.Word)
	w.from = feeds
	if name.Known && name.Text == "/dev/null" || descriptor(r, name) {
		if r.Op == syntax.RdrIn {
			*in = stream{text: known(""), some: true}
		}
		return nil, nil, err
	}
	if len(w.line.Commands) > from && strings.HasPrefix(name.Text, "/dev/fd/") { // < <(...)
		*in = stream{text: w.content(name), some: true, from: from, to: len(w.line.Commands)}
		return nil, nil, err
	}
	f = &File{Path: name, Dir: w.dir}
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn:
		f.Access = Read
		*in = stream{text: w.content(name), some: true}
		return f, nil, err
	case syntax.RdrInOut:
		f.Access = Read | Write
		return f, nil, err
	}
	f.Access = Write
	return f, &name, err
}

// descriptor: the redirection is to an open descriptor, not to a file (2>&1).
func descriptor(r *syntax.Redirect, name Word) bool {
	return (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && name.Known && strings.Trim(name.Text, "0123456789-") == ""
}

// target is a file that the line writes, and whether it adds to the file.
type target struct {
	path string
	adds bool
}

// path returns the path of a file, from where the line starts as far as that is known. Paths
// with the same known parts count as the same.
func (w *walker) path(name Word) string {
	if p := below(w.dir, name); p.Known {
		name = p
	}
	return path.Clean(name.all())
}

// write records what the line writes to a file; file returns it. If the command may not run, or
// the file may be another, what was there before may still be.
func (w *walker) write(to target, text Word) {
	old, there := w.written[to.path]
	holed := strings.Contains(to.path, hole)
	switch {
	case holed && text.all() == hole:
		return
	case !there:
	case to.adds:
		text = joined([]Word{old, text}, "")
	case holed || w.branch > 0 || w.and > 0:
		text = joined([]Word{old, text}, "\n")
	}
	w.spend(len(text.all()))
	w.written[to.path] = text
}

func (w *walker) file(name Word) (text Word, ok bool) {
	text, ok = w.written[w.path(name)]
	return text, ok
}

// content returns what the line itself has written to a file.
func (w *walker) content(name Word) Word {
	if text, ok := w.file(name); ok {
		return text
	}
	return unknownWord
}

// document returns the text of a here-document.
func (w *walker) document(body *syntax.Word) Word {
	f := fields{w: w, open: true}
	for _, part := range body.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			f.add(unslash(lit.Value, "\\$`"))
		} else {
			f.part(part, true)
		}
	}
	f.end()
	return f.list[0]
}

// joined concatenates texts, up to one that is too long to be parsed.
func joined(list []Word, between string) Word {
	out := Word{Known: true}
	var text strings.Builder
	for i, v := range list {
		if i > 0 {
			text.WriteString(between)
		}
		long := text.Len() >= maxText
		if long {
			v = unknownWord
		}
		if out.Known && !v.Known {
			out.Known = false
			out.Text = text.String() + v.Text
		}
		if text.WriteString(v.all()); long {
			break
		}
	}
	if out.Known {
		out.Text = text.String()
	} else {
		out.shell = text.String()
	}
	return out
}

// readInto sets a variable from the input.
func (w *walker) readInto(name string, names int, in stream) {
	v := nothing
	if line, _, _ := strings.Cut(in.text.Text, "\n"); in.some && in.text.Known && names == 1 {
		v = scalar(known(strings.TrimSpace(line)))
	}
	w.set(name, v)
}
