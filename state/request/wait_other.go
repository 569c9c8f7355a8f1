//go:build !linux

package request

import (
	"os"
	"runtime"
	"time"
)

// often is how often an answer is looked for where files cannot be watched.
const often = 100 * time.Millisecond

// wait looks for an answer ten times a second, and for all else when it is due.
func (w *waiter) wait() (answered bool, why string) {
	parent := os.Getppid()
	var due time.Time
	for {
		now := time.Now()
		if w.answered() || now.After(due) {
			answered, why, next := w.look(now)
			if answered || why != "" {
				return answered, why
			}
			if w.clientGone() { // the parent may be a shell of the client's
				return false, WhyClient
			}
			due = now.Add(min(next, time.Second))
		}
		if runtime.GOOS != "windows" && os.Getppid() != parent {
			return false, WhyClient
		}
		time.Sleep(often)
	}
}
