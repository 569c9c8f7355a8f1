//go:build unix

package jump

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
)

// fakeClaude is a client whose attach prints its arguments and keeps running.
func fakeClaude(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"asked to $*\"\nsleep 60\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return filepath.Join(dir, "claude")
}

func inBackground(id string) *render.Row {
	return &render.Row{SessionID: "s1", State: state.Permission, NeedsYou: true, Cwd: "/home/u/shop", Job: &render.Job{ID: id, Name: "#(touch /tmp/never)"}}
}

func TestBackgroundSessionOpensAWindowOfTheCallersClient(t *testing.T) {
	s := newTmux(t)
	fakeClaude(t)
	work := s.session("work")
	s.session("play")
	mine, other := s.attach("work"), s.attach("play")
	was := s.shows(other)
	res, err := New(s.inside("work", work[0])).To(t.Context(), inBackground("4bd65e9e"))
	if err != nil || res.Become != nil {
		t.Fatalf("%+v, %v", res, err)
	}
	said := ""
	for end := time.Now().Add(time.Minute); !strings.Contains(said, "asked to attach 4bd65e9e"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the client shows %q", said)
		}
		said = s.run("capture-pane", "-p", "-t", s.shows(mine))
	}
	if s.shows(other) != was {
		t.Error("another client was moved")
	}
}

func TestBackgroundSessionTakesTheTerminalOutsideTmux(t *testing.T) {
	claude := fakeClaude(t)
	j := New(outside)
	var hand *ByHand
	if _, err := j.To(t.Context(), inBackground("4bd65e9e")); !errors.As(err, &hand) || hand.Do != "claude attach 4bd65e9e" {
		t.Errorf("from where nothing can be shown: %v", err)
	}
	j.Attended = true
	res, err := j.To(t.Context(), inBackground("4bd65e9e"))
	if err != nil || res.Become == nil || strings.Join(res.Become.Argv, " ") != claude+" attach 4bd65e9e" {
		t.Errorf("%+v, %v", res, err)
	}
	for _, id := range []string{"", "-x", "a b", "$(x)"} {
		if res, err := j.To(t.Context(), inBackground(id)); !errors.As(err, &hand) {
			t.Errorf("id %q: %+v, %v", id, res, err)
		}
	}
}
