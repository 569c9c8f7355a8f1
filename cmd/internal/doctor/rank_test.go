package doctor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// rank agrees with counting.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 300).Draw(t, "values")
		p := rapid.IntRange(1, 100).Draw(t, "p")
		slices.Sort(values)
		got := values[rank(len(values), p)]
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
