package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// before is an install that was made when there was no client.
func before(h home) Spec {
	spec := Spec{Command: "/b/beckon-hook", Events: Events("", CoreEvents), Set: CoreEvents}
	h.apply(Install(spec))
	return spec
}

// complete reports whether the file changed.
func (h home) complete(version string) bool {
	h.t.Helper()
	before := h.read()
	if err := Complete(h.Keep, ParseVersion(version)); err != nil {
		h.t.Fatal(err)
	}
	h.clean()
	return h.read() != before
}

// registered returns the names of the events that have an entry of ours.
func (h home) registered() (names []string) {
	for _, e := range readFile(h.Path, "", nil).Entries {
		names = append(names, e.Event)
	}
	return names
}

// A directory's name is never a pattern.
func TestCompleteBelowBrackets(t *testing.T) {
	h := newHome(t)
	h.Keep = filepath.Join(h.dir, "me[you]")
	before(h)
	if !h.complete("2.1.330") {
		t.Error("nothing was added")
	}
}

func TestCompleteAddsWhatANewerClientKnows(t *testing.T) {
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			h := newHome(t).with(string(old))
			before(h)
			if paths, v := Recorded(h.Keep); paths == nil || v.Known() {
				t.Errorf("chosen for %v, %q", v, paths)
			}
			had := h.read()
			if !h.complete("2.1.330") || h.read() == had {
				t.Error("nothing was added")
			}
			if got := h.registered(); !slices.Contains(got, "StopFailure") || len(got) != len(Events("2.1.330", CoreEvents)) {
				t.Errorf("registered are %v", got)
			}
			if _, v := Recorded(h.Keep); v != "2.1.330" {
				t.Errorf("chosen for %v", v)
			}
			now := h.read()
			if h.complete("2.1.330") || h.complete("2.1.197") || h.complete("2.1.331") || h.read() != now {
				t.Error("completing again changes something")
			}
			if _, v := Recorded(h.Keep); v != "2.1.331" {
				t.Errorf("chosen for %v, though a newer client needed nothing more", v)
			}
			h.apply(Uninstall())
			h.is(string(old))
			if paths, _ := Recorded(h.Keep); paths != nil || h.kept() != nil {
				t.Errorf("left behind: %v", h.kept())
			}
		})
	}
}

// If an install created the settings file, uninstalling removes it.
func TestCompleteOfAFileThatInstallMade(t *testing.T) {
	h := newHome(t)
	before(h)
	h.complete("2.1.330")
	h.apply(Uninstall())
	if _, err := os.Stat(h.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}

// What the user added is kept.
func TestCompleteOnlyAdds(t *testing.T) {
	h := newHome(t).with("{}\n")
	spec := Spec{Command: "/b/beckon-hook", Events: []string{"Stop", "Setup"}, Set: CoreEvents}
	h.apply(Install(spec))
	h.complete("2.1.330")
	got := h.registered()
	if !slices.Contains(got, "Setup") || !slices.Contains(got, "StopFailure") {
		t.Errorf("registered are %v", got)
	}
}

// Entries that were removed are not put back, and an install of an earlier beckon, which does
// not say which client it is for, does not change by itself.
func TestCompleteLeavesAlone(t *testing.T) {
	h := newHome(t).with("{}\n")
	before(h)
	h.write(h.Path, "{}\n")
	if h.complete("2.1.330") {
		t.Error("it put the entries back")
	}
	h.is("{}\n")
	if paths, _ := Recorded(h.Keep); paths != nil {
		t.Error("a file without entries counts")
	}

	h = newHome(t).with("{}\n")
	before(h)
	k := keptFor(h.Keep, h.Path)
	r, _ := k.load()
	r.Client, r.Set = "", ""
	if err := k.save(r, nil); err != nil {
		t.Fatal(err)
	}
	if h.complete("2.1.330") {
		t.Error("it changed what an earlier beckon installed")
	}
}

func TestCompleteAtOnce(t *testing.T) {
	h := newHome(t).with("{\n  \"model\": \"opus\"\n}\n")
	before(h)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := Complete(h.Keep, "2.1.330"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := h.registered(); len(got) != len(Events("2.1.330", CoreEvents)) {
		t.Errorf("registered are %v", got)
	}
	h.apply(Uninstall())
	h.is("{\n  \"model\": \"opus\"\n}\n")
}
