package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"
)

// TestTimelines replays every recording and compares each row's states with the timeline
// written by hand (testdata/timelines/README.md).
func TestTimelines(t *testing.T) {
	for _, tr := range tracks(t) {
		want := readTimeline(t, tr)
		for _, mode := range []struct {
			name           string
			evidence, core bool
		}{
			{"registry", true, false}, {"hooks", false, false}, {"registry, core events", true, true}, {"hooks, core events", false, true},
		} {
			t.Run(tr.String()+" "+mode.name, func(t *testing.T) {
				section, _, _ := strings.Cut(mode.name, ",")
				p := &player{t: t, tr: tr, evidence: mode.evidence, core: mode.core}
				if got := changes(p, want[section]); !slices.EqualFunc(got, want[section], change.is) {
					t.Errorf("got\n%swant\n%s", show(got), show(want[section]))
				}
			})
		}
	}
}

// change is one line of a timeline.
type change struct {
	row    int
	anchor string
	state  State
	reason string
}

// is reports whether c matches the line want, whose anchor may list alternatives.
func (c change) is(want change) bool {
	return c.row == want.row && c.state == want.state && c.reason == want.reason &&
		slices.Contains(strings.Split(want.anchor, "|"), c.anchor)
}

func show(list []change) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "\t@%d %-24s %-12s %s\n", c.row, c.anchor, c.state, c.reason)
	}
	return b.String()
}

// changes plays p and returns what changed. If want has a delay, counted from the change
// before it, p also looks at that moment.
func changes(p *player, want []change) []change {
	var extra []moment
	for {
		got, at := p.changes(extra)
		i := indexDelay(want, len(extra))
		if i <= 0 || i > len(got) || !slices.EqualFunc(got[:i], want[:i], change.is) {
			return got
		}
		d, err := time.ParseDuration(want[i].anchor)
		if err != nil {
			p.t.Fatal(err)
		}
		extra = append(extra, moment{at: at[i-1] + event.Millis(d.Milliseconds()), anchor: want[i].anchor})
	}
}

// indexDelay returns the index of the nth delay in list, or -1.
func indexDelay(list []change, n int) int {
	for i, c := range list {
		if strings.HasPrefix(c.anchor, "+") {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// changes plays p from the start and returns what changed and when. The reason for Working is
// left out.
func (p *player) changes(extra []moment) (got []change, at []event.Millis) {
	last := map[int]change{}
	p.play(extra, func(s sight) {
		c := change{s.row, s.anchor, s.State, s.Reason}
		if c.state == Working {
			c.reason = ""
		}
		if old := last[s.row]; old.state != c.state || old.reason != c.reason {
			got, at = append(got, c), append(at, s.at)
			last[s.row] = c
		}
	})
	return got, at
}

// readTimeline reads the timeline of tr: that of its version if there is one, or the one that
// all versions share.
func readTimeline(t *testing.T, tr track) map[string][]change {
	t.Helper()
	dir := filepath.Join("..", "testdata", "timelines")
	data, err := os.ReadFile(filepath.Join(dir, tr.version, tr.name+".txt"))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(filepath.Join(dir, tr.name+".txt"))
	}
	if err != nil {
		t.Errorf("%s has no timeline: %v", tr, err)
		return nil
	}
	out := map[string][]change{}
	var sections []string
	for n, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "# ")
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case strings.HasPrefix(f[0], "["):
			sections = strings.Split(strings.Trim(strings.Join(f, ""), "[]"), ",")
		default:
			c, err := parseChange(f)
			if err != nil {
				t.Fatalf("timeline of %s, line %d: %v", tr, n+1, err)
			}
			for _, s := range sections {
				out[s] = append(out[s], c)
			}
		}
	}
	return out
}

func parseChange(f []string) (change, error) {
	c := change{row: 1}
	if n, ok := strings.CutPrefix(f[0], "@"); ok {
		row, err := strconv.Atoi(n)
		if err != nil {
			return c, err
		}
		c.row, f = row, f[1:]
	}
	if len(f) < 2 || len(f) > 3 {
		return c, fmt.Errorf("want ANCHOR STATE [REASON], have %q", f)
	}
	c.anchor, c.state = f[0], State(f[1])
	if len(f) == 3 {
		c.reason = f[2]
	}
	if !slices.Contains(States[:], c.state) {
		return c, fmt.Errorf("no state %q", c.state)
	}
	return c, nil
}
