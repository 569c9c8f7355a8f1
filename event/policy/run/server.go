package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"beckon/event/policy/wire"
)

// ServerConfig describes a policy server that uses protocol 1.0.
type ServerConfig struct {
	URL        string            // server_url
	Timeout    time.Duration     // timeout_ms, of one try; 0 leaves it to the context
	Retries    int               // retry_count, tries after the first
	RetryDelay time.Duration     // retry_delay_ms, between two tries
	Headers    map[string]string // sent along as they are
	health     health            // its zero value remembers nothing
}

type server struct {
	to endpoint
	retries
	health health
}

// NewServer returns a handler that asks a policy server.
//
// A server that is there and has an opinion answers 200. It is asked again,
// with the same event id, after 500 and above, 429, a connection that fails
// and a timeout; not after 400 or another status, and not after an answer that
// is no protocol 1.0: the next would be the same.
//
// Errors: a URL that is not an http or https URL.
func NewServer(c ServerConfig) (wire.Handler, error) {
	to, err := newEndpoint(c.URL, c.Headers)
	if err != nil {
		return nil, err
	}
	return server{to, retries{c.Timeout, c.Retries, c.RetryDelay}, c.health}, nil
}

// Run is a Handler.
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

// errPaused is the failure of a server that is not asked.
var errPaused = errors.New("it did not answer a moment ago, and is left alone for a while")

// ask asks as often as the server's health lets it.
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
	// Whose caller has gone does not know; whose time is up does.
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
