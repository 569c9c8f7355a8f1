package web

import (
	"io"
	"log"
	"sync"
	"time"
)

const (
	sameAgain = time.Hour // an error of the same words is told again after so long
	maxTold   = 256       // errors remembered
)

// sparing is log without what it was told already: what is looked at every
// second fails every second, for as long as a server stays up.
func sparing(log func(error)) func(error) {
	var mu sync.Mutex
	told := map[string]time.Time{}
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if at, ok := told[err.Error()]; ok && now.Sub(at) < sameAgain {
			return
		}
		if len(told) >= maxTold {
			clear(told)
		}
		told[err.Error()] = now
		log(err)
	}
}

// quietLog drops what net/http says of broken connections: anybody can make it
// say that, and a panic is told by its answer.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }
