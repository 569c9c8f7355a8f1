package run

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// endpoint is an address that questions are posted to.
type endpoint struct {
	url     string
	shown   string // in messages, without the query, since that may contain a key
	header  http.Header
	timeout time.Duration // of one try; 0 leaves it to the context
	retries int           // tries after the first
	delay   time.Duration // between two tries
}

// newEndpoint checks a URL.
func newEndpoint(address string, headers map[string]string) (endpoint, error) {
	u, err := url.Parse(address)
	if err != nil {
		return endpoint{}, errors.New("the URL cannot be read")
	}
	shown := strconv.Quote(u.Scheme + "://" + u.Host + u.Path)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("%s is not an http or https URL", shown)
	}
	e := endpoint{url: address, shown: shown, header: http.Header{}}
	e.header.Set("Content-Type", "application/json")
	e.header.Set("User-Agent", "beckon")
	for k, v := range headers {
		e.header.Set(k, v)
	}
	return e, nil
}

const maxResponse = 1 << 20 // 1 MiB: more than any answer needs

// response is a whole response.
type response struct {
	status int
	body   []byte
	tries  int
	silent bool // a retry could get another one: no connection, 429, 500 and above
}

// ask posts until it gets an answer that a retry would not change, or the context leaves no time for the
// delay. It keeps no connection, and follows no redirect: a policy is asked where the user said.
func (e endpoint) ask(ctx context.Context, body []byte) (r response, err error) {
	client := &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DisableKeepAlives:      true,
			DisableCompression:     true, // a small body must not become a large one
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	for tries := 1; ; tries++ {
		once, cancel := limited(ctx, e.timeout)
		r, err = e.post(once, client, body)
		r.tries = tries
		cancel()
		if !r.silent || tries > e.retries || ctx.Err() != nil || !pause(ctx, e.delay) {
			return r, err
		}
	}
}

// pause waits for d and reports whether there is time left after it.
func pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// post sends body and reads the answer, all under ctx.
func (e endpoint) post(ctx context.Context, client *http.Client, body []byte) (r response, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return r, errors.New("the URL cannot be read")
	}
	req.Header = e.header.Clone()
	res, err := client.Do(req)
	if err == nil {
		defer res.Body.Close()
		r.body, err = io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	}
	switch {
	case err != nil:
		var u *url.Error
		if errors.As(err, &u) { // it contains the URL with its query
			err = u.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = errTimeout
		}
		return response{silent: true}, fmt.Errorf("asking %s: %w", e.shown, err)
	case len(r.body) > maxResponse:
		return response{}, fmt.Errorf("the answer of %s is larger than %d bytes", e.shown, maxResponse)
	}
	r.status = res.StatusCode
	r.silent = r.status >= 500 || r.status == http.StatusTooManyRequests
	return r, nil
}

// unexpected is a status that is not an answer.
func (e endpoint) unexpected(status int) error {
	text := http.StatusText(status)
	switch {
	case status >= 300 && status < 400:
		return fmt.Errorf("%s answered %d: redirects are not followed", e.shown, status)
	case text == "":
		text = "an unknown status"
	}
	return fmt.Errorf("%s answered %d, %s", e.shown, status, text)
}

// remote posts each event to an address: of a policy server, or a native http hook, which answers in the client's JSON.
type remote struct {
	endpoint
	health health
	native bool
	opa    bool // native: Open Policy Agent's data API
	closed bool // native: an empty answer is none
}

// NewServer returns a handler that asks a policy server, each try within the timeout if it is not 0. state stores
// whether the server answered; "" stores nothing.
func NewServer(s config.Spec, timeout time.Duration, state trust.Dir) (wire.Handler, error) {
	to, err := newEndpoint(s.URL, s.Headers)
	to.timeout, to.retries, to.delay = timeout, s.Retries, s.RetryDelay
	return remote{endpoint: to, health: healthOf(s.URL, state)}, err
}

// dataAPI is where Open Policy Agent takes the payload as "input", and answers with "result".
const dataAPI = "/v1/data"

// newHTTP returns a native http hook. It never retries, because of side effects. In the value of a header
// $NAME and ${NAME} are replaced by an environment variable if it is allowed, else by nothing.
func newHTTP(s config.Spec, timeout time.Duration, closed bool) (wire.Handler, error) {
	headers := map[string]string{}
	for k, v := range s.Headers {
		headers[k] = os.Expand(v, func(name string) string {
			if slices.Contains(s.AllowedEnvVars, name) {
				return os.Getenv(name)
			}
			return ""
		})
	}
	to, err := newEndpoint(s.URL, headers)
	to.timeout = timeout
	u, parsed := url.Parse(s.URL)
	opa := parsed == nil && strings.HasPrefix(u.Path+"/", dataAPI+"/")
	return remote{endpoint: to, native: true, opa: opa, closed: closed}, err
}

// errPaused is the failure of a server that is skipped for a while.
var errPaused = errors.New("it did not answer a moment ago, and is left alone for a while")

// Run implements wire.Handler.
func (h remote) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	o, got, err := h.question(ctx, c)
	if err != nil {
		o = wire.Outcome{Err: err, TimedOut: errors.Is(err, errTimeout)}
	}
	o.Output = event.Cut(string(bytes.ToValidUTF8(bytes.TrimSpace(got.body), []byte("\uFFFD"))), maxOutput)
	o.Attempts, o.Took = got.tries, time.Since(start)
	return o
}

// question asks, as often as the server's health allows, and reads the answer.
func (h remote) question(ctx context.Context, c wire.Call) (o wire.Outcome, got response, err error) {
	body, data := c.Payload, []byte(nil)
	if h.opa {
		body = slices.Concat([]byte(`{"input":`), c.Payload, []byte("}"))
	} else if !h.native {
		if c.ID == "" {
			c.ID = rand.Text()
		}
		if body, data, err = wire.Question(c); err != nil {
			return o, got, err
		}
	}
	to := h.endpoint
	to.header = to.header.Clone()
	to.header.Set(wire.HopsHeader, strconv.Itoa(c.Hops+1))
	to.header.Set(wire.AcceptHeader, wire.AcceptAsk)
	switch may, once := h.health.ask(); {
	case !may:
		return o, got, fmt.Errorf("%s: %w", h.shown, errPaused)
	case once:
		to.retries = 0
	}
	got, err = to.ask(ctx, body)
	// If the caller has gone, nothing is known about the server; if the time is up, something is.
	if !errors.Is(ctx.Err(), context.Canceled) {
		h.health.note(!got.silent)
	}
	switch answered := got.status == http.StatusOK || h.native && got.status >= 200 && got.status <= 299; {
	case err != nil:
		return o, got, err
	case !answered:
		return o, got, h.unexpected(got.status)
	case h.native:
		o, err = h.readNative(c.Event, bytes.TrimSpace(got.body))
	default:
		o, err = wire.ParseReply(c.Event, data, got.body)
	}
	if err != nil {
		err = fmt.Errorf("the answer of %s: %w", h.shown, err)
	}
	return o, got, err
}

func (h remote) readNative(event string, body []byte) (wire.Outcome, error) {
	if len(body) == 0 && !h.closed {
		return wire.Outcome{}, nil
	}
	o, err := wire.ParseResponse(event, body)
	if err == nil && h.opa && !gjson.GetBytes(body, "result").Exists() {
		err = errors.New("the decision is undefined")
	}
	return o, err
}

const (
	downDir = "down" // servers that did not answer
	// downFor is how long a server that did not answer is skipped.
	downFor = 30 * time.Second
)

// health is a file that exists while a server is down, which is then skipped for a while. Without a state it is none.
type health struct {
	state trust.Dir
	name  string
}

func healthOf(url string, state trust.Dir) health { return health{state, trust.Sum(url)[:32]} }

// ask reports how the server may be asked now: not at all, once after the pause, or with all retries.
func (h health) ask() (may, once bool) {
	if h.state == "" {
		return true, false
	}
	info, err := os.Stat(h.state.Path(downDir, h.name))
	switch {
	case err != nil:
		return true, false
	case time.Since(info.ModTime()).Abs() < downFor: // a clock that was set back must not make it longer
		return false, false
	}
	h.note(false)
	return true, true
}

// note creates the file or removes it. If that fails the server is asked with all retries.
func (h health) note(answered bool) {
	switch {
	case h.state == "":
	case answered:
		_ = h.state.Remove(downDir, h.name)
	default:
		_ = h.state.Write(nil, downDir, h.name)
	}
}
