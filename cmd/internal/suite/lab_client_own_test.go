//go:build unix

package suite

import (
	"slices"
	"testing"
	"time"
)

// TestRealClient tests the lab itself: typed text arrives, the server's answers are shown,
// hooks reach the recorder, and the client exits in order.
func TestRealClient(t *testing.T) {
	if testing.Short() {
		t.Skip("drives a real client for some seconds")
	}
	for _, v := range Bounds {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			smoke(t, Start(t, v))
		})
	}
}

func smoke(t *testing.T, l *Lab) {
	r, err := NewRecorder(l.Home, true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sc, err := ParseScenario("smoke", `
		say lab:hi
		screen Hi there
		expect idle
		say lab:bash ./nap 1
		screen It ran. Done
		expect idle reason done
		say lab:write note.txt
		screen Do you want to create note.txt
		expect permission for 500ms
		key Enter
		screen Wrote the note
		expect idle reason done
		say /exit
		gone
		expect ended
	`)
	if err != nil {
		t.Fatal(err)
	}
	res := l.Play(sc, nil, ScreenObserver(l))
	if res.Err != nil {
		t.Fatalf("%v\n%s", res.Err, l.Tmux.Screens())
	}
	for _, c := range res.Checks {
		if !c.OK {
			t.Errorf("%s: the screen says %q", c.Step, c.Got)
		}
	}
	checkSeen(t, r, "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd", "statusline")
}

// checkSeen waits until the recorder has each kind.
func checkSeen(t *testing.T, r *Recorder, kinds ...string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(sampleEvery) {
		seen, err := r.Seen()
		if err != nil {
			t.Fatal(err)
		}
		kinds = slices.DeleteFunc(kinds, func(k string) bool {
			return slices.ContainsFunc(seen, func(s Seen) bool { return s.Kind == k })
		})
		if len(kinds) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the recorder never got %v", kinds)
		}
	}
}
