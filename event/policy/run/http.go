package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// httpHook posts the client's payload as it is and takes the client's own JSON as
// the answer. It is asked once: what it does with an event may not bear repeating.
type httpHook struct {
	to      endpoint
	timeout time.Duration // of the whole question; 0 leaves it to the context
}

// newHTTP returns a native http hook. $NAME and ${NAME} in the value of a header
// stand for an environment variable if it is allowed, for nothing otherwise.
//
// Errors: a URL that is not an http or https URL.
func newHTTP(s config.Spec, timeout time.Duration) (wire.Handler, error) {
	headers := map[string]string{}
	for k, v := range s.Headers {
		headers[k] = interpolate(v, s.AllowedEnvVars)
	}
	to, err := newEndpoint(s.URL, headers)
	return httpHook{to, timeout}, err
}

// Run is a Handler.
func (h httpHook) Run(ctx context.Context, c wire.Call) wire.Outcome {
	start := time.Now()
	got, tries, err := h.to.hop(c).ask(ctx, c.Payload, retries{timeout: h.timeout})
	o := wire.Outcome{Err: err}
	if err == nil {
		o = h.read(c.Event, got)
	}
	return finished(o, got, tries, start)
}

// read is what the client makes of a response. No status can refuse.
func (h httpHook) read(event string, got replied) wire.Outcome {
	body := bytes.TrimSpace(got.body)
	switch {
	case got.status < 200 || got.status > 299:
		return wire.Outcome{Err: h.to.unexpected(got.status)}
	case len(body) == 0:
		return wire.Outcome{}
	}
	o, err := wire.ParseAnswer(event, body)
	if err != nil {
		return wire.Outcome{Err: fmt.Errorf("the answer of %s: %w", h.to, err)}
	}
	return o
}

// finished fills in how the answer was got.
func finished(o wire.Outcome, got replied, tries int, start time.Time) wire.Outcome {
	o.Output = wire.Cut(string(bytes.ToValidUTF8(bytes.TrimSpace(got.body), []byte("\uFFFD"))), maxOutput)
	o.TimedOut = errors.Is(o.Err, errTimeout)
	o.Attempts, o.Took = tries, time.Since(start)
	return o
}

// reference is compiled when it is used: most hooks that link this ask no server.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`) })

// interpolate puts environment variables into a header.
func interpolate(value string, allowed []string) string {
	return reference().ReplaceAllStringFunc(value, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		if name := m[1] + m[2]; slices.Contains(allowed, name) {
			return os.Getenv(name)
		}
		return ""
	})
}
