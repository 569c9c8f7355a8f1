//go:build !linux

package request

import (
	"os"
	"time"
)

const (
	// often is how often an answer is looked for where files cannot be watched.
	often = 100 * time.Millisecond
	// unseen is how long a change may go unnoticed that no file next to the answer shows.
	unseen = 250 * time.Millisecond
)

// wait looks for an answer ten times a second, and for all else when it is due. It ends with the
// process that started this one, too: that may be a shell of the client's. On Windows its number
// stays.
func (w *waiter) wait() (answered bool, why string) {
	parent := os.Getppid()
	for due := time.Now(); os.Getppid() == parent; time.Sleep(often) {
		now := time.Now()
		if !w.has(answerFile) && now.Before(due) && w.st.Version(w.key()) == w.file {
			continue
		}
		answered, why, next := w.look(now)
		if answered || why != "" {
			return answered, why
		}
		if w.clientGone() {
			break
		}
		due = now.Add(min(next, unseen))
	}
	return false, WhyClient
}
