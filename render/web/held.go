package web

import (
	"net/http"
	"strconv"
	"time"

	"beckon/state"
	"beckon/state/offer"
)

const (
	// maxHeld is how many requests may wait for a person at once; further ones
	// are answered at once, and their questions stay where they are asked.
	maxHeld = 64
	// maxWait is how long a sender may say that it waits, and margin how much
	// sooner it is answered.
	maxWait = 24 * time.Hour
	margin  = time.Second
)

// waitOf is how long who sent r waits for a person's answer, by its own word.
func waitOf(r *http.Request) (wait time.Duration, bad bool) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	wait = time.Duration(n) * time.Second
	if err != nil || n < 0 || n > int(maxWait.Seconds()) {
		return 0, true
	}
	return max(0, wait-margin), false
}

// held holds a request until the user has answered what it asks, and reports
// whether it was answered.
func (s *Server) held(w http.ResponseWriter, r *http.Request, held offer.Held, session *state.Session) (answered bool) {
	defer s.holding.Add(-1)
	if s.holding.Add(1) > maxHeld {
		s.meter.refused("too_many_held")
		return false
	}
	s.conns.stream(r)
	w.Header().Set("Connection", "close") // it is in no count any more
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // of requests that are answered at once
	_ = rc.SetWriteDeadline(time.Time{})
	late := func() { _ = rc.SetWriteDeadline(time.Now().Add(writeWait)) }
	defer late() // for whoever answers in place of the user
	held(r.Context(), session, s.wakes.Watch, func(answer []byte) error {
		if err := r.Context().Err(); err != nil {
			return err
		}
		late()
		answered = true
		writeBytes(w, http.StatusOK, "application/json", answer)
		return rc.Flush()
	})
	return answered
}
