//go:build unix

package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// row is a scenario played with a client.
type row struct {
	Scenario, Version, Column string
	Verdict                   string
	Right, All                int    // samples that agree with the client's registry, and of how many
	Needs                     *needs `json:",omitempty"`
}

// table collects the rows of tests that run concurrently.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(slices.DeleteFunc(t.rows, r.sameCell), r)
}

// join adds the rows of a file, if it exists, that were not played now, and writes all into
// it.
func (t *table) join(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var old []row
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &old)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, r := range old {
		if !slices.ContainsFunc(t.rows, r.sameCell) {
			t.rows = append(t.rows, r)
		}
	}
	if b, err = json.Marshal(t.rows); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// sameCell reports whether both belong to the same cell of the table.
func (r row) sameCell(o row) bool {
	return r.Scenario == o.Scenario && r.Version == o.Version && r.Column == o.Column
}

// String returns the table in Markdown: a line per scenario, a column per client and way of
// looking, then the agreement with the registry.
func (t *table) String() string {
	return t.markdown("# Scenarios on the real client", "Agreement with the client's registry, over the samples in which it had stood for 500 ms:")
}

// shared is String for the other agents.
func (t *table) shared() string {
	return t.markdown("# Scenarios on the other agents", "Agreement with the screen, over the samples in which it had stood for 500 ms; those are left out in which a hook had told what it showed next:")
}

func (t *table) markdown(title, agreement string) string {
	heads := distinct(t.rows, row.head)
	names := distinct(t.rows, func(r row) string { return r.Scenario })
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nEach cell: the verdict, and the longest time from a step to the expected state.\n\n| scenario | %s |\n|---|%s\n", title, strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for _, n := range names {
		fmt.Fprintf(&b, "| %s |", n)
		for _, h := range heads {
			i := slices.IndexFunc(t.rows, func(r row) bool { return r.Scenario == n && r.head() == h })
			if i < 0 {
				b.WriteString("  |")
				continue
			}
			fmt.Fprintf(&b, " %s |", t.rows[i].Verdict)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s\n\n", agreement)
	for _, h := range heads {
		right, all := 0, 0
		for _, r := range t.rows {
			if r.head() == h {
				right, all = right+r.Right, all+r.All
			}
		}
		fmt.Fprintf(&b, "- %s: %.2f %% (%d of %d)\n", h, 100*float64(right)/float64(max(all, 1)), right, all)
	}
	return b.String()
}

// head returns the name of a row's column.
func (r row) head() string {
	if r.Column == "" {
		return r.Version
	}
	return r.Version + ", " + r.Column
}

// verdict returns the text of the cell for a scenario that was played.
func verdict(res Result) string {
	var slowest time.Duration
	for _, c := range res.Checks {
		slowest = max(slowest, c.Took)
		if !c.OK {
			return "WRONG: " + c.Step + ", got " + c.Got
		}
	}
	if res.Err != nil {
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
