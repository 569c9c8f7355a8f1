package feed

import (
	"cmp"
	"time"
)

// Timing is how often the server checks what nothing reports. Zero values are the defaults.
type Timing struct {
	Recheck time.Duration // of processes, registry and the live directory: 1 s
	Poll    time.Duration // of session files when the system reports no changes and a stream is open: 30 ms
	Hooks   time.Duration // of transcripts, while hooks are active: 60 s
	Silent  time.Duration // of transcripts, when hooks are silent: 2 s
	Silence time.Duration // without an event for this long, hooks count as silent: 300 s
	Beat    time.Duration // a comment on an event stream without events: 15 s
}

// OrDefault returns t with the defaults for what is zero.
func (t Timing) OrDefault() Timing {
	return Timing{
		Recheck: cmp.Or(t.Recheck, time.Second),
		Poll:    cmp.Or(t.Poll, 30*time.Millisecond),
		Hooks:   cmp.Or(t.Hooks, 60*time.Second),
		Silent:  cmp.Or(t.Silent, 2*time.Second),
		Silence: cmp.Or(t.Silence, 300*time.Second),
		Beat:    cmp.Or(t.Beat, 15*time.Second),
	}
}
