package feed

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"beckon/render/web/respond"
)

// Timing of event streams.
const (
	writeWait  = 10 * time.Second // a client that reads nothing for this long is dropped
	retryAfter = "5"              // seconds, for clients refused because it is full
	retryFirst = 1000             // ms until a client tries again, at our request
)

// Stream responds with the events of the sessions that the query of r selects, until r or over
// ends.
func (f *Feed) Stream(w http.ResponseWriter, r *http.Request, over <-chan struct{}) error {
	wants, err := ParseFilter(r)
	if err != nil {
		return err
	}
	if !f.join() {
		f.o.Meter.Refused("too_many_clients")
		w.Header().Set("Retry-After", retryAfter)
		return respond.NewFault(http.StatusServiceUnavailable, "too_many_clients",
			fmt.Sprintf("%d event streams are open", maxClients), "close some pages, or ask /api/sessions now and then")
	}
	defer f.leave()
	c := client{feed: f, w: w, rc: http.NewResponseController(w), f: wants, done: r.Context().Done(), over: over}
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

// client is one event stream.
type client struct {
	feed *Feed
	w    http.ResponseWriter
	rc   *http.ResponseController
	f    Filter
	done <-chan struct{}
	over <-chan struct{} // closed when the session that asked is signed out
	at   uint64          // the newest event it was sent
}

func (c *client) run(last string) {
	if !c.begin(last) {
		return
	}
	beat := time.NewTicker(c.feed.o.Timing.Beat)
	defer beat.Stop()
	for {
		frames, newest, wake, ok := c.feed.since(c.at, c.f)
		switch {
		case !ok:
			c.feed.o.Meter.Gap()
			if !c.restart("behind") {
				return
			}
			continue
		case len(frames) > 0 && !c.write(frames):
			return
		}
		more := newest-c.at == step
		if c.at = newest; more {
			continue
		}
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
	n, ok := c.feed.number(last)
	if !ok {
		return c.restart("epoch")
	}
	if !c.feed.holds(n) {
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
	b, n := c.feed.snapshotFrame(c.f)
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
