package trust

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
	now := time.Now()
	for at, want := range map[time.Time]bool{now: false, now.Add(-3 * time.Second): true, time.Unix(1, 0): false} {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		d := Dir(t.TempDir())
		s := SpeaksOf(file, "")
		if err := d.Speak(s, map[string]Voice{"PreToolUse": Rules, "Stop": Starts}, now); err != nil {
			t.Fatal(err)
		}
		place := d.Path(speaksDir, s.name)
		text, err := os.ReadFile(place)
		if (err == nil) != want {
			t.Errorf("changed at %s: %q, %v", at, text, err)
		}
		for event, voice := range map[string]Voice{"PreToolUse": Rules, "Stop": Starts, "Sto": Nothing, "SessionEnd": Nothing, "": Unknown} {
			if !want {
				voice = Unknown
			}
			if got := s.Of(d, event); got != voice {
				t.Errorf("changed at %s: of %q it has %v, want %v", at, event, got, voice)
			}
		}
		if want { // a torn file says nothing
			if err := os.WriteFile(place, text[:len(text)-1], 0o600); err != nil {
				t.Fatal(err)
			}
			if s.Of(d, "SessionEnd") != Unknown {
				t.Error("a torn file is believed")
			}
		}
	}
}
