package live

import "time"

// pace spaces updates for a caller that draws them: by at least pause, and so that they take
// at most a share of the time, however fast things change.
type pace struct {
	pause, took time.Duration
	done        time.Time
}

const (
	settle    = 3 * time.Millisecond // one fold changes several files
	idleShare = 4
)

func (p *pace) wait(now time.Time) time.Duration {
	if p.pause == 0 {
		return 0
	}
	return max(settle, p.done.Add(max(p.pause, idleShare*p.took)).Sub(now))
}

func (p *pace) did(began time.Time) {
	p.done = time.Now()
	p.took += (p.done.Sub(began) - p.took) / 4 // one slow update must not delay the next
}
