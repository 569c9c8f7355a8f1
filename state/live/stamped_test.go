package live

import (
	"testing"
	"time"

	"beckon/event"
)

// Where the clock of the file system is coarse, another version of a session's file may have the
// stamp of the one that was read, so a recheck reads a young file again.
func TestYoungFilesAreReadAgain(t *testing.T) {
	d := newDesk(t)
	d.hook(event.SessionStart, 0, nil)
	f := NewFollower(d.reader(0))
	if _, err := f.Look(); err != nil || len(f.entries) != 1 {
		t.Fatalf("%d sessions, %v", len(f.entries), err)
	}
	f.thorough = time.Now()
	for _, e := range f.entries {
		e.seen.Session.Cwd = "/as/it/was"
	}
	if _, _, err := f.look(recheck); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.entries {
		if e.seen.Session.Cwd == "/as/it/was" {
			t.Error("the follower shows the version that it read before")
		}
	}
}
