package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// remote is a handler that posts each event to an address, in one of two languages.
type remote struct {
	to endpoint
	retries
	health health
	language
}

// language is what is posted, and how the response is read.
type language interface {
	// question returns the body to post, and the data in it, which an answer may change.
	question(c wire.Call) (body, data []byte, err error)
	// answers reports whether a response of that status has an answer.
	answers(status int) bool
	read(event string, data, body []byte) (wire.Outcome, error)
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
	return remote{to, retries{timeout, s.Retries, s.RetryDelay}, healthOf(s.URL, state), protocol{}}, err
}

// newHTTP returns a native http hook: it posts the client's payload and accepts the client's own
// JSON as the answer. It never retries, because its side effects may not be repeatable. If
// closed, an empty answer is none. In the value of a header $NAME and ${NAME} are replaced by an
// environment variable if it is allowed, else by nothing.
//
// A URL that is not an http or https URL is an error.
func newHTTP(s config.Spec, timeout time.Duration, closed bool) (wire.Handler, error) {
	headers := map[string]string{}
	for k, v := range s.Headers {
		headers[k] = interpolate(v, s.AllowedEnvVars)
	}
	to, err := newEndpoint(s.URL, headers)
	u, parsed := url.Parse(s.URL)
	opa := parsed == nil && (u.Path == dataAPI || strings.HasPrefix(u.Path, dataAPI+"/"))
	return remote{to, retries{timeout: timeout}, health{}, native{opa, closed}}, err
}

// Run implements wire.Handler.
func (h remote) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	question, data, err := h.question(c)
	if err != nil {
		return wire.Outcome{Err: err}
	}
	var o wire.Outcome
	got, tries, err := h.ask(ctx, c, question)
	switch {
	case err == nil && !h.answers(got.status):
		err = h.to.unexpected(got.status)
	case err == nil:
		if o, err = h.read(c.Event, data, got.body); err != nil {
			err = fmt.Errorf("the answer of %s: %w", h.to, err)
		}
	}
	if err != nil {
		o = wire.Outcome{Err: err, TimedOut: errors.Is(err, errTimeout)}
	}
	o.Output = event.Cut(string(bytes.ToValidUTF8(bytes.TrimSpace(got.body), []byte("\uFFFD"))), maxOutput)
	o.Attempts, o.Took = tries, time.Since(start)
	return o
}

// errPaused is the failure of a server that is skipped for a while.
var errPaused = errors.New("it did not answer a moment ago, and is left alone for a while")

// ask asks as often as the server's health allows.
func (h remote) ask(ctx context.Context, c wire.Call, question []byte) (replied, int, error) {
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

// protocol is protocol 1.0, of policy servers.
type protocol struct{}

func (protocol) question(c wire.Call) (body, data []byte, err error) {
	if c.ID == "" {
		c.ID = rand.Text()
	}
	return wire.Question(c)
}

func (protocol) answers(status int) bool { return status == http.StatusOK }

func (protocol) read(event string, data, body []byte) (wire.Outcome, error) {
	return wire.ParseReply(event, data, body)
}

// native is what the client itself posts, and reads as it does: no status can refuse.
type native struct {
	opa    bool // Open Policy Agent's data API
	closed bool // an empty answer is none
}

// dataAPI is where Open Policy Agent takes the payload as "input", and answers with "result".
const dataAPI = "/v1/data"

func (n native) question(c wire.Call) (body, data []byte, err error) {
	if n.opa {
		return slices.Concat([]byte(`{"input":`), c.Payload, []byte("}")), nil, nil
	}
	return c.Payload, nil, nil
}

func (native) answers(status int) bool { return status >= 200 && status <= 299 }

func (n native) read(event string, _, body []byte) (wire.Outcome, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 && !n.closed {
		return wire.Outcome{}, nil
	}
	o, err := wire.ParseResponse(event, body)
	if err == nil && n.opa && !gjson.GetBytes(body, "result").Exists() {
		err = errors.New("the decision is undefined")
	}
	return o, err
}

// reference is compiled at its first use: most hooks that link this ask no server.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`) })

// interpolate inserts environment variables into a header.
func interpolate(value string, allowed []string) string {
	return reference().ReplaceAllStringFunc(value, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		if name := m[1] + m[2]; slices.Contains(allowed, name) {
			return os.Getenv(name)
		}
		return ""
	})
}
