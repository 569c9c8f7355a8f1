//go:build unix

package suite

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestScenariosParse(t *testing.T) {
	for _, file := range []struct {
		read    func() ([]Scenario, error)
		scripts []map[string][]Reply
	}{
		{Scenarios, []map[string][]Reply{scripts}},
		{AgentScenarios, agentScripts()},
	} {
		all, err := file.read()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, sc := range all {
			if seen[sc.Name] || sc.About == "" || len(sc.Steps) < 2 {
				t.Errorf("scenario %q: double, without a word about it, or empty", sc.Name)
			}
			seen[sc.Name] = true
			for _, scripts := range file.scripts {
				checkScenario(t, sc, scripts)
			}
		}
	}
}

func agentScripts() (all []map[string][]Reply) {
	for _, a := range Agents {
		all = append(all, a.scripts())
	}
	return all
}

// checkScenario checks that steps name existing scripts and panes, and that something is
// expected.
func checkScenario(t *testing.T, sc Scenario, scripts map[string][]Reply) {
	t.Helper()
	started, expects := 0, false
	for _, s := range sc.Steps {
		if s.Verb == "start" {
			started = max(started, s.Pane)
		} else if s.Pane > started && s.Verb != "env" {
			t.Errorf("%s: %q: pane %d was not started", sc.Name, s.Line, s.Pane)
		}
		if m := labWord.FindStringSubmatch(s.Line); m != nil && scripts[m[1]] == nil {
			t.Errorf("%s: %q: no script %q", sc.Name, s.Line, m[1])
		}
		if s.Verb == "expect" {
			expects = true
			if !slices.Contains(states, s.Args[0]) {
				t.Errorf("%s: %q: no state %q", sc.Name, s.Line, s.Args[0])
			}
		}
	}
	if !expects {
		t.Errorf("%s expects nothing", sc.Name)
	}
}

var states = []string{"permission", "question", "failed", "idle", "working", "compacting", "ended", "lost"}

func TestParseScenario(t *testing.T) {
	sc, err := ParseScenario("x", `
		# about it
		env A=b c
		say lab:hi  there
		[<2.1.300] @2 expect idle reason done within 2s for 1m
		screen one within the text within 3s
		key Down Enter
	`)
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, s := range sc.Steps {
		verbs = append(verbs, s.Verb)
	}
	if got := strings.Join(verbs, " "); got != "env start say expect screen key" || sc.About != "about it" {
		t.Errorf("got %q about %q", got, sc.About)
	}
	e, screen := sc.Steps[3], sc.Steps[4]
	if e.Pane != 2 || e.Args[0] != "idle" || e.Reason != "done" || e.Within != 2*time.Second || e.For != time.Minute {
		t.Errorf("expect: %+v", e)
	}
	if !e.fits(Client{Version: V197}) || e.fits(Client{Version: V329}) {
		t.Errorf("%s fits %s but not %s", e.Versions, V329, V197)
	}
	if sc.Steps[2].Args[0] != "lab:hi  there" || screen.Args[0] != "one within the text" || screen.Within != 3*time.Second {
		t.Errorf("texts: %q, %q", sc.Steps[2].Args, screen.Args)
	}
	for _, bad := range []string{"fly", "expect", "@x say hi", "expect idle within soon", "[linux] say hi", "[codex,linux] say hi"} {
		if _, err := ParseScenario("x", bad); err == nil {
			t.Errorf("%q parsed", bad)
		}
	}
}

// played returns a player whose samples, 100 ms apart from the origin on, had these states for
// its one session.
func played(states ...string) *player {
	origin := time.Now().Add(-time.Duration(len(states)+1) * sampleEvery)
	p := &player{origin: origin, ids: []SessionID{"s"}}
	for i, st := range states {
		p.samples = append(p.samples, Sample{
			At:       origin.Add(time.Duration(i+1) * sampleEvery),
			Observed: map[SessionID]State{"s": {State: st, Reason: "r"}, "old": {State: "ended"}},
		})
	}
	return p
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		step   string
		states []string
		ok     bool
		got    string
	}{
		{"expect idle within 500ms", []string{"working", "working", "idle", "working"}, true, "idle r"},
		{"expect idle within 150ms", []string{"working", "idle"}, false, "working r"},
		{"expect idle reason done within 100ms", []string{"idle", "idle"}, false, "idle r"},
		{"expect idle reason r", []string{"idle"}, true, "idle r"},
		{"rows 1", []string{"idle"}, true, "1"},
		{"rows 2 within 100ms", []string{"idle", "idle"}, false, "1"},
	} {
		sc, err := ParseScenario("x", c.step)
		if err != nil {
			t.Fatal(err)
		}
		got := played(c.states...).check(sc.Steps[len(sc.Steps)-1])
		if got.OK != c.ok || got.Got != c.got {
			t.Errorf("%s over %v: %+v", c.step, c.states, got)
		}
	}
}
