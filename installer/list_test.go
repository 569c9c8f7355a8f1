package installer

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

var twoWords = []string{"terminal", "desktop"}

// setList adds words to the list, or takes out all that are ours.
func (h home) setList(words []string) Change {
	h.t.Helper()
	if words == nil {
		return h.apply(List("notify", append(twoWords, "title"), false))
	}
	return h.apply(List("notify", words, true))
}

func TestList(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"empty", "", "{\n  \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"no member", "{}\n", "{\n  \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"one line", `{"color": "never"}`, `{"color": "never", "notify": ["terminal", "desktop"]}`},
		{"comment behind the last", "{\n\t\"color\": \"never\" // quiet\n}\n", "{\n\t\"color\": \"never\", // quiet\n\t\"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"comment at the end", "{\n    \"color\": \"never\" // quiet\n    // end\n}\n", "{\n    \"color\": \"never\", // quiet\n    // end\n    \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"trailing comma", "{\n  \"color\": \"never\", // quiet\n}\n", "{\n  \"color\": \"never\", // quiet\n  \"notify\": [\"terminal\", \"desktop\"]\n}\n"},
		{"there already", "// mine\n{\"notify\": /* was */ [], \"color\": \"auto\"}", "// mine\n{\"notify\": /* was */ [\"terminal\", \"desktop\"], \"color\": \"auto\"}"},
		{"the same", `{"notify": ["terminal", "desktop"]}`, `{"notify": ["terminal", "desktop"]}`},
	} {
		h := newHome(t)
		if c.before != "" {
			h.write(h.Path, c.before)
		}
		if got := h.setList(twoWords); got.Noop() != (c.before == c.after) {
			t.Errorf("%s: noop %v", c.name, got.Noop())
		}
		if got := h.read(); got != c.after {
			t.Errorf("%s: %q, want %q", c.name, got, c.after)
		}
	}
	h := newHome(t).with(`{"color"`)
	if _, err := Apply(h.Target, List("notify", twoWords, true)); err == nil {
		t.Error("a broken file was taken")
	}
	h.is(`{"color"`)
}

// What List has put into a file goes without a trace, also after others have written it.
func TestListGoes(t *testing.T) {
	for _, before := range []string{
		`{"color": "never"}`, "{\n  \"color\": \"never\"\n}\n", "{\n\t\"color\": \"never\" // quiet\n}\n", "// mine\n{\n  \"color\": \"auto\" /* yes */\n}\n",
		"{\n  \"color\": \"never\", // quiet\n}\n",
	} {
		h := newHome(t).with(before)
		h.setList([]string{"title"})
		h.setList(twoWords)
		text := h.read()
		h.setList(nil)
		h.is(before)
		if !h.setList(nil).Noop() {
			t.Errorf("%s: a second time", before)
		}
		h.write(h.Path, text+"\n") // of another version, or edited since
		h.setList(nil)
		if d, err := parseTree([]byte(h.read())); err != nil || member(&d.file, "color") == nil || member(&d.file, "notify") != nil {
			t.Errorf("%q becomes %q, %v", text, h.read(), err)
		}
	}
	h := newHome(t)
	if !h.setList(nil).Noop() {
		t.Error("without a file")
	}
	for range 2 {
		h.setList(twoWords)
		h.setList(nil)
		if _, err := os.Stat(h.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that holds nothing is left: %v", err)
		}
		h.write(h.Path, "{\n  \"notify\": [\"terminal\", \"desktop\"]\n}\n") // of an earlier version
		h.setList(nil)
		if _, err := os.Stat(h.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file of an earlier version that holds nothing is left: %v", err)
		}
	}
}

// What the file had before the first edit is known until the last is undone.
func TestListed(t *testing.T) {
	h := newHome(t).with(`{"packs": ["mine"]}`)
	for _, c := range []struct {
		words       []string
		on          bool
		now, before string
	}{{[]string{"git"}, true, "mine git", "mine"}, {[]string{"git"}, false, "mine", "mine"}, {nil, true, "mine", "mine"}} {
		h.apply(List("packs", c.words, c.on))
		now, before := h.Listed("packs")
		if strings.Join(now, " ") != c.now || strings.Join(before, " ") != c.before {
			t.Errorf("%+v: %q, %q", c, now, before)
		}
	}
	h.is(`{"packs": ["mine"]}`)
	fresh := newHome(t)
	fresh.apply(List("packs", []string{"git"}, true))
	if now, before := fresh.Listed("packs"); len(now) != 1 || before != nil {
		t.Errorf("a file of ours: %q, %q", now, before)
	}
}
