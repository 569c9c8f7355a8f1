//go:build !linux

package request

import (
	"os"
	"time"
)

// often is how often an answer is looked for where files cannot be watched.
const often = 100 * time.Millisecond

// wait looks for an answer ten times a second. It ends with the process that started this one, too:
// that may be a shell of the client's. On Windows its number stays.
func (w *waiter) wait() (answered bool, why string) {
	orphaned, parent := make(chan struct{}), os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(often)
		}
		close(orphaned)
	}()
	if answered, why = w.poll(orphaned, often); why == WhyStopped {
		why = WhyClient
	}
	return answered, why
}
