package feed

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	if !f.join(1) {
		f.o.Meter.Refused("too_many_clients")
		w.Header().Set("Retry-After", retryAfter)
		return respond.NewFault(http.StatusServiceUnavailable, "too_many_clients",
			fmt.Sprintf("%d event streams are open", maxClients), "close some pages, or ask /api/sessions now and then")
	}
	defer f.join(-1)
	c := client{feed: f, w: w, rc: http.NewResponseController(w), wants: wants}
	// The deadlines of requests would end the stream; it has one of its own for each write.
	_ = c.rc.SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Transfer-Encoding", "identity") // the stream ends with its connection, so no chunks around the events
	// A page that creates a new EventSource cannot send the header, so a query parameter does
	// the same.
	c.run(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")), r.Context().Done(), over)
	return nil
}

// join counts a client that comes (1) or goes (-1), and reports whether there is a place for it.
func (f *Feed) join(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clients+n > maxClients {
		return false
	}
	f.clients += n
	return true
}

// client is one event stream.
type client struct {
	feed  *Feed
	w     http.ResponseWriter
	rc    *http.ResponseController
	wants Filter
	at    uint64 // the newest event it was sent
}

// run sends the events after last, or a snapshot and what follows, until one of the channels is
// closed or the client reads nothing.
func (c *client) run(last string, done, over <-chan struct{}) {
	beat := time.NewTicker(c.feed.o.Timing.Beat)
	defer beat.Stop()
	ok := c.write(fmt.Appendf(nil, "retry: %d\n\n", retryFirst))
	switch epoch, n, _ := strings.Cut(last, "-"); {
	case last == "":
		ok = ok && c.snapshot("")
	case epoch != c.feed.epoch:
		ok = ok && c.snapshot("epoch")
	default:
		c.at, _ = strconv.ParseUint(n, 10, 64)
	}
	missed := "too_old"
	for ok {
		frames, newest, wake, held := c.feed.since(c.at, c.wants)
		if !held {
			ok = c.snapshot(missed)
			continue
		}
		ok = len(frames) == 0 || c.write(frames)
		more := newest-c.at == step
		c.at, missed = newest, "behind"
		for waiting := ok && !more; waiting; {
			select {
			case <-wake:
				waiting = false
			case <-beat.C:
				ok = c.write([]byte(": heartbeat\n\n"))
				waiting = ok
			case <-done:
				return
			case <-over:
				return
			}
		}
	}
}

// snapshot sends the present rows, and unless it is empty the reason why events are missing.
func (c *client) snapshot(missed string) bool {
	b, n := c.feed.snapshotFrame(c.wants)
	c.at = n
	if missed != "" {
		c.feed.o.Meter.Count("beckon_sse_gaps_total", "", "")
		b = append(fmt.Appendf(nil, "event: gap\ndata: {\"reason\":%q}\n\n", missed), b...)
	}
	return c.write(b)
}

func (c *client) write(b []byte) bool {
	_ = c.rc.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := c.w.Write(b); err != nil {
		return false
	}
	return c.rc.Flush() == nil
}
