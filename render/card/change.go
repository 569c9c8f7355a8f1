package card

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"
)

// swap is one replacement of an Edit.
type swap struct {
	old, new string
	all      bool
}

var errNoMatch = errors.New("the text to be replaced is not in the file")

// edit shows Edit and MultiEdit.
func (b *builder) edit(in gjson.Result) []string {
	var swaps []swap
	list := in.Get("edits").Array()
	if !in.Get("edits").Exists() {
		list = []gjson.Result{in}
	}
	var old, new []string
	for _, e := range list {
		s := swap{e.Get("old_string").String(), e.Get("new_string").String(), e.Get("replace_all").Bool()}
		swaps, old, new = append(swaps, s), append(old, s.old), append(new, s.new)
	}
	b.change(in.Get("file_path").String(), func(text []byte) ([]byte, error) {
		for _, s := range swaps {
			switch n := bytes.Count(text, []byte(s.old)); {
			case s.old == "" && len(text) == 0:
				text = []byte(s.new)
			case s.old == "" || n == 0:
				return nil, errNoMatch
			case s.all:
				text = bytes.ReplaceAll(text, []byte(s.old), []byte(s.new))
			default:
				text = bytes.Replace(text, []byte(s.old), []byte(s.new), 1)
			}
		}
		return text, nil
	}, strings.Join(old, "\n"), strings.Join(new, "\n"))
	if in.Get("edits").Exists() {
		return []string{"file_path", "edits"}
	}
	return []string{"file_path", "old_string", "new_string", "replace_all"}
}

// change shows what a call does to a file, as a diff from its content; if the file cannot be
// read or does not match, it shows the texts in the call.
func (b *builder) change(path string, make func([]byte) ([]byte, error), old, new string) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(b.cwd, full)
	}
	b.add(Head, path)
	was, there, err := b.read(full)
	if err == nil {
		var now []byte
		if now, err = make(was); err == nil {
			b.diff(was, now, there)
			return
		}
	}
	b.note(err.Error() + ": what the call has is shown")
	if old != "" {
		b.text(Delete, prefixed("-", old))
	}
	b.text(Add, prefixed("+", new))
}

// read reads the file that a call changes; a missing one is empty.
func (b *builder) read(path string) (text []byte, there bool, err error) {
	if !b.files {
		return nil, false, errors.New("the file is on another machine")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, errors.New("the file cannot be read")
	case !info.Mode().IsRegular():
		return nil, false, errors.New("this is not a file")
	case info.Size() > maxFile:
		return nil, false, errors.New("the file is too large for a diff")
	}
	if text, err = os.ReadFile(path); err != nil {
		return nil, false, errors.New("the file cannot be read")
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, false, errors.New("the file that is there is no text")
	}
	return text, true, nil
}

func (b *builder) diff(was, now []byte, there bool) {
	if !there {
		b.note("a new file")
	}
	d := string(diff.Diff("a", was, "b", now))
	if d == "" {
		b.note("nothing changes")
		return
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(d, "\n"), "\n") {
		if n++; n <= 3 { // the file names, which are above
			continue
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			b.add(Hunk, line)
		case strings.HasPrefix(line, "+"):
			b.add(Add, line)
		case strings.HasPrefix(line, "-"):
			b.add(Delete, line)
		default:
			b.add(Text, line)
		}
	}
}

func prefixed(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark)
}
