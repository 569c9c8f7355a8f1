package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

type server struct {
	to endpoint
	retries
	health health
}

// NewServer returns a handler that asks a policy server. timeout is for one try; 0 leaves it
// to the context. state stores whether the server answered; "" stores nothing.
//
// A working server answers 200. It is asked again, with the same event id, after 500 and
// above, 429, a failed connection and a timeout; not after 400 or another status, nor after an
// answer that is not protocol 1.0: the next would be the same.
//
// A URL that is not an http or https URL is an error.
func NewServer(s config.Spec, timeout time.Duration, state trust.Dir) (wire.Handler, error) {
	to, err := newEndpoint(s.URL, s.Headers)
	return server{to, retries{timeout, s.Retries, s.RetryDelay}, healthOf(s.URL, state)}, err
}

// Run implements wire.Handler.
func (h server) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	if c.ID == "" {
		c.ID = rand.Text()
	}
	question, data, err := wire.Question(c)
	if err != nil {
		return wire.Outcome{Err: err}
	}
	got, tries, err := h.ask(ctx, c, question)
	o := wire.Outcome{Err: err}
	if err == nil {
		o = h.read(c.Event, data, got)
	}
	return finished(o, got, tries, start)
}

// errPaused is the failure of a server that is skipped for a while.
var errPaused = errors.New("it did not answer a moment ago, and is left alone for a while")

// ask asks as often as the server's health allows.
func (h server) ask(ctx context.Context, c wire.Call, question []byte) (replied, int, error) {
	patience := h.retries
	switch may, once := h.health.ask(); {
	case !may:
		return replied{}, 0, fmt.Errorf("%s: %w", h.to, errPaused)
	case once:
		patience.count = 0
	}
	got, tries, err := h.to.hop(c).ask(ctx, question, patience)
	silent := again(got, err)
	// If the caller has gone, nothing is known about the server; if the time is up, something
	// is.
	if !errors.Is(ctx.Err(), context.Canceled) {
		h.health.note(!silent)
	}
	return got, tries, err
}

func (h server) read(event string, data []byte, got replied) wire.Outcome {
	if got.status != http.StatusOK {
		return wire.Outcome{Err: h.to.unexpected(got.status)}
	}
	o, err := wire.ParseReply(event, data, got.body)
	if err != nil {
		return wire.Outcome{Err: fmt.Errorf("the answer of %s: %w", h.to, err)}
	}
	return o
}
