package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Rank agrees with counting.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 300).Draw(t, "values")
		p := rapid.IntRange(1, 100).Draw(t, "p")
		slices.Sort(values)
		got := values[Rank(len(values), p)]
		atMost := func(v int) (n int) {
			for _, x := range values {
				if x <= v {
					n++
				}
			}
			return n
		}
		if atMost(got)*100 < p*len(values) {
			t.Errorf("%d of %d are at most %d: less than %d of 100", atMost(got), len(values), got, p)
		}
		for _, v := range values {
			if v < got && atMost(v)*100 >= p*len(values) {
				t.Errorf("%d would do, and is less than %d", v, got)
			}
		}
	})
}

func TestLatencyOf(t *testing.T) {
	var hooks []Hook
	for i := range 200 {
		hooks = append(hooks, Hook{At: 1000, Us: int64(1000 + i), Event: "PreToolUse", Session: "new"})
	}
	hooks = append(hooks, Hook{At: 1, Us: 9_000_000, Session: "old"}, Hook{At: 2000, Us: 0, Session: "spooled"})
	l := LatencyOf(hooks, 200)
	if l.Hooks != 200 || l.P50 != 1099 || l.P99 != 1197 || l.Slowest.Us != 1199 || l.Slowest.Session != "new" {
		t.Errorf("%+v", l)
	}
	if l := LatencyOf(nil, 5); l != (Latency{}) {
		t.Errorf("%+v", l)
	}
	if l := LatencyOf([]Hook{{At: 1, Us: 7}}, 5); l.P50 != 7 || l.P99 != 7 || l.Slowest.Us != 7 {
		t.Errorf("%+v", l)
	}
}
