package store

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// batch is how many files one worker takes at a time; for fewer than two
// batches the workers would cost more than they save.
const batch = 16

// Parallel calls do with every number below n, on as many processors as there
// are, and returns when all calls have. Reading many small files is system
// calls, most of all, and those run side by side.
func Parallel(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n/batch)
	if workers < 2 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				end := int(next.Add(batch))
				for i := end - batch; i < min(end, n); i++ {
					do(i)
				}
				if end >= n {
					return
				}
			}
		})
	}
	all.Wait()
}
