package web

import (
	"net/http"
	"strconv"
	"time"

	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/request"
)

const (
	// maxHeld is how many requests may wait for a person at once; further ones get a response
	// at once, and their questions stay where they are asked.
	maxHeld = 64
	// maxWait is the longest wait that a sender may announce, and margin how much earlier it
	// gets a response.
	maxWait = 24 * time.Hour
	margin  = time.Second
	// answerWait is how long a sender may take to read its response.
	answerWait = 10 * time.Second
)

// waitOf returns how long the sender of r announces to wait for a person's answer.
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

// held holds a request until the user has answered it, and reports whether they did.
func (s *Server) held(
	w http.ResponseWriter, r *http.Request, held request.Held, session *state.Session,
) (answered bool) {
	defer s.holding.Add(-1)
	if s.holding.Add(1) > maxHeld {
		s.meter.Refused("too_many_held")
		return false
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // the one for ordinary requests
	_ = rc.SetWriteDeadline(time.Time{})
	late := func() { _ = rc.SetWriteDeadline(time.Now().Add(answerWait)) }
	defer late() // for a caller that answers instead of the user
	held(r.Context(), session, func(answer []byte) error {
		if err := r.Context().Err(); err != nil {
			return err
		}
		late()
		answered = true
		respond.Bytes(w, http.StatusOK, "application/json", answer)
		return rc.Flush()
	})
	return answered
}
