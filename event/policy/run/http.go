package run

import (
	"bytes"
	"cmp"
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

// remote posts each event to an address: of a policy server, or a native http hook, which answers in the client's JSON
// and is never asked again, because of side effects.
type remote struct {
	*config.Hook
	shown  string // in messages, without the query, since that may contain a key
	header http.Header
	state  trust.Dir // stores that a server did not answer; "" stores nothing
	native bool
	opa    bool // native: Open Policy Agent's data API
}

// dataAPI is where Open Policy Agent takes the payload as "input", and answers with "result".
const dataAPI = "/v1/data"

// newRemote returns the handler of a hook. In the values of a native one's headers $NAME and ${NAME} are replaced by an
// environment variable if it is allowed, else by nothing.
func newRemote(h *config.Hook, state trust.Dir) wire.Handler {
	u, err := url.Parse(h.Spec.URL)
	if err != nil {
		u = &url.URL{} // config accepts none
	}
	to := remote{Hook: h, shown: strconv.Quote(u.Scheme + "://" + u.Host + u.Path), state: state}
	if to.native = h.Type == config.HTTP; to.native {
		to.opa, to.state = strings.HasPrefix(u.Path+"/", dataAPI+"/"), ""
	}
	to.header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {"beckon"}}
	for k, v := range h.Spec.Headers {
		if to.native {
			v = os.Expand(v, func(name string) string {
				if slices.Contains(h.Spec.AllowedEnvVars, name) {
					return os.Getenv(name)
				}
				return ""
			})
		}
		to.header.Set(k, v)
	}
	return to
}

const maxResponse = 1 << 20 // 1 MiB: more than any answer needs

// response is a whole response.
type response struct {
	status int // 0: none came
	body   []byte
	tries  int
}

// silent reports whether the server did not answer, so that a retry could get an answer.
func (r response) silent() bool {
	return r.status == 0 || r.status == http.StatusTooManyRequests || r.status >= 500
}

// ask posts until it gets an answer that a retry would not change, or the context leaves no time for the
// delay. It keeps no connection, and follows no redirect: a policy is asked where the user said.
func (h remote) ask(ctx context.Context, body []byte, hops int) (r response, err error) {
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
	end, ends := ctx.Deadline()
	for tries := 1; ; tries++ {
		r, err = h.post(ctx, client, body, hops)
		r.tries = tries
		if !r.silent() || tries > h.Spec.Retries || ends && time.Until(end) <= h.Spec.RetryDelay {
			return r, err
		}
		select {
		case <-time.After(h.Spec.RetryDelay):
		case <-ctx.Done():
			return r, err
		}
	}
}

// post sends body and reads the answer, once.
func (h remote) post(ctx context.Context, client *http.Client, body []byte, hops int) (r response, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(h.Timeout, wire.Deadline))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Spec.URL, bytes.NewReader(body))
	if err != nil {
		return r, errors.New("the URL cannot be read")
	}
	req.Header = h.header.Clone()
	req.Header.Set(wire.HopsHeader, strconv.Itoa(hops+1))
	res, err := client.Do(req)
	if err == nil {
		defer res.Body.Close()
		r.body, err = io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	}
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // it contains the URL with its query
			err = u.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = errTimeout
		}
		return response{}, fmt.Errorf("asking %s: %w", h.shown, err)
	}
	if r.status = res.StatusCode; len(r.body) > maxResponse {
		return response{status: r.status}, fmt.Errorf("the answer of %s is larger than %d bytes", h.shown, maxResponse)
	}
	return r, nil
}

// unexpected is a status that is not an answer.
func (h remote) unexpected(status int) error {
	text := cmp.Or(http.StatusText(status), "an unknown status")
	if status/100 == 3 {
		text += "; redirects are not followed"
	}
	return fmt.Errorf("%s answered %d, %s", h.shown, status, text)
}

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
	down := trust.Sum(h.Spec.URL)[:32]
	if info, missing := os.Stat(h.state.Path(downDir, down)); h.state != "" && missing == nil &&
		time.Since(info.ModTime()).Abs() < downFor { // a clock that was set back must not make it longer
		return o, got, fmt.Errorf("%s did not answer a moment ago, and is left alone for a while", h.shown)
	}
	got, err = h.ask(ctx, body, c.Hops)
	switch { // If the caller has gone, nothing is known about the server; if the time is up, something is.
	case h.state == "" || errors.Is(ctx.Err(), context.Canceled):
	case got.silent():
		_ = h.state.Write(nil, downDir, down)
	default:
		_ = h.state.Remove(downDir, down)
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
	if len(body) == 0 && !h.FailClosed {
		return wire.Outcome{}, nil
	}
	o, err := wire.ParseResponse(event, body)
	if err == nil && h.opa && !gjson.GetBytes(body, "result").Exists() {
		err = errors.New("the decision is undefined")
	}
	return o, err
}

const (
	downDir = "down" // has a file for each server that did not answer
	// downFor is how long a server that did not answer is skipped.
	downFor = 30 * time.Second
)
