package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// statsCache keeps the answer of /api/stats for some seconds: it reads every
// journal.
type statsCache struct {
	mu   sync.Mutex
	days int
	at   time.Time
	v    any
}

const statsFor = 10 * time.Second

// Days of statistics.
const (
	daysDefault = 7
	daysMax     = 400
)

// getStats serves GET /api/stats?days=N.
func (s *Server) getStats(w http.ResponseWriter, r *http.Request) {
	days := daysDefault
	if d := r.URL.Query().Get("days"); d != "" {
		var err error
		if days, err = strconv.Atoi(d); err != nil || days < 1 || days > daysMax {
			writeError(w, &fault{http.StatusBadRequest, "bad_days", fmt.Sprintf("days=%q is not between 1 and %d", cut(d), daysMax), ""})
			return
		}
	}
	s.given(w, r, func() (any, error) { return s.cachedStats(days) }, s.o.Stats != nil)
}

func (s *Server) cachedStats(days int) (any, error) {
	c := &s.stats
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.v != nil && c.days == days && time.Since(c.at) < statsFor {
		return c.v, nil
	}
	v, err := s.o.Stats(days)
	if err == nil {
		c.v, c.days, c.at = v, days, time.Now()
	}
	return v, err
}

// getConfig serves GET /api/config.
func (s *Server) getConfig(w http.ResponseWriter, r *http.Request) {
	s.given(w, r, s.o.Config, s.o.Config != nil)
}

// given answers what a function of the options says.
func (s *Server) given(w http.ResponseWriter, r *http.Request, f func() (any, error), there bool) {
	if !there {
		writeError(w, &fault{http.StatusNotFound, "not_found", "there is nothing here", ""})
		return
	}
	v, err := f()
	if err != nil {
		s.internal(w, err)
		return
	}
	b, err := encode(v)
	if err != nil {
		s.internal(w, err)
		return
	}
	writeTagged(w, r, b, json.RawMessage(b))
}
