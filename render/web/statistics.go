package web

import (
	"fmt"
	"net/http"
	"time"

	"beckon/render/web/respond"
)

const (
	daysDefault = 7
	daysMax     = 400
	// statsFor is how long statistics are kept: each reads all that was recorded.
	statsFor = 10 * time.Second
)

// getStats serves GET /api/stats?days=N.
func (s *Server) getStats(w http.ResponseWriter, r *http.Request) error {
	days, err := number(r, "days", daysDefault, daysMax)
	if err != nil {
		return err
	}
	return s.given(w, r, fmt.Sprint("stats ", days), s.o.Stats != nil, func() (any, error) { return s.o.Stats(days) })
}

// getTimeline serves GET /api/timeline?date=DAY.
func (s *Server) getTimeline(w http.ResponseWriter, r *http.Request) error {
	date := r.URL.Query().Get("date")
	if _, err := time.Parse(time.DateOnly, date); err != nil && date != "" {
		return respond.NewFault(http.StatusBadRequest, "bad_date",
			fmt.Sprintf("date=%q is not a day like 2026-01-31", cut(date)), "")
	}
	return s.given(w, r, "timeline "+date, s.o.Timeline != nil, func() (any, error) { return s.o.Timeline(date) })
}

// getDigest serves GET /api/digest.
func (s *Server) getDigest(w http.ResponseWriter, r *http.Request) error {
	return s.given(w, r, "digest", s.o.Digest != nil, s.o.Digest)
}

// getConfig serves GET /api/config.
func (s *Server) getConfig(w http.ResponseWriter, r *http.Request) error {
	return s.given(w, r, "config", s.o.Config != nil, s.o.Config)
}

// given responds with the result of an option's function, which is kept for a while under key.
func (s *Server) given(w http.ResponseWriter, r *http.Request, key string, there bool, f func() (any, error)) error {
	if !there {
		return respond.NewFault(http.StatusNotFound, "not_found", "there is nothing here", "")
	}
	v, err := s.kept.get(key, statsFor, f)
	if err != nil {
		return err
	}
	return respond.Whole(w, r, v)
}
