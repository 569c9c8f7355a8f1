package web

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"beckon/render/web/respond"
)

// answers caches responses for some seconds, by request: each of these reads every journal.
// Only one is computed at a time.
type answers struct {
	mu   sync.Mutex
	last map[string]answered
}

// answered is a response, and when it was computed.
type answered struct {
	v  any
	at time.Time
}

// Limits of answers.
const (
	answersFor = 10 * time.Second
	maxAnswers = 16
)

func (a *answers) get(asked string, f func() (any, error)) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if was, ok := a.last[asked]; ok && time.Since(was.at) < answersFor {
		return was.v, nil
	}
	v, err := f()
	if err != nil {
		return nil, err
	}
	if a.last == nil || len(a.last) >= maxAnswers {
		a.last = map[string]answered{}
	}
	a.last[asked] = answered{v, time.Now()}
	return v, nil
}

// Days of statistics.
const (
	daysDefault = 7
	daysMax     = 400
)

// getStats serves GET /api/stats?days=N.
func (s *Server) getStats(w http.ResponseWriter, r *http.Request) error {
	days, err := number(r, "days", daysDefault, daysMax)
	if err != nil {
		return err
	}
	return s.given(w, r, func() (any, error) {
		return s.answers.get(fmt.Sprint("stats ", days), func() (any, error) { return s.o.Stats(days) })
	}, s.o.Stats != nil)
}

// getTimeline serves GET /api/timeline?date=DAY.
func (s *Server) getTimeline(w http.ResponseWriter, r *http.Request) error {
	date := r.URL.Query().Get("date")
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" {
		return respond.NewFault(http.StatusBadRequest, "bad_date", fmt.Sprintf("date=%q is not a day like 2026-01-31", cut(date)), "")
	}
	return s.given(w, r, func() (any, error) {
		return s.answers.get("timeline "+date, func() (any, error) { return s.o.Timeline(date) })
	}, s.o.Timeline != nil)
}

// getDigest serves GET /api/digest.
func (s *Server) getDigest(w http.ResponseWriter, r *http.Request) error {
	return s.given(w, r, func() (any, error) { return s.answers.get("digest", s.o.Digest) }, s.o.Digest != nil)
}

// getConfig serves GET /api/config.
func (s *Server) getConfig(w http.ResponseWriter, r *http.Request) error {
	return s.given(w, r, s.o.Config, s.o.Config != nil)
}

// given responds with the result of an option's function.
func (s *Server) given(w http.ResponseWriter, r *http.Request, f func() (any, error), there bool) error {
	if !there {
		return respond.NewFault(http.StatusNotFound, "not_found", "there is nothing here", "")
	}
	v, err := f()
	if err != nil {
		return err
	}
	return respond.Whole(w, r, v)
}
