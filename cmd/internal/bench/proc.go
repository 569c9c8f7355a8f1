package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// status returns a number of /proc/PID/status, sizes in KB; 0 where there is none.
func status(pid int, name string) (n int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

func mb(kb int64) string { return fmt.Sprintf("%.0f MB", float64(kb)/1024) }

// cpuTime returns how long all threads of a process have run so far. A thread that has ended
// meanwhile is left out.
func cpuTime(pid int) (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("process %d has ended, or this is not Linux: %v", pid, err)
	}
	for _, f := range files {
		b, _ := os.ReadFile(f)
		var ran int64
		_, _ = fmt.Sscan(string(b), &ran)
		sum += time.Duration(ran)
	}
	return sum, nil
}

// idleShare returns the share of a processor that a process uses during d, after a while.
func idleShare(pid int, d time.Duration) (float64, error) {
	time.Sleep(5 * time.Second)
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	time.Sleep(d)
	after, err := cpuTime(pid)
	return float64(after-before) / float64(time.Since(began)), err
}
