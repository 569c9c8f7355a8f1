package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"beckon/event/policy/wire"
)

const maxResponse = 1 << 20 // 1 MiB: more than any answer needs

// endpoint is the address that questions are posted to.
type endpoint struct {
	url    string
	shown  string // in messages
	header http.Header
}

// newEndpoint checks a URL. Its query stays out of every message, since it may contain a key.
func newEndpoint(address string, headers map[string]string) (endpoint, error) {
	u, err := url.Parse(address)
	if err != nil {
		return endpoint{}, errors.New("the URL cannot be read")
	}
	shown := strconv.Quote(u.Scheme + "://" + u.Host + u.Path)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("%s is not an http or https URL", shown)
	}
	e := endpoint{address, shown, http.Header{"Content-Type": {"application/json"}, "User-Agent": {"beckon"}}}
	for k, v := range headers {
		e.header.Set(k, v)
	}
	return e, nil
}

// hop returns the endpoint with the header of a question that is passed on.
func (e endpoint) hop(c wire.Call) endpoint {
	e.header = e.header.Clone()
	e.header.Set(wire.HopsHeader, strconv.Itoa(c.Hops+1))
	e.header.Set(wire.AcceptHeader, wire.AcceptAsk)
	return e
}

func (e endpoint) String() string { return e.shown }

// newClient returns the client of one Run. It keeps no connection: the process ends soon, and
// an idle one would outlive the answer. It follows no redirect: a policy is asked where the
// user said, or not at all.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DisableKeepAlives:      true,
		DisableCompression:     true, // a small body must not become a large one
		MaxResponseHeaderBytes: 64 << 10,
	}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// replied is a whole response.
type replied struct {
	status int
	body   []byte
}

// post sends body and reads the answer, all under ctx.
func (e endpoint) post(ctx context.Context, client *http.Client, body []byte) (replied, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return replied{}, errors.New("the URL cannot be read")
	}
	req.Header = e.header.Clone()
	res, err := client.Do(req)
	if err != nil {
		return replied{}, e.failed("asking", err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err != nil {
		return replied{}, e.failed("reading the answer of", err)
	}
	if len(b) > maxResponse {
		return replied{}, fmt.Errorf("the answer of %s is larger than %d bytes", e, maxResponse)
	}
	return replied{res.StatusCode, b}, nil
}

// unreachable is the error if no complete answer arrived: a retry may get one.
type unreachable struct {
	what string
	err  error
}

func (u unreachable) Error() string { return u.what + ": " + u.err.Error() }
func (u unreachable) Unwrap() error { return u.err }

func (e endpoint) failed(step string, err error) error {
	var u *url.Error
	if errors.As(err, &u) { // it contains the URL with its query
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errTimeout
	}
	return unreachable{step + " " + e.String(), err}
}

// unexpected is a status that is not an answer.
func (e endpoint) unexpected(status int) error {
	if status >= 300 && status < 400 {
		return fmt.Errorf("%s answered %d: redirects are not followed", e, status)
	}
	text := http.StatusText(status)
	if text == "" {
		text = "an unknown status"
	}
	return fmt.Errorf("%s answered %d, %s", e, status, text)
}

// retries says how often and when a question is retried.
type retries struct {
	timeout time.Duration // of one try; 0 leaves it to the context
	count   int           // tries after the first
	delay   time.Duration // between two tries
}

// ask posts until it gets an answer that a retry would not change: transport errors, 429 and
// 500 upward are retried. If the context leaves no time for the delay it gives up at once. It
// returns the number of tries.
func (e endpoint) ask(ctx context.Context, body []byte, r retries) (replied, int, error) {
	client := newClient()
	defer client.CloseIdleConnections()
	for tries := 1; ; tries++ {
		once, cancel := limited(ctx, r.timeout)
		got, err := e.post(once, client, body)
		cancel()
		if !again(got, err) || tries > r.count || ctx.Err() != nil || !pause(ctx, r.delay) {
			return got, tries, err
		}
	}
}

// again reports whether a retry could get another answer.
func again(got replied, err error) bool {
	var u unreachable
	return errors.As(err, &u) || err == nil && (got.status >= 500 || got.status == http.StatusTooManyRequests)
}

// pause waits for d and reports whether there is time left after it.
func pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
