//go:build unix

package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/cmd/internal/lab"
)

// row is one scenario played with one client.
type row struct {
	scenario, version, column string
	result                    lab.Result
	right, all                int
	skip                      string // why it was not played
}

// table gathers the rows of tests that run side by side.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

// String writes the table in Markdown: a line a scenario, a column a client
// and way of looking, then the agreement with the registry.
func (t *table) String() string {
	heads := distinct(t.rows, func(r row) string { return r.version + ", " + r.column })
	names := distinct(t.rows, func(r row) string { return r.scenario })
	var b strings.Builder
	fmt.Fprintf(&b, "# Scenarios on the real client\n\nEach cell: the verdict, and the longest time from a step to the expected state.\n\n| scenario | %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for _, n := range names {
		fmt.Fprintf(&b, "| %s |", n)
		for _, h := range heads {
			i := slices.IndexFunc(t.rows, func(r row) bool { return r.scenario == n && r.version+", "+r.column == h })
			if i < 0 {
				b.WriteString("  |")
				continue
			}
			fmt.Fprintf(&b, " %s |", t.rows[i].verdict())
		}
		b.WriteString("\n")
	}
	b.WriteString("\nAgreement with the client's registry, over the samples in which it had stood for 500 ms:\n\n")
	for _, h := range heads {
		right, all := 0, 0
		for _, r := range t.rows {
			if r.version+", "+r.column == h {
				right, all = right+r.right, all+r.all
			}
		}
		fmt.Fprintf(&b, "- %s: %.2f %% (%d of %d)\n", h, 100*float64(right)/float64(max(all, 1)), right, all)
	}
	return b.String()
}

func (r row) verdict() string {
	if r.skip != "" {
		return r.skip
	}
	var slowest time.Duration
	for _, c := range r.result.Checks {
		slowest = max(slowest, c.Took)
		if !c.OK {
			return "WRONG: " + c.Step + ", got " + c.Got
		}
	}
	if r.result.Err != nil {
		return "not played"
	}
	return fmt.Sprintf("right, %d ms", slowest.Milliseconds())
}

func distinct(rows []row, key func(row) string) []string {
	var out []string
	for _, r := range rows {
		if !slices.Contains(out, key(r)) {
			out = append(out, key(r))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(a, b) })
	return out
}
