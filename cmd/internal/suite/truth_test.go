//go:build unix

package suite

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var truth = flag.Bool("truth", false, "write the manual's table of how often, and how soon, beckon is right about who needs the user")

// TestTruth plays everything with -versions of the client and with the other agents, and writes
// the manual's table; -rows makes it in pieces, and -agents claude leaves the others out.
func TestTruth(t *testing.T) {
	if !*truth {
		t.Skip("it takes an hour: -truth")
	}
	table := &table{}
	t.Run("run", func(t *testing.T) {
		for _, version := range strings.Split(*versions, ",") {
			if version == "" {
				continue
			}
			client := Need(t, version)
			for _, sc := range chosen(t, version) {
				if absent[version+" "+sc.Name] == "" {
					t.Run(client.Version+"/"+sc.Name, func(t *testing.T) {
						t.Parallel()
						tried(t, func(t testing.TB) { play(t, sc, version, columns[0], table) })
					})
				}
			}
		}
		for _, a := range Agents {
			if *others != "" && !slices.Contains(strings.Split(*others, ","), a.Name) {
				continue
			}
			client := a.Need(t)
			for _, sc := range chosenShared(t) {
				if unseenOf[a.Label()+" "+sc.Name] == "" {
					t.Run(a.Label()+"/"+sc.Name, func(t *testing.T) {
						t.Parallel()
						tried(t, func(t testing.TB) { playShared(t, sc, client, row{Scenario: sc.Name, Version: a.Label()}, table) })
					})
				}
			}
		}
	})
	if *rows != "" {
		must(t, table.join(*rows))
	}
	writeTruth(t, table)
}

// needs is how right beckon was about who needs the user, in a scenario: the screens decide,
// and what a screen does not show, a question in plain text or a held call, the scenario.
type needs struct {
	Shown, Seen  map[string]int // requests by kind, and those of them that beckon showed
	Told, Right  int            // how often beckon said that a session needs the user, and rightly
	Delays       []time.Duration
	Missed, Over []string // requests that beckon did not show, and what it showed without one
}

// span is a time for which a pane or beckon shows that the user is needed.
type span struct {
	kind       string
	begin, end time.Time
	untimed    bool // when it began is not known
}

func (s span) meets(o span) bool { return !s.begin.After(o.end) && !o.begin.After(s.end) }

// measure compares beckon with the screens of a scenario. A request counts if its screen stood
// for settled. Its delay is from the first look that found it on the screen to the end of the
// first that found it in beckon's list, ten looks a second.
func measure(res Result) *needs {
	n := &needs{Shown: map[string]int{}, Seen: map[string]int{}}
	waits := func(state string) bool { return state == "permission" || state == "question" }
	panes := 0
	for _, sm := range res.Samples {
		panes = max(panes, len(sm.Panes))
	}
	for i := range panes {
		var shown, said []span
		var wasShown, wasSaid bool
		for _, sm := range res.Samples {
			if i >= len(sm.Panes) {
				continue
			}
			p := sm.Panes[i]
			state := sm.Observed[p.Session].State
			looked := sm.At.Add(sm.Took)
			on, told := waits(p.Screen) && !p.Dead, waits(state)
			shown = extend(shown, wasShown, on, span{kind: p.Screen, begin: looked, end: looked})
			said = extend(said, wasSaid, told, span{kind: state, begin: looked, end: looked})
			wasShown, wasSaid = on, told
		}
		for _, c := range res.Checks {
			state, _, _ := strings.Cut(c.Want, " ")
			s := span{kind: state, begin: c.Since, end: c.Since.Add(c.Took + settled), untimed: !onScreenOf.MatchString(c.After)}
			if waits(state) && c.Pane == i+1 && !slices.ContainsFunc(shown, s.meets) {
				shown = append(shown, s)
			}
		}
		for _, s := range shown {
			if s.end.Sub(s.begin) < settled {
				continue
			}
			n.Shown[s.kind]++
			j := slices.IndexFunc(said, s.meets)
			if j < 0 {
				n.Missed = append(n.Missed, res.Scenario+" ("+s.kind+")")
				continue
			}
			n.Seen[s.kind]++
			if !s.untimed {
				n.Delays = append(n.Delays, max(0, said[j].begin.Sub(s.begin)))
			}
		}
		for _, s := range said {
			n.Told++
			reach := span{begin: s.begin.Add(-sampleEvery), end: s.end.Add(settled)}
			if slices.ContainsFunc(shown, reach.meets) {
				n.Right++
			} else {
				n.Over = append(n.Over, res.Scenario+" ("+s.kind+")")
			}
		}
	}
	return n
}

// onScreenOf matches the steps at whose end a screen shows what is expected next.
var onScreenOf = regexp.MustCompile(`(^| )(screen|shows) `)

// extend begins a span, or makes the last one longer.
func extend(spans []span, was, is bool, s span) []span {
	switch {
	case is && was:
		spans[len(spans)-1].end = s.end
	case is:
		spans = append(spans, s)
	}
	return spans
}

// The manual's table is between these lines.
const (
	truthHead = "| agent | permissions, questions shown | recall | precision | delay p50, p99, max | wrong |\n|---|---|---|---|---|---|\n"
	truthDate = "Played on "
)

// truthTable returns the manual's table.
func (t *table) truthTable() string {
	var b strings.Builder
	b.WriteString(truthHead)
	for _, version := range distinct(t.rows, row.label) {
		var shown, seen, told, right int
		kinds := map[string][2]int{}
		var delays []time.Duration
		var wrong []string
		for _, r := range t.rows {
			if r.label() != version || r.Needs == nil {
				continue
			}
			n := r.Needs
			for k, v := range n.Shown {
				kinds[k] = [2]int{kinds[k][0] + n.Seen[k], kinds[k][1] + v}
				shown, seen = shown+v, seen+n.Seen[k]
			}
			told, right, delays = told+n.Told, right+n.Right, append(delays, n.Delays...)
			for _, m := range n.Missed {
				wrong = append(wrong, "missed: "+m)
			}
			for _, m := range n.Over {
				wrong = append(wrong, "none: "+m)
			}
		}
		if len(delays) == 0 {
			continue
		}
		slices.Sort(delays)
		at := func(share float64) int64 {
			return delays[min(len(delays)-1, int(share*float64(len(delays))))].Milliseconds()
		}
		fmt.Fprintf(&b, "| %s | %d of %d, %d of %d | %.3f | %.3f | %d, %d, %d ms | %s |\n", version,
			kinds["permission"][0], kinds["permission"][1], kinds["question"][0], kinds["question"][1],
			float64(seen)/float64(shown), float64(right)/float64(max(told, 1)), at(0.5), at(0.99), at(1), strings.Join(wrong, ", "))
	}
	return b.String()
}

// label returns the agent and version of a row.
func (r row) label() string {
	if r.Column == "" {
		return r.Version
	}
	return "claude " + r.Version
}

// writeTruth puts the table into the manual.
func writeTruth(tb testing.TB, t *table) {
	tb.Helper()
	report := t.truthTable()
	tb.Log("\n" + report)
	path := filepath.Join(root, "cmd", "internal", "manual", "measurements.md")
	b, err := os.ReadFile(path)
	must(tb, err)
	begin, end, ok := truthIn(string(b))
	if !ok {
		tb.Fatalf("no table in %s", path)
	}
	text := string(b[:begin]) + report + string(b[end:])
	text = regexp.MustCompile(truthDate+`\d{4}-\d\d-\d\d`).ReplaceAllString(text, truthDate+time.Now().UTC().Format(time.DateOnly))
	must(tb, os.WriteFile(path, []byte(text), 0o644))
}

// truthIn finds the table in a text.
func truthIn(text string) (begin, end int, ok bool) {
	begin = strings.Index(text, truthHead)
	if begin < 0 {
		return 0, 0, false
	}
	end = begin + len(truthHead)
	for strings.HasPrefix(text[end:], "| ") {
		end += strings.IndexByte(text[end:], '\n') + 1
	}
	return begin, end, true
}

var truthRow = regexp.MustCompile(`(?m)^\| (.+) \| \d+ of (\d+), \d+ of (\d+) \| ([\d.]+) \| ([\d.]+) \| \d+, (\d+), \d+ ms \| .*\|$`)

// TestTruthOfTheManual holds what the manual's table has to say.
func TestTruthOfTheManual(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "cmd", "internal", "manual", "measurements.md"))
	must(t, err)
	begin, end, ok := truthIn(string(b))
	if !ok {
		t.Fatal("measurements.md has no table")
	}
	table := string(b[begin+len(truthHead) : end])
	found := truthRow.FindAllStringSubmatch(table, -1)
	if len(found) != strings.Count(table, "\n") || len(found) < 2 {
		t.Fatalf("not every row can be read:\n%s", table)
	}
	for _, m := range found {
		number := func(i int) float64 {
			v, err := strconv.ParseFloat(m[i], 64)
			must(t, err)
			return v
		}
		least, requests := 0.97, 5.0
		if strings.HasPrefix(m[1], "claude ") {
			least, requests = 0.99, 15
		}
		if number(2)+number(3) < requests || number(4) < least || number(5) < least || number(6) >= 300 {
			t.Errorf("%s: of %s+%s requests recall %s, precision %s (at least %.2f), p99 %s ms (below 300)", m[1], m[2], m[3], m[4], m[5], least, m[6])
		}
	}
	if !regexp.MustCompile(truthDate + `\d{4}-\d\d-\d\d`).Match(b) {
		t.Error("no date")
	}
}

// A request that is missed, seen late, or not there is counted as such.
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name, spans              string // "screen beckon seconds", separated by commas
		want                     string // an expected state at the end, that no screen shows
		shown, seen, told, right int
		delay                    time.Duration
	}{
		{"right", "working working 2, permission permission 2, working working 1", "", 1, 1, 1, 1, 0},
		{"ahead", "working permission 1, permission permission 2, working working 1", "", 1, 1, 1, 1, 0},
		{"late", "working working 1, permission working 1, permission permission 2", "", 1, 1, 1, 1, time.Second},
		{"missed", "working working 1, question working 2, idle idle 2", "", 1, 0, 0, 0, -1},
		{"after it was over", "permission working 2, idle idle 2, idle permission 2", "", 1, 0, 1, 0, -1},
		{"without one", "working working 1, working question 2, idle idle 1", "", 0, 0, 1, 0, -1},
		{"in plain text", "working working 1, idle question 2", "question", 1, 1, 1, 1, 0},
		{"never in plain text", "working working 2, idle idle 4", "question", 1, 0, 0, 0, -1},
		{"two", "permission permission 2, working working 2, question question 2", "", 2, 2, 2, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := Result{Scenario: "s"}
			at := time.Now()
			for s := range strings.SplitSeq(c.spans, ", ") {
				var screen, state string
				var seconds int
				_, err := fmt.Sscan(s, &screen, &state, &seconds)
				must(t, err)
				for range seconds * 10 {
					at = at.Add(sampleEvery)
					res.Samples = append(res.Samples, Sample{At: at, Observed: map[SessionID]State{"s": {State: state}}, Panes: []PaneSample{{Session: "s", Screen: screen}}})
				}
			}
			if c.want != "" {
				res.Checks = []Check{{Want: c.want, Pane: 1, Since: at.Add(-1900 * time.Millisecond), After: "screen x", OK: true}}
			}
			n := measure(res)
			shown, seen := 0, 0
			for k, v := range n.Shown {
				shown, seen = shown+v, seen+n.Seen[k]
			}
			if shown != c.shown || seen != c.seen || n.Told != c.told || n.Right != c.right {
				t.Errorf("got %+v", n)
			}
			if c.delay >= 0 && (len(n.Delays) == 0 || n.Delays[len(n.Delays)-1].Round(sampleEvery) != c.delay) {
				t.Errorf("delays %v, want %s", n.Delays, c.delay)
			}
			if got := cmp.Or(len(n.Missed), len(n.Over)); got == 0 && (shown != seen || n.Told != n.Right) {
				t.Errorf("a miss without a name: %+v", n)
			}
		})
	}
}
