package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/render"
)

// heard is an event of a stream.
type heard struct {
	id, name string
	data     string
	at       time.Time
}

// stream is an open event stream that records its events, and what a page would show after
// them.
type stream struct {
	t      testing.TB
	cancel context.CancelFunc
	mu     sync.Mutex
	all    []heard
	beats  int
	rows   map[string]render.Row // by seat, else session
	ended  chan struct{}
}

// stream opens an event stream. It has its snapshot when this returns, and receives what happens
// from then on.
func (x *site) stream(path string, headers ...string) *stream {
	x.T.Helper()
	s := x.open(path, headers)
	if len(headers) == 0 {
		s.await("snapshot", nil)
	}
	return s
}

func (x *site) open(path string, headers []string) *stream {
	x.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", x.URL+path, nil)
	if err != nil {
		x.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+x.Key)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		x.T.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		x.T.Fatalf("%s: %s", path, res.Status)
	}
	s := &stream{t: x.T, cancel: cancel, rows: map[string]render.Row{}, ended: make(chan struct{})}
	go s.read(res.Body)
	x.T.Cleanup(func() { cancel(); <-s.ended })
	return s
}

func (s *stream) read(body io.ReadCloser) {
	defer close(s.ended)
	defer body.Close()
	in := bufio.NewReader(body)
	var h heard
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "id":
			h.id = string(value)
		case "event":
			h.name = string(value)
		case "data":
			h.data = string(value)
		case "":
			if len(value) > 0 { // a comment
				s.mu.Lock()
				s.beats++
				s.mu.Unlock()
			} else if h.name != "" {
				h.at = time.Now()
				s.note(h)
				h = heard{}
			}
		}
	}
}

// note applies an event as a page does.
func (s *stream) note(h heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, h)
	switch h.name {
	case "snapshot":
		var l render.List
		if err := json.Unmarshal([]byte(h.data), &l); err != nil {
			s.t.Errorf("snapshot: %v", err)
		}
		s.rows = map[string]render.Row{}
		for _, r := range l.Sessions {
			s.rows[rowKey(r)] = r
		}
	case "session_created", "session_updated", "session_ended":
		var n struct{ Session render.Row }
		if err := json.Unmarshal([]byte(h.data), &n); err != nil {
			s.t.Errorf("%s: %v", h.name, err)
		}
		if h.name == "session_ended" {
			delete(s.rows, rowKey(n.Session))
		} else {
			s.rows[rowKey(n.Session)] = n.Session
		}
	}
}

func rowKey(r render.Row) string {
	if r.SeatID != "" {
		return r.SeatID
	}
	return r.SessionID
}

// find returns the first event of that name for which f returns true.
func (s *stream) find(name string, f func(data map[string]any) bool) (heard, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.all {
		m := map[string]any{}
		if h.name == name && json.Unmarshal([]byte(h.data), &m) == nil && (f == nil || f(m)) {
			return h, true
		}
	}
	return heard{}, false
}

// await waits for an event.
func (s *stream) await(name string, f func(data map[string]any) bool) heard {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if h, ok := s.find(name, f); ok {
			return h
		}
		if time.Now().After(end) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("no %s came in 20 s; heard %s", name, s.told())
		}
	}
}

// told returns what was received, for a failure's message.
func (s *stream) told() string {
	var b strings.Builder
	for _, h := range s.all {
		fmt.Fprintf(&b, "\n  %s %s %.200s", h.id, h.name, h.data)
	}
	return b.String()
}

func (s *stream) events() []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]heard(nil), s.all...)
}

// list returns what a page would show, in the order of list --json.
func (s *stream) list() []render.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]render.Row, 0, len(s.rows))
	for _, r := range s.rows {
		rows = append(rows, r)
	}
	rows = render.Queue{}.Arrange(rows)
	return rows
}

func sessionIs(id string) func(map[string]any) bool {
	return func(m map[string]any) bool {
		s, _ := m["session"].(map[string]any)
		return s["session_id"] == id
	}
}
