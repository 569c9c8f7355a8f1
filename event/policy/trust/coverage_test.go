package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"beckon/event/plainfile"
)

// The coverage is stored only for files whose next version can be distinguished from this one.
func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "beckon", "policy.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for at, want := range map[time.Time]bool{now: false, now.Add(-3 * time.Second): true, time.Unix(1, 0): true} {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		d := Dir(t.TempDir())
		s := CoverageOf(file, "", "here")
		if err := d.Cover(s, func() (map[string]Needs, []byte) {
			return map[string]Needs{"PreToolUse": Rules, "Stop": Starts}, []byte("r \n")
		}, now); err != nil {
			t.Fatal(err)
		}
		place := d.Path(coverageDir, s.name)
		text, err := os.ReadFile(place)
		if (err == nil) != want {
			t.Errorf("changed at %s: %q, %v", at, text, err)
		}
		for event, needs := range map[string]Needs{"PreToolUse": Rules, "Stop": Starts, "Sto": None, "SessionEnd": None, "": Unknown} {
			if !want {
				needs = Unknown
			}
			got, rules := s.Of(d, event)
			if got != needs || needs > None && string(rules) != "r \n" {
				t.Errorf("changed at %s: of %q it has %v and %q, want %v", at, event, got, rules, needs)
			}
		}
		if want { // a truncated file has no coverage
			if err := os.WriteFile(place, text[:len(text)-1], 0o600); err != nil {
				t.Fatal(err)
			}
			if got, _ := s.Of(d, "SessionEnd"); got != Unknown {
				t.Error("a truncated file has a coverage")
			}
			if got, _ := CoverageOf(file, "", "there").Of(d, "Stop"); got != Unknown {
				t.Error("a file has a coverage in another place")
			}
		}
	}
}

// A rewritten file with the same length and time is recognised as another version.
func TestCoverageOfARewrite(t *testing.T) {
	if s, _ := plainfile.VersionOf(t.TempDir()); s.Changed == 0 {
		t.Skip("this system does not say when a file was changed last")
	}
	file := filepath.Join(t.TempDir(), "policy.json")
	at := time.Now().Add(-time.Hour)
	write := func(text string) Coverage {
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
		return CoverageOf(file, "", "here")
	}
	before := write("[1]")
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the file system's clock has ticks
		if write("[2]") != before {
			return
		}
		if time.Now().After(end) {
			t.Fatal("a rewrite with the size and the time of what it replaced is taken for it")
		}
	}
}
