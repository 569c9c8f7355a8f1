//go:build unix

package suite

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/lab"
)

var others = flag.String("agents", "", "other agents of the matrix, separated by commas (all)")

// briefly is the scenario of every landing for the other agents: a wait, an
// answer, an end of a turn.
const briefly = "approve"

// unseenOf are the scenarios of which something cannot be seen, by agent and
// scenario.
var unseenOf = map[string]string{}

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
		for _, a := range lab.Agents {
			if *others != "" && !slices.Contains(strings.Split(*others, ","), a.Name) {
				continue
			}
			client := a.Need(t)
			for _, sc := range chosenShared(t) {
				t.Run(a.Label()+"/"+sc.Name, func(t *testing.T) {
					t.Parallel()
					r := row{Scenario: sc.Name, Version: a.Label()}
					if why := unseenOf[a.Label()+" "+sc.Name]; why != "" {
						r.Verdict = why
						table.add(r)
						t.Skip(why)
					}
					playShared(t, sc, client, r, table)
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

func chosenShared(t *testing.T) []lab.Scenario {
	t.Helper()
	all, err := lab.AgentScenarios()
	must(t, err)
	names := []string{briefly}
	switch {
	case *only != "":
		names = strings.Split(*only, ",")
	case *matrix:
		return all
	}
	return slices.DeleteFunc(all, func(s lab.Scenario) bool { return !slices.Contains(names, s.Name) })
}

func playShared(t *testing.T, sc lab.Scenario, client lab.Client, r row, table *table) {
	dir, err := programs()
	must(t, err)
	l := lab.StartWith(t, client)
	must(t, put(l, dir))
	_, err = beckon(l, nil, "install", "--agent", client.Agent.Name)
	must(t, err)
	res := l.Play(sc, nil, observe(l, columns[0]))
	var wrong string
	r.Right, r.All, wrong = screens(res)
	r.Verdict = verdict(res)
	if strings.HasPrefix(r.Verdict, "right") && wrong != "" {
		r.Verdict = "WRONG: " + wrong
	}
	table.add(r)
	for _, c := range res.Checks {
		if !c.OK {
			t.Errorf("%s: got %q after %s", c.Step, c.Got, c.Took.Round(time.Millisecond))
		}
	}
	if wrong != "" {
		t.Error(wrong)
	}
	if res.Err != nil {
		t.Error(res.Err)
	}
	if t.Failed() && testing.Verbose() {
		t.Log(timeline(res))
	}
}

// onScreen says which states each state of a screen allows.
var onScreen = map[string][]string{
	"idle":       {"idle", "failed", "question"},
	"working":    {"working", "compacting"},
	"permission": {"permission"},
	"question":   {"question"},
}

// screens counts the samples in which a screen had stood for settled, and those
// in which beckon's state fits it; wrong is the first that did not fit for
// longer than lag on end.
func screens(res lab.Result) (right, all int, wrong string) {
	type standing struct {
		screen string
		since  time.Time // the screen shows that
		off    time.Time // beckon does not, since then
	}
	panes := map[int]*standing{}
	for _, sm := range res.Samples {
		for i, p := range sm.Panes {
			s := panes[i]
			if s == nil || s.screen != p.Screen || p.Dead {
				s = &standing{screen: p.Screen, since: sm.At}
				panes[i] = s
			}
			st, ok := sm.Observed[p.Session]
			if !ok || p.Dead || p.Screen == "" || p.Screen == "idle" && over(st) { // a new one, before its first prompt
				continue
			}
			fits := slices.Contains(onScreen[p.Screen], st.State)
			if sm.At.Sub(s.since) >= settled {
				all++
				right += number(fits)
			}
			switch {
			case fits:
				s.off = time.Time{}
			case s.off.IsZero():
				s.off = sm.At
			case sm.At.Sub(s.off) > lag && wrong == "":
				wrong = fmt.Sprintf("%s after the first input the screen says %s for %s, beckon %s",
					sm.At.Sub(res.Start).Round(time.Millisecond), p.Screen, sm.At.Sub(s.since).Round(time.Millisecond), strings.TrimSpace(st.State+" "+st.Reason))
			}
		}
	}
	return right, all, wrong
}

func over(st lab.State) bool { return st.State == "ended" || st.State == "lost" }

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// timeline is what screens and beckon said, whenever either changed.
func timeline(res lab.Result) string {
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
