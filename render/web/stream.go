package web

import (
	"fmt"
	"net/http"
	"time"

	"beckon/render"
	"beckon/render/web/access"
)

const (
	maxStreams = 100              // event streams at once
	maxBehind  = 1024             // events that a stream may be behind
	writeWait  = 10 * time.Second // a client that reads nothing for this long is dropped
)

// queue is what is to be written to an event stream. It is closed when that is too much.
type queue chan []byte

// snapshot is the data of a snapshot event, with which each stream begins.
type snapshot struct {
	render.List
	Requests []requestNews `json:"offers,omitempty"`
	Away     *away         `json:"away,omitempty"`
}

// events serves GET /events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) (any, error) {
	c := s.feed.join()
	if c == nil {
		s.feed.meter.refused("too_many_clients")
		return nil, access.NewFault(http.StatusServiceUnavailable, "too_many_clients",
			fmt.Sprintf("%d event streams are open", maxStreams), "close some pages, or ask /api/sessions now and then")
	}
	defer s.feed.leave(c)
	rc := http.NewResponseController(w)
	_, over := s.guard.Session(r)
	_ = rc.SetReadDeadline(time.Time{}) // that of requests would end the stream
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Transfer-Encoding", "identity") // the stream ends with its connection, so no chunks around the events
	beat := time.NewTicker(s.o.Timing.Beat)
	defer beat.Stop()
	for {
		var data []byte
		select {
		case data = <-c:
		case <-beat.C:
			data = []byte(": heartbeat\n\n")
		case <-r.Context().Done():
		case <-over:
		}
		if data == nil {
			return nil, nil
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeWait))
		if _, err := w.Write(data); err != nil || rc.Flush() != nil {
			return nil, nil // it has gone
		}
	}
}

// join opens a stream, which begins with a snapshot. It returns nil if there are too many.
func (f *feed) join() queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.streams) >= maxStreams {
		return nil
	}
	c := make(queue, maxBehind)
	c <- append([]byte("retry: 1000\n\n"), frame("snapshot", snapshot{f.listLocked(), f.requests, f.away})...)
	f.streams[c] = true
	return c
}

func (f *feed) leave(c queue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, c)
}

// clients returns how many streams are open.
func (f *feed) clients() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}
