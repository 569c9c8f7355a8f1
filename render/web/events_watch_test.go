package web

import (
	"os"
	"strconv"
	"testing"
	"time"

	"beckon/render/web/feed"
)

// Where changes are not reported they are polled: often while a client listens, less often
// otherwise.
func TestPolling(t *testing.T) {
	x := serve(t, Options{Options: feed.Options{Unwatched: true}})
	const idle = 250 * time.Millisecond // the least time between two looks if nobody listens
	interval := func() time.Duration {
		s, _ := strconv.ParseFloat(x.Get("/hook/status").Field(t, "file_poll_interval"), 64)
		return time.Duration(s * float64(time.Second))
	}
	x.Until("nobody listens", func() bool { return interval() >= idle })
	s := x.stream("/events")
	x.Until("somebody listens", func() bool { return interval() > 0 && interval() < idle })
	x.fold(prompt("s", "one"))
	s.await("session_created", sessionIs("s"))
	if got := x.Get("/hook/status").Field(t, "watching"); got != "polling" {
		t.Errorf("watching is %s", got)
	}
}

// A watched directory that is moved away is polled until it is back.
func TestWatchIsLost(t *testing.T) {
	x := serve(t, Options{Options: feed.Options{Timing: feed.Timing{Recheck: 20 * time.Millisecond}}})
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
