package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// httpHook posts the client's payload unchanged and accepts the client's own JSON as the
// answer. It never retries, because its side effects may not be repeatable.
type httpHook struct {
	to      endpoint
	timeout time.Duration // of the whole request; 0 leaves it to the context
	closed  bool          // an empty answer is none
}

// dataAPI is where Open Policy Agent takes the payload as "input", and answers with "result".
const dataAPI = "/v1/data"

// newHTTP returns a native http hook. In the value of a header $NAME and ${NAME} are replaced
// by an environment variable if it is allowed, else by nothing.
//
// A URL that is not an http or https URL is an error.
func newHTTP(s config.Spec, timeout time.Duration, closed bool) (wire.Handler, error) {
	headers := map[string]string{}
	for k, v := range s.Headers {
		headers[k] = interpolate(v, s.AllowedEnvVars)
	}
	to, err := newEndpoint(s.URL, headers)
	return httpHook{to, timeout, closed}, err
}

// Run implements wire.Handler.
func (h httpHook) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	body := c.Payload
	if h.opa() {
		body = slices.Concat([]byte(`{"input":`), body, []byte("}"))
	}
	got, tries, err := h.to.hop(c).ask(ctx, body, retries{timeout: h.timeout})
	o := wire.Outcome{Err: err}
	if err == nil {
		o = h.read(c.Event, got)
	}
	return finished(o, got, tries, start)
}

// read interprets a response as the client does. No status can refuse.
func (h httpHook) read(event string, got replied) wire.Outcome {
	body := bytes.TrimSpace(got.body)
	switch {
	case got.status < 200 || got.status > 299:
		return wire.Outcome{Err: h.to.unexpected(got.status)}
	case len(body) == 0 && !h.closed:
		return wire.Outcome{}
	}
	o, err := wire.ParseResponse(event, body)
	if err == nil && h.opa() && !gjson.GetBytes(body, "result").Exists() {
		err = errors.New("the decision is undefined")
	}
	if err != nil {
		return wire.Outcome{Err: fmt.Errorf("the answer of %s: %w", h.to, err)}
	}
	return o
}

func (h httpHook) opa() bool {
	u, err := url.Parse(h.to.url)
	return err == nil && (u.Path == dataAPI || strings.HasPrefix(u.Path, dataAPI+"/"))
}

// finished adds how the answer was obtained.
func finished(o wire.Outcome, got replied, tries int, start time.Time) wire.Outcome {
	o.Output = event.Cut(string(bytes.ToValidUTF8(bytes.TrimSpace(got.body), []byte("\uFFFD"))), maxOutput)
	o.TimedOut = errors.Is(o.Err, errTimeout)
	o.Attempts, o.Took = tries, time.Since(start)
	return o
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
