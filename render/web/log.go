package web

import (
	"sync"
	"time"
)

const (
	sameAgain = time.Hour // an error of the same words is logged again after so long
	maxLogged = 256       // errors remembered
)

// logOnce returns log without repetitions: what is looked at every
// second fails every second, for as long as a server stays up.
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
