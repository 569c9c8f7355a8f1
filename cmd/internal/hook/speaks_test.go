package hook

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What the policies speak of is written down only for files whose next version
// would look different.
func TestSpeaksText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "beckon", "policy.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": dir}[name] }
	now := time.Now()
	for at, want := range map[time.Time]bool{now: false, now.Add(-3 * time.Second): true, time.Unix(1, 0): false} {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		s := SpeaksOf(getenv)
		text := s.Text([]string{"PreToolUse", "Stop"}, now)
		if (text != "") != want {
			t.Errorf("changed at %s: %q", at, text)
		}
		state := t.TempDir()
		place := filepath.Join(state, "policy", s.Name)
		if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for event, silent := range map[string]bool{"PreToolUse": false, "Stop": false, "Sto": want, "SessionEnd": want, "": false} {
			if got := s.silent(state, event); got != silent {
				t.Errorf("changed at %s: silent on %q is %v", at, event, got)
			}
		}
		if want { // a torn file says nothing
			if err := os.WriteFile(place, []byte(text[:len(text)-1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if s.silent(state, "SessionEnd") {
				t.Error("a torn file is believed")
			}
		}
	}
}
