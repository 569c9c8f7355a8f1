package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile lists session ids that would leave the directory, or be a special name, if used as
// they are.
var hostile = []string{
	"", ".", "..", "../../x", "/etc/passwd", `..\..\x`, `C:\x`, "a/b", "a\x00b", "\x00", strings.Repeat("x", 10<<10), strings.Repeat("x", 129),
	"con", "CON", "nul", "Aux", "prn", "com1", "LPT9", "com0", "s.json", "s.lock", ".pruned", "s.1", "a b", "a\nb", "é", "日本", "\xff\xfe", "~", "$HOME", "-rf", "*", "s:x",
}

func anyID() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(hostile),
		rapid.String(),
		rapid.StringMatching(`[A-Za-z0-9_-]{1,140}`),
		rapid.StringOf(rapid.RuneFrom([]rune("./\\\x00:~con"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

func TestKeyOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := anyID().Draw(t, "id")
		k := string(KeyOf(id))
		if len(k) == 0 || len(k) > 128 || !plain(k) || device(k) || filepath.Base(k) != k {
			t.Fatalf("KeyOf(%q) = %q", id, k)
		}
		if plain(id) && !device(id) && k != id {
			t.Fatalf("KeyOf(%q) = %q: a plain id is its own key", id, k)
		}
		if got, ok := KeyOfFile(k + ".json"); got != Key(k) || !ok {
			t.Fatalf("the key %q is not found in a file's name", k)
		}
		if other := anyID().Draw(t, "other"); other != id && string(KeyOf(other)) == k {
			t.Fatalf("%q and %q are one key", id, other)
		}
	})
	for _, id := range []string{"con", "Nul", "COM1", "lpt9"} {
		if k := KeyOf(id); string(k) == id {
			t.Errorf("KeyOf(%q) = %q: a device", id, k)
		}
	}
	for _, id := range []string{"cont", "com", "comx", "conx", "lp1", "0123abcd-0000-4000-8000-00000000cafe"} {
		if k := KeyOf(id); string(k) != id {
			t.Errorf("KeyOf(%q) = %q", id, k)
		}
	}
}

// Whatever the id, all files stay in the state directory, and the session is found by its id.
func TestHostileIDs(t *testing.T) {
	parent := t.TempDir()
	st := Open(filepath.Join(parent, "a", "b", "state"))
	for _, id := range hostile {
		e := tool(id, "c", t0)
		if s := fold(t, st, e); s.Seq != 1 {
			t.Errorf("%q is at %d: it met another", id, s.Seq)
		}
		if err := st.postponeFile(KeyOf(id), folding(tool(id, "d", t0)).Change); err != nil {
			t.Errorf("spooling for %q: %v", id, err)
		}
	}
	live, problems, err := st.Live()
	if err != nil || len(problems) > 0 || len(live) != len(hostile) {
		t.Errorf("%d sessions, want %d: %v, %v", len(live), len(hostile), problems, err)
	}
	for _, id := range hostile {
		if s := load(t, st, id); s.Seq != 2 || utf8.ValidString(id) && s.ID != id {
			t.Errorf("%q is at %d, as %q", id, s.Seq, s.ID)
		}
	}
	clean(t, st)
	inside := func(path string) bool {
		return strings.HasPrefix(path, st.Dir+string(filepath.Separator)) || strings.HasPrefix(st.Dir, path)
	}
	err = filepath.WalkDir(parent, func(path string, d fs.DirEntry, err error) error {
		if !inside(path) {
			t.Errorf("%s is outside", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(st.Dir); err != nil || len(entries) > 8 {
		t.Errorf("the state directory has %d entries, %v", len(entries), err)
	}
}
