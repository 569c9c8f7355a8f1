package stats

import (
	"cmp"
	"slices"

	"beckon/event"
)

// Hook is the time that one run of the hook took.
type Hook struct {
	At      event.Millis
	Us      int64 // microseconds from the hook's own start until its event was written
	Event   string
	Session string
}

// Latency summarizes how long hooks took.
type Latency struct {
	Hooks    int   // how many
	P50, P99 int64 // microseconds: half of them, and 99 of 100, took at most this
	Slowest  Hook
}

// LatencyOf summarizes the newest of the hooks, at most that many. Those that were not
// measured (an event that waited in the spool) do not count. It sorts hooks.
func LatencyOf(hooks []Hook, newest int) (l Latency) {
	hooks = slices.DeleteFunc(hooks, func(h Hook) bool { return h.Us <= 0 })
	slices.SortStableFunc(hooks, func(a, b Hook) int { return cmp.Compare(b.At, a.At) })
	hooks = hooks[:min(len(hooks), newest)]
	if len(hooks) == 0 {
		return Latency{}
	}
	slices.SortStableFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Us, b.Us) })
	l.Hooks, l.Slowest = len(hooks), hooks[len(hooks)-1]
	l.P50, l.P99 = hooks[Rank(len(hooks), 50)].Us, hooks[Rank(len(hooks), 99)].Us
	return l
}

// Rank returns the index, in n > 0 sorted values, of the smallest that p of 100 do not exceed.
func Rank(n, p int) int { return max(0, (n*p+99)/100-1) }
