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

	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// remote posts each event to an address: of a policy server, or a native http hook, which answers in the client's JSON
// and is never asked again, because of side effects.
type remote struct {
	*config.Hook
	url    *url.URL
	state  trust.Dir // stores that a server did not answer; "" stores nothing
	native bool
	opa    bool // native: Open Policy Agent's data API, which takes the payload as "input" and answers with "result"
}

func newRemote(h *config.Hook, state trust.Dir) remote {
	to := remote{Hook: h, state: state}
	to.url, _ = url.Parse(h.Spec.URL) // config accepts no other
	if to.native = h.Type == config.HTTP; to.native {
		to.opa, to.state = strings.HasPrefix(to.url.Path+"/", "/v1/data/"), ""
	}
	return to
}

// header returns the header of a request. In the values of a native hook's headers $NAME and ${NAME} are replaced by an
// environment variable if it is allowed, else by nothing.
func (h remote) header(hops int) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"beckon"}}
	for k, v := range h.Spec.Headers {
		if h.native {
			v = os.Expand(v, func(name string) string {
				if slices.Contains(h.Spec.AllowedEnvVars, name) {
					return os.Getenv(name)
				}
				return ""
			})
		}
		header.Set(k, v)
	}
	header.Set(wire.HopsHeader, strconv.Itoa(hops+1))
	return header
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

// retry posts until it gets an answer that a retry would not change, or the context leaves no time for the
// delay. It keeps no connection, and follows no redirect: a policy is asked where the user said.
func (h remote) retry(ctx context.Context, body []byte, hops int) (r response, err error) {
	client := &http.Client{
		Timeout: h.Timeout,
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), bytes.NewReader(body))
	if err != nil {
		return r, errors.New("the URL cannot be read")
	}
	req.Header = h.header(hops)
	res, err := client.Do(req)
	if err == nil {
		defer res.Body.Close()
		r.body, err = io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	}
	var u *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return response{}, errTimeout
	case errors.As(err, &u): // it contains the URL with its query
		return response{}, u.Err
	case err != nil:
		return response{}, err
	case len(r.body) > maxResponse:
		return response{status: res.StatusCode}, fmt.Errorf("the answer is larger than %d bytes", maxResponse)
	}
	r.status = res.StatusCode
	return r, nil
}

// ask asks, and names the address in errors, without the query, since that may contain a key.
func (h remote) ask(ctx context.Context, c wire.Call) wire.Outcome {
	o, got, err := h.question(ctx, c)
	if err != nil {
		o = wire.Outcome{Err: fmt.Errorf("asking %q: %w", h.url.Scheme+"://"+h.url.Host+h.url.Path, err)}
	}
	o.Output, o.Attempts = string(got.body), got.tries
	return o
}

// question asks, as often as the server's health allows, and reads the answer.
func (h remote) question(ctx context.Context, c wire.Call) (o wire.Outcome, got response, err error) {
	body, data := c.Payload, []byte(nil)
	if h.opa {
		body = slices.Concat([]byte(`{"input":`), c.Payload, []byte("}"))
	} else if !h.native {
		c.ID = cmp.Or(c.ID, rand.Text())
		if body, data, err = wire.Question(c); err != nil {
			return o, got, err
		}
	}
	down := trust.Sum(h.Spec.URL)[:32]
	if info, missing := os.Stat(h.state.Path(downDir, down)); h.state != "" && missing == nil &&
		time.Since(info.ModTime()).Abs() < downFor { // a clock that was set back must not make it longer
		return o, got, errors.New("it did not answer a moment ago, and is left alone for a while")
	}
	got, err = h.retry(ctx, body, c.Hops)
	switch { // If the caller has gone, nothing is known about the server; if the time is up, something is.
	case h.state == "" || errors.Is(ctx.Err(), context.Canceled):
	case got.silent():
		_ = h.state.Write(nil, downDir, down)
	default:
		_ = h.state.Remove(downDir, down)
	}
	switch answered := got.status == http.StatusOK || h.native && got.status >= 200 && got.status <= 299; {
	case err != nil:
	case got.status/100 == 3:
		err = fmt.Errorf("it answered %d; redirects are not followed", got.status)
	case !answered:
		err = fmt.Errorf("it answered %d, %s", got.status, cmp.Or(http.StatusText(got.status), "an unknown status"))
	case !h.native:
		o, err = wire.ParseReply(c.Event, data, got.body)
	case len(bytes.TrimSpace(got.body)) > 0 || h.FailClosed:
		o, err = wire.ParseResponse(c.Event, bytes.TrimSpace(got.body))
		if err == nil && h.opa && !gjson.GetBytes(got.body, "result").Exists() {
			err = errors.New("the decision is undefined")
		}
	}
	return o, got, err
}

const (
	downDir = "down" // has a file for each server that did not answer
	// downFor is how long a server that did not answer is skipped.
	downFor = 30 * time.Second
)
