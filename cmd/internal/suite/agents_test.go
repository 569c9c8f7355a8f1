//go:build unix

package suite

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render"
)

var others = flag.String("agents", "", "other agents of the matrix, separated by commas (all); codex@0.171.0 is another version than the one measured")

// pickVersions gives the agents that the flag names with a version that version.
func pickVersions() {
	names := strings.Split(*others, ",")
	for i, n := range names {
		name, version, ok := strings.Cut(n, "@")
		names[i] = name
		for _, a := range Agents {
			if ok && a.Name == name {
				a.Version = version
			}
		}
	}
	*others = strings.Join(names, ",")
}

// briefly is the scenario of every landing for the other agents: a wait, an answer, the end of
// a turn.
const briefly = "approve"

// unseenOf are the scenarios in which something cannot be seen, by agent and scenario.
var unseenOf = map[string]string{
	"codex 0.169.0 exit":    "not to be seen: its background process tells of a quit a minute later, so the session is lost until then",
	"droid 0.215.0 clear":   "not to be seen: after the first prompt of a new session it says that that has ended",
	"droid 0.215.0 compact": "not to be seen: it starts a new session, and then says that that has ended",
}

// TestAgents plays the shared scenarios with the other agents, and compares
// what `beckon list` says with what the scenario expects and with the screen.
// With -matrix it plays all of them and writes testdata/lab/AGENTS.md:
//
//	go test ./cmd/internal/suite -run TestAgents -matrix -agents codex -rows agents.json -timeout 60m
func TestAgents(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("real agents take a minute")
	}
	t.Parallel()
	table := &table{}
	t.Run("run", func(t *testing.T) {
		for _, a := range Agents {
			if *others != "" && !slices.Contains(strings.Split(*others, ","), a.Name) {
				continue
			}
			if *others == "" && !*matrix && a.Name == "opencode" {
				continue // with a plugin it takes a minute to start, and longer during other tests
			}
			client := a.Need(t)
			for _, sc := range chosenShared(t) {
				if !a.can(sc) {
					continue
				}
				t.Run(a.Label()+"/"+sc.Name, func(t *testing.T) {
					t.Parallel()
					tried(t, func(t testing.TB) {
						r := row{Scenario: sc.Name, Version: a.Label()}
						if why := unseenOf[a.Label()+" "+sc.Name]; why != "" {
							r.Verdict = why
							table.add(r)
							t.Skip(why)
						}
						playShared(t, sc, client, r, table)
					})
				})
			}
		}
	})
	if *rows != "" {
		if err := table.join(*rows); err != nil {
			t.Fatal(err)
		}
	}
	report := table.shared()
	t.Log("\n" + report)
	if *matrix && (*only == "" || *rows != "") {
		if err := os.WriteFile(filepath.Join(root, "testdata", "lab", "AGENTS.md"), []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func chosenShared(t testing.TB) []Scenario {
	t.Helper()
	all, err := AgentScenarios()
	must(t, err)
	names := []string{briefly}
	switch {
	case *only != "":
		names = strings.Split(*only, ",")
	case *matrix:
		return all
	}
	return slices.DeleteFunc(all, func(s Scenario) bool { return !slices.Contains(names, s.Name) })
}

// patient multiplies every step's time by ten: a machine that also runs the rest of the suite
// starts an agent's hooks late. The matrix, which is played on a quiet machine, shows how fast
// beckon is.
func patient(sc Scenario) Scenario {
	sc.Steps = slices.Clone(sc.Steps)
	for i, s := range sc.Steps {
		if s.Within == 0 && (s.Verb == "expect" || s.Verb == "rows") {
			s.Within = Within
		}
		sc.Steps[i].Within = s.Within * 10
	}
	return sc
}

func playShared(t testing.TB, sc Scenario, client Client, r row, table *table) {
	dir, err := programs()
	must(t, err)
	l := StartWith(t, client)
	must(t, put(l, dir))
	_, err = beckon(l, nil, "setup", "--agent", client.Agent.Name)
	must(t, err)
	if !*matrix {
		sc = patient(sc)
	}
	res := l.Play(sc, nil, observe(l, columns[0]))
	var wrong string
	r.Right, r.All, wrong = screens(res)
	r.Verdict, r.Needs = verdict(res), measure(res)
	if strings.HasPrefix(r.Verdict, "right") && wrong != "" {
		r.Verdict = "WRONG: " + wrong
	}
	table.add(r)
	if *rows != "" { // as soon as it is known: a matrix may run out of time
		must(t, table.join(*rows))
	}
	for _, c := range res.Checks {
		if !c.OK {
			t.Errorf("%s: got %q after %s", c.Step, c.Got, c.Took.Round(time.Millisecond))
		}
	}
	// pi's process hides what it runs.
	if v := versionsOf(t, l); client.Agent.Name != "pi" && !strings.Contains(v, client.Version) {
		t.Errorf("beckon list says that its version is %q", v)
	}
	switch {
	case wrong != "" && *matrix:
		t.Error(wrong)
	case wrong != "":
		t.Log(wrong)
	}
	if res.Err != nil {
		t.Error(res.Err)
	}
	if t.Failed() && testing.Verbose() {
		t.Log(timeline(res))
	}
}

// versionsOf returns the versions that beckon lists.
func versionsOf(t testing.TB, l *Lab) string {
	out, err := beckon(l, nil, "list", "--json")
	must(t, err)
	var list render.List
	must(t, json.Unmarshal(out, &list))
	var all []string
	for _, r := range list.Sessions {
		if r.Agent == l.Client.Agent.Name {
			all = append(all, r.Version)
		}
	}
	if all == nil { // none lives any more
		return l.Client.Version
	}
	return strings.Join(all, " ")
}

// onScreen lists the states that each state of a screen allows.
var onScreen = map[string][]string{
	"idle":       {"idle", "failed", "question"},
	"working":    {"working", "compacting"},
	"permission": {"permission"},
	"question":   {"question"},
}

// screens compares beckon's states with the screens, over the samples in which a screen had
// not changed for settled. If beckon shows what the screen shows next, a hook reported that
// before the screen was drawn: those samples are left out. wrong is the first time that beckon
// was behind for longer than lag.
func screens(res Result) (right, all int, wrong string) {
	panes := map[int]*compared{}
	for _, sm := range res.Samples {
		for i, p := range sm.Panes {
			c := panes[i]
			if c == nil {
				c = &compared{}
				panes[i] = c
			}
			st, ok := sm.Observed[p.Session]
			if !ok || p.Dead || p.Screen == "" || p.Screen == "idle" && ended(st) { // a new one, before its first prompt
				continue
			}
			fits := slices.Contains(onScreen[p.Screen], st.State)
			if p.Screen != c.screen {
				c.screen, c.since = p.Screen, sm.At
				if fits { // beckon was ahead
					c.off, c.behind, c.late = time.Time{}, 0, ""
				}
			}
			settled := sm.At.Sub(c.since) >= settled
			switch {
			case fits:
				wrong = cmp.Or(wrong, c.late)
				all += c.behind + number(settled)
				right += number(settled)
				c.off, c.behind = time.Time{}, 0
			default:
				if c.off.IsZero() {
					c.off = sm.At
				}
				c.behind += number(settled)
			}
			c.late = ""
			if !c.off.IsZero() && sm.At.Sub(c.off) > lag {
				c.late = fmt.Sprintf("%s after the first input the screen says %s for %s, beckon %s",
					sm.At.Sub(res.Start).Round(time.Millisecond), p.Screen, sm.At.Sub(c.since).Round(time.Millisecond), strings.TrimSpace(st.State+" "+st.Reason))
			}
		}
	}
	for _, c := range panes {
		all += c.behind
		wrong = cmp.Or(wrong, c.late)
	}
	return right, all, wrong
}

// compared is the state of the comparison of one pane.
type compared struct {
	screen string
	since  time.Time // the screen shows that
	off    time.Time // since when beckon has shown something else
	behind int       // settled samples since then
	late   string    // off is longer ago than lag
}

func ended(st State) bool { return st.State == "ended" || st.State == "lost" }

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// timeline returns what the screens and beckon showed, at each change.
func timeline(res Result) string {
	var b strings.Builder
	last := ""
	for _, sm := range res.Samples {
		now := ""
		for i, p := range sm.Panes {
			st, ok := sm.Observed[p.Session]
			said := cmp.Or(strings.TrimSpace(st.State+" "+st.Reason), "nothing")
			if !ok {
				said = "no row"
			}
			now += fmt.Sprintf("  @%d screen=%s dead=%v beckon=%s", i+1, p.Screen, p.Dead, said)
		}
		if now != last {
			fmt.Fprintf(&b, "%7d%s rows=%d\n", sm.At.Sub(res.Start).Milliseconds(), now, len(sm.Observed))
		}
		last = now
	}
	return b.String()
}

// Beckon may be ahead of a screen for as long as the agent takes to draw it, and behind it for
// lag.
func TestScreens(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		spans  string // "screen beckon seconds", separated by commas
		right  bool
		counts bool // every settled sample agrees
	}{
		{"right", "working working 3, permission permission 4", true, true},
		{"ahead", "working working 3, working permission 4, permission permission 2", true, true},
		{"a little behind", "working working 3, permission working 1, permission permission 2", true, false},
		{"behind", "working working 3, permission working 4, permission permission 2", false, false},
		{"to the end", "permission permission 2, idle permission 4", false, false},
		{"of something else", "working idle 4, permission idle 4", false, false},
		{"ended before a new one began", "idle ended 5", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var res Result
			at := time.Now()
			for span := range strings.SplitSeq(c.spans, ", ") {
				var screen, state string
				var seconds int
				if _, err := fmt.Sscan(span, &screen, &state, &seconds); err != nil {
					t.Fatal(err)
				}
				for range seconds * 10 {
					at = at.Add(100 * ms)
					res.Samples = append(res.Samples, Sample{
						At: at, Observed: map[SessionID]State{"s": {State: state}}, Panes: []PaneSample{{Session: "s", Screen: screen}},
					})
				}
			}
			right, all, wrong := screens(res)
			if (wrong == "") != c.right || (right == all) != c.counts {
				t.Errorf("%d of %d, wrong %q", right, all, wrong)
			}
		})
	}
}
