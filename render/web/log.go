package web

import (
	"sync"
	"time"
)

const (
	sameAgain = time.Hour // after this time an identical error is logged again
	maxLogged = 256       // errors remembered
)

// logOnce returns log without repetitions: a check that fails every second would otherwise log
// every second, for as long as a server runs.
func logOnce(log func(error)) func(error) {
	var mu sync.Mutex
	logged := map[string]time.Time{}
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if at, ok := logged[err.Error()]; ok && now.Sub(at) < sameAgain {
			return
		}
		if len(logged) >= maxLogged {
			clear(logged)
		}
		logged[err.Error()] = now
		log(err)
	}
}
