package card

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"
)

// edit shows Edit and MultiEdit.
func (b *builder) edit(in gjson.Result) []string {
	shown := []string{"file_path", "old_string", "new_string", "replace_all"}
	list := []gjson.Result{in}
	if edits := in.Get("edits"); edits.Exists() {
		shown, list = []string{"file_path", "edits"}, edits.Array()
	}
	var old, new []string
	for _, e := range list {
		old, new = append(old, e.Get("old_string").String()), append(new, e.Get("new_string").String())
	}
	b.change(in.Get("file_path").String(), func(text string) (string, error) {
		for i, e := range list {
			if old[i] == "" && text != "" || !strings.Contains(text, old[i]) {
				return "", errors.New("the text to be replaced is not in the file")
			}
			n := 1
			if e.Get("replace_all").Bool() {
				n = -1
			}
			text = strings.Replace(text, old[i], new[i], n)
		}
		return text, nil
	}, strings.Join(old, "\n"), strings.Join(new, "\n"))
	return shown
}

// change shows what a call does to a file, as a diff from its content; if the file cannot be
// read or does not match, it shows the texts in the call.
func (b *builder) change(path string, make func(string) (string, error), old, new string) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(b.cwd, full)
	}
	b.add(Head, path)
	was, there, err := b.read(full)
	if err == nil {
		var now string
		if now, err = make(string(was)); err == nil {
			b.diff(was, []byte(now), there)
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
	kinds := map[byte]Kind{'@': Hunk, '+': Add, '-': Delete, ' ': Text}
	for _, line := range strings.Split(strings.TrimSuffix(d, "\n"), "\n")[3:] { // the file names are above
		b.add(cmp.Or(kinds[(line + " ")[0]], Text), line)
	}
}

func prefixed(mark, text string) string {
	return mark + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+mark)
}
