package web

import (
	"hash/maphash"
	"sync"
	"time"

	"beckon/event"
)

// A storm is a broken client that posts one prompt over and over: 395 in 97 s were seen.
// Nobody types the same prompt more than stormBurst times in stormSpan.
const (
	stormBurst = 5
	stormSpan  = 10 * time.Second
	stormMax   = 4096 // prompts remembered; more are let through
)

// storm stops prompts that are repeated in one session. It checks nothing else: tool calls may
// well be identical (CASE 24), and no event of one session can use up the room of another.
type storm struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64][]time.Time // when the prompt was let through
}

func newStorm() *storm { return &storm{seed: maphash.MakeSeed(), seen: map[uint64][]time.Time{}} }

// drops reports whether e is one too many.
func (s *storm) drops(e *event.Event, now time.Time) bool {
	if e.Kind != event.UserPromptSubmit {
		return false
	}
	k := maphash.Comparable(s.seed, [...]string{e.Agent, e.SessionID, e.PromptID, e.Prompt})
	s.mu.Lock()
	defer s.mu.Unlock()
	times := recent(s.seen[k], now)
	if len(times) >= stormBurst {
		return true
	}
	if len(s.seen) >= stormMax {
		s.forget(now)
	}
	if len(s.seen) < stormMax {
		s.seen[k] = append(times, now)
	}
	return false
}

func recent(times []time.Time, now time.Time) []time.Time {
	for len(times) > 0 && now.Sub(times[0]) > stormSpan {
		times = times[1:]
	}
	return times
}

func (s *storm) forget(now time.Time) {
	for k, times := range s.seen {
		if len(recent(times, now)) == 0 {
			delete(s.seen, k)
		}
	}
}
