//go:build !linux

package hook

import (
	"os"
	"time"
)

// watch ends the process with code 0 after d, unless stop is called. It calls late before.
func watch(d time.Duration, late func()) (stop func()) {
	t := time.AfterFunc(d, func() {
		time.AfterFunc(lateTime, func() { os.Exit(0) })
		late()
		os.Exit(0)
	})
	return func() { t.Stop() }
}
