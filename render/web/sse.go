package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"beckon/render/web/respond"
	"beckon/state"
)

// Timing of event streams.
const (
	writeWait  = 10 * time.Second // a client that reads nothing for this long is dropped
	retryAfter = "5"              // seconds, for clients refused because it is full
	retryFirst = 1000             // ms until a client tries again, at our request
)

// events serves GET /events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	f, err := parseFilter(r)
	if err != nil {
		return err
	}
	if !s.hub.join() {
		s.meter.refused("too_many_clients")
		w.Header().Set("Retry-After", retryAfter)
		return respond.NewFault(http.StatusServiceUnavailable, "too_many_clients", fmt.Sprintf("%d event streams are open", maxClients), "close some pages, or ask /api/sessions now and then")
	}
	defer s.hub.leave()
	s.conns.stream(r)
	c := client{s: s, w: w, rc: http.NewResponseController(w), f: f, done: r.Context().Done(), over: s.door.Over(r)}
	// The deadlines of requests would end the stream; it has one of its own for each write.
	_ = c.rc.SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Transfer-Encoding", "identity") // the stream ends with its connection, so no chunks around the events
	// A page that creates a new EventSource cannot send the header, so a query parameter does
	// the same.
	c.run(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")))
	return nil
}

func parseFilter(r *http.Request) (filter, error) {
	q := r.URL.Query()
	f := filter{session: q.Get("session")}
	for _, list := range q["state"] {
		for word := range strings.SplitSeq(list, ",") {
			st := state.State(strings.ToLower(strings.TrimSpace(word)))
			if !slices.Contains(state.States[:], st) {
				return f, respond.NewFault(http.StatusBadRequest, "bad_state", fmt.Sprintf("no such state %q", cut(word)), "the states are those of list --json")
			}
			f.states = append(f.states, st)
		}
	}
	return f, nil
}

// client is one event stream.
type client struct {
	s    *Server
	w    http.ResponseWriter
	rc   *http.ResponseController
	f    filter
	done <-chan struct{}
	over <-chan struct{} // closed when the session that asked is signed out
	at   uint64          // the newest event it was sent
}

func (c *client) run(last string) {
	if !c.begin(last) {
		return
	}
	beat := time.NewTicker(c.s.o.Timing.Beat)
	defer beat.Stop()
	for {
		frames, newest, wake, ok := c.s.hub.since(c.at, c.f)
		switch {
		case !ok:
			c.s.meter.gaps.Add(1)
			if !c.restart("behind") {
				return
			}
			continue
		case len(frames) > 0 && !c.write(frames):
			return
		}
		c.at = newest
		if !c.wait(wake, beat.C) {
			return
		}
	}
}

// begin sends the client what it needs to follow: the events after last, or a snapshot.
func (c *client) begin(last string) bool {
	if !c.write(fmt.Appendf(nil, "retry: %d\n\n", retryFirst)) {
		return false
	}
	if last == "" {
		return c.snapshot(nil)
	}
	n, ok := c.s.hub.number(last)
	if !ok {
		return c.restart("epoch")
	}
	if !c.s.hub.holds(n) {
		return c.restart("too_old")
	}
	c.at = n
	return true
}

// restart reports that events are missing, and sends the present rows.
func (c *client) restart(reason string) bool {
	return c.snapshot(fmt.Appendf(nil, "event: gap\ndata: {\"reason\":%q}\n\n", reason))
}

func (c *client) snapshot(before []byte) bool {
	b, n := c.s.hub.snapshotFrame(c.f)
	c.at = n
	return (before == nil || c.write(before)) && c.write(b)
}

// wait returns when there is something to write, and false when the stream is over.
func (c *client) wait(wake <-chan struct{}, beat <-chan time.Time) bool {
	for {
		select {
		case <-wake:
			return true
		case <-beat:
			if !c.write([]byte(": heartbeat\n\n")) {
				return false
			}
		case <-c.done:
			return false
		case <-c.over:
			return false
		}
	}
}

func (c *client) write(b []byte) bool {
	_ = c.rc.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := c.w.Write(b); err != nil {
		return false
	}
	return c.rc.Flush() == nil
}
