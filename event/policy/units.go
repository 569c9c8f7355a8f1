package policy

import (
	"time"
)

// Limits on how long a handler may be given.
const (
	// suspiciousSeconds: so many seconds can only be milliseconds. The client's
	// own default is 600.
	suspiciousSeconds = 1000
	// suspiciousMillis: in so few milliseconds no process starts, so it can
	// only be seconds.
	suspiciousMillis = 20
)

// timeout reads "timeout": seconds, as the client has it; milliseconds in a
// file of the simple convention; or a text with its unit, "500ms".
func (r *reading) timeout(v node) {
	if _, both := r.set["timeout_ms"]; both {
		v.fail("", "timeout and timeout_ms are both set")
		return
	}
	if v.kind() == "a text" {
		s, _ := v.text()
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			v.fail(`like "5s" or "500ms"`, "no time: %q", s)
			return
		}
		r.h.Timeout = d
		return
	}
	f, ok := v.number()
	switch {
	case !ok:
	case f <= 0:
		v.fail("leave it out for the time that the event has", "is %v", f)
	case r.convention == Simple && f < suspiciousMillis:
		v.fail(`in a file of the simple convention timeout is in milliseconds; "timeout": "5s" has its unit`, "%v milliseconds are too few for any process", f)
	case r.convention != Simple && f >= suspiciousSeconds:
		v.fail(`timeout is in seconds; write "timeout_ms", or "convention": "simple" at the top of the file`, "%v seconds can only be meant as milliseconds", f)
	case r.convention == Simple:
		r.h.Timeout = time.Duration(f * float64(time.Millisecond))
	default:
		r.h.Timeout = time.Duration(f * float64(time.Second))
	}
}

func (r *reading) timeoutMS(v node) {
	f, ok := v.number()
	switch {
	case !ok:
	case f <= 0:
		v.fail("leave it out for the time that the event has", "is %v", f)
	case f < suspiciousMillis:
		v.fail("timeout_ms is in milliseconds", "%v milliseconds are too few for any handler", f)
	default:
		r.h.Timeout = time.Duration(f * float64(time.Millisecond))
	}
}
