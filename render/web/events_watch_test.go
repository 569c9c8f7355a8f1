package web

import (
	"os"
	"testing"
	"time"
)

// A watched directory that is moved away is polled until it is back.
func TestWatchIsLost(t *testing.T) {
	x := serve(t, Options{Timing: Timing{Recheck: 20 * time.Millisecond}})
	watching := func(want string) func() bool {
		return func() bool { return x.Get("/hook/status").Field(t, "watching") == want }
	}
	x.Until("it watches", watching("fsnotify"))
	s := x.stream("/events")
	if err := os.RemoveAll(x.st.SessionsDir()); err != nil {
		t.Fatal(err)
	}
	x.Until("it polls", watching("polling"))
	x.fold(prompt("s", "one"))
	s.await("session_created", sessionIs("s"))
	x.Until("it watches again", watching("fsnotify"))
}
