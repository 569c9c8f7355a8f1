package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// series is a group of subjects that are launched in turn. The first counts as 1.00 in each
// figure.
type series struct {
	title    string
	note     string
	slow     int // how many times fewer launches they get; 0 for all
	subjects []subject
}

// figures are one subject's medians in one run, as ratios to the first of its series in the
// same run; p99 is a ratio to the first's p99.
type figures struct{ time, cpu, p99, faults float64 }

// line is a row of the table.
type line struct {
	name string
	runs [2]figures
}

// spread returns how far the two runs are apart.
func (l line) spread(of func(figures) float64) float64 {
	a, b := of(l.runs[0]), of(l.runs[1])
	return math.Abs(a-b) / min(a, b)
}

func byTime(f figures) float64 { return f.time }
func byCPU(f figures) float64  { return f.cpu }

// table is the result of one series.
type table struct {
	title, note string
	lines       []line
}

// parts is the number of parts of a run. The parts of the two runs alternate, so that the
// machine's other work affects both.
const parts = 10

// prove measures everything that the manual claims about a hook, twice, and writes the table
// and the chart.
func prove(dir string, n int, page string, w io.Writer) error {
	p, err := programs(dir)
	if err != nil {
		return err
	}
	all, err := allSeries(p)
	if err != nil {
		return err
	}
	tables, err := twice(max(n/parts, 1), all)
	if err != nil {
		return err
	}
	var crowds [2][]crowd
	for run := range crowds {
		if crowds[run], err = crowding(p, max(n/10, 5)); err != nil {
			return err
		}
	}
	large, err := sizes(dir)
	if err != nil {
		return err
	}
	text := resultsHead + markdown(tables) + atOnce(crowds) + closing(tables, n) + large
	fmt.Fprint(w, text)
	bench := filepath.Join("testdata", "bench")
	return errors.Join(
		os.WriteFile(filepath.Join(bench, "chart.svg"), []byte(chart(tables)), 0o644),
		os.WriteFile(filepath.Join(bench, "RESULTS.md"), []byte(text), 0o644),
		replaceBetween(page, "<!-- measured -->\n", "<!-- end -->", markdown(tables[:1])+closing(tables, n)))
}

const resultsHead = "# What a hook and the views cost\n\nWritten by `go run ./cmd/internal/bench -manual cmd/internal/manual/measurements.md`, as the table there and the chart.\n"

// twice measures every series in two runs, with n launches of each subject per part.
func twice(n int, all []series) ([]table, error) {
	runs := [2][]series{all, slices.Clone(all)}
	for i := range all {
		runs[1][i].subjects = slices.Clone(all[i].subjects)
	}
	for part := range 2*parts + 2 {
		for _, s := range runs[part%2] {
			do := func() error { return measure(max(n/max(s.slow, 1), 1), s.subjects) }
			if part < 2 {
				do = func() error { return warm(s.subjects) }
			}
			if err := do(); err != nil {
				return nil, err
			}
		}
	}
	tables := make([]table, len(all))
	for i := range tables {
		for run := range runs {
			tables[i].add(run, &runs[run][i])
		}
	}
	return tables, nil
}

func allSeries(p tools) (all []series, err error) {
	for _, prepare := range []func(tools) (series, error){peers, payloads, histories, directories, viewsOf(100, 10_000), viewsOf(1000, 0)} {
		s, err := prepare(p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// add adds the results of a run.
func (t *table) add(run int, s *series) {
	t.title, t.note = s.title, s.note
	if t.lines == nil {
		t.lines = make([]line, len(s.subjects))
	}
	base := s.subjects[0].medians()
	for i := range s.subjects {
		m := s.subjects[i].medians()
		t.lines[i].name = s.subjects[i].name
		t.lines[i].runs[run] = figures{m.time / base.time, m.cpu / base.cpu, m.p99 / base.p99, m.faults / max(base.faults, 1)}
	}
}

// medians returns a subject's own medians, in milliseconds and page faults.
func (s *subject) medians() figures {
	slices.Sort(s.faults)
	return figures{ms(percentile(s.took, 50)), ms(percentile(s.cpu, 50)), ms(percentile(s.took, 99)), float64(s.faults[len(s.faults)/2])}
}

// markdown writes tables.
func markdown(tables []table) string {
	var b strings.Builder
	for i := range tables {
		t := &tables[i]
		fmt.Fprintf(&b, "\n| %s | time | again | CPU time | again | p99 | page faults |\n|---|---|---|---|---|---|---|\n", t.title)
		for _, l := range t.lines {
			x, y := l.runs[0], l.runs[1]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", l.name, ratio(x.time), ratio(y.time), ratio(x.cpu), ratio(y.cpu), ratio((x.p99+y.p99)/2), ratio((x.faults+y.faults)/2))
		}
		if t.note != "" {
			fmt.Fprintf(&b, "\n%s\n", t.note)
		}
	}
	return b.String()
}

// atOnce writes how long crowds of hooks took.
func atOnce(crowds [2][]crowd) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| hooks at once | 1 session against as many, time | again | events lost |\n|---|---|---|---|\n")
	for i, c := range crowds[0] {
		fmt.Fprintf(&b, "| %d | %.2f | %.2f | %d |\n", c.hooks, c.ratio, crowds[1][i].ratio, c.lost+crowds[1][i].lost)
	}
	return b.String()
}

// closing explains the figures, and how far the two runs are apart.
func closing(tables []table, n int) string {
	apart := func(of func(figures) float64) (middle, most string) {
		var all []float64
		for _, t := range tables {
			for _, l := range t.lines {
				all = append(all, l.spread(of))
			}
		}
		slices.Sort(all)
		return percent(all[len(all)/2]), percent(all[len(all)-1])
	}
	cpu, cpuMost := apart(byCPU)
	time, timeMost := apart(byTime)
	return fmt.Sprintf("\nEach figure is the median of %d launches, in turn with the others of its table, as a ratio to the first of them; p99 is one to its\n"+
		"p99. \"Again\" is a second run of everything, taken in turn with the first: CPU time differs by %s at the median and %s at\n"+
		"most, time by %s and %s. Where the machine does other things as well, CPU time is the steadier of the two.\n", n, cpu, cpuMost, time, timeMost)
}

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

func ratio(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// replaceBetween puts text between two marks of a file.
func replaceBetween(path, from, to, text string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(b), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		return fmt.Errorf("%s: no place between %q and %q", path, strings.TrimSpace(from), to)
	}
	return os.WriteFile(path, []byte(head+from+text+"\n"+to+tail), 0o644)
}

// crowd is the time that many simultaneous hooks took: all on one session, as a ratio to one
// session each.
type crowd struct {
	hooks int
	ratio float64
	lost  int
}

func crowding(p tools, rounds int) (out []crowd, err error) {
	for _, k := range []int{1, 4, 16, 64} {
		c, err := p.crowd(k, rounds)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// percentile sorts some times and returns one that so many percent of them do not exceed.
func percentile(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[(len(all)-1)*percent/100]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
