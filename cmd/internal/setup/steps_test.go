package setup

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// fake returns a plan whose steps record what is done.
func fake(did *[]string, steps ...Step) plan {
	for i := range steps {
		s := steps[i]
		steps[i].Also = func(on bool) error {
			if s.Then == "fail" {
				return errors.New("no space left")
			}
			*did = append(*did, fmt.Sprint(s.Name, " ", on))
			return nil
		}
	}
	return plan(steps).propose()
}

func usual(did *[]string) plan {
	return fake(did,
		Step{Name: "path", On: true, Fixed: true}, Step{Name: "hooks", Want: true}, Step{Name: "line", Needs: "hooks"},
		Step{Name: "tmux", Want: true, Absent: "tmux is not installed"}, Step{Name: "old", On: true})
}

// A wanted step that cannot be done is reported.
func TestMissing(t *testing.T) {
	var said strings.Builder
	usual(new([]string)).Missing(&said)
	if got, want := said.String(), "tmux           not set up: tmux is not installed\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		choose func(plan) error
		want   string
	}{
		{"proposed", func(plan) error { return nil }, "hooks true"},
		{"one with what it needs", func(p plan) error { return p.Only([]string{"line"}, nil) }, "hooks true, line true"},
		{"a name that is none", func(p plan) error { return p.Only([]string{"lines"}, nil) }, "error"},
		{"one that cannot be", func(p plan) error { return p.Only([]string{"tmux"}, nil) }, "error"},
		{"what is old is done again", func(p plan) error { p[4].Old = true; return nil }, "hooks true, old true"},
		{"but not when others are named", func(p plan) error { p[4].Old = true; return p.Only([]string{"hooks"}, nil) }, "hooks true"},
		{"undo", func(p plan) error { return p.Only(nil, p.names()) }, "old false"},
		{"undo one", func(p plan) error { return p.Only(nil, []string{"old"}) }, "old false"},
		{"undo one that is not there", func(p plan) error { return p.Only(nil, []string{"hooks"}) }, ""},
		{"without what others need", func(p plan) error { p.Choose(2, true); p.Choose(1, false); return nil }, ""},
	} {
		var did []string
		p := usual(&did)
		err := c.choose(p)
		if err == nil {
			err = p.Do(&strings.Builder{}, false)
		} else {
			did = []string{"error"}
		}
		if got := strings.Join(did, ", "); got != c.want {
			t.Errorf("%s: did %q, want %q (%v)", c.name, got, c.want, err)
		}
	}
}

// What depends on a step is undone before it.
func TestUndoOrder(t *testing.T) {
	var did []string
	p := fake(&did, Step{Name: "hooks", On: true}, Step{Name: "line", On: true, Needs: "hooks"})
	if err := p.Only(nil, []string{"hooks"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Do(&strings.Builder{}, false); err != nil || strings.Join(did, ", ") != "line false, hooks false" {
		t.Errorf("did %q, %v", did, err)
	}
}

// A failed step is named, and the others are done.
func TestDoFails(t *testing.T) {
	var did []string
	p := fake(&did, Step{Name: "a", Want: true, Then: "fail"}, Step{Name: "b", Want: true})
	var out strings.Builder
	if err := p.Do(&out, false); err == nil || err.Error() != "a: no space left" || strings.Join(did, "") != "b true" || strings.Contains(out.String(), "a ") {
		t.Errorf("did %q, %v, %q", did, err, out.String())
	}
}

// The screen fits the terminal, shows what a step changes, and changes only the plan.
func TestScreen(t *testing.T) {
	var did []string
	m := &screen{plan: usual(&did), width: 60, height: 14}
	m.plan[1].Text = strings.Repeat("+a line\n", 40) + "+the last\n"
	press := func(keys ...rune) string {
		for _, k := range keys {
			m.Update(tea.KeyPressMsg{Code: k, Text: string(k)})
		}
		text := m.View().Content
		if n := strings.Count(text, "\n") + 1; n > m.height {
			t.Errorf("%d lines on a screen of %d:\n%s", n, m.height, text)
		}
		return text
	}
	if text := press(); !strings.Contains(text, "not by beckon setup") || !strings.Contains(text, "[-] tmux") {
		t.Errorf("first:\n%s", text)
	}
	if text := press('j'); !strings.Contains(text, "[x] hooks") || strings.Contains(text, "+a line") || !strings.Contains(text, "d shows what changes") {
		t.Errorf("a step:\n%s", text)
	}
	if text := press('d'); !strings.Contains(text, "+a line") || !strings.Contains(text, "more lines") {
		t.Errorf("a long diff:\n%s", text)
	}
	for range 40 {
		m.Update(tea.KeyPressMsg{Code: tea.KeyPgDown})
	}
	if text := press(); !strings.Contains(text, "+the last") {
		t.Errorf("its end:\n%s", text)
	}
	if text := press(' '); !strings.Contains(text, "not chosen") {
		t.Errorf("taken back:\n%s", text)
	}
	if text := press('j', ' ', 'j', ' '); m.plan[2].Chosen != true || m.plan[1].Chosen != true || m.plan[3].Chosen || !strings.Contains(text, "tmux is not installed") {
		t.Errorf("chosen %v:\n%s", m.plan, text)
	}
	if len(did) > 0 || m.do {
		t.Errorf("did %v before enter", did)
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if !m.do || m.View().Content != "" {
		t.Error("enter did not end it")
	}
}

// On a terminal of 80 x 24 the screen has at most 20 lines, whatever there is to set up, and shows the
// selected step.
func TestScreenIsSmall(t *testing.T) {
	var did []string
	var list []Step
	for i := range 25 {
		list = append(list, Step{Name: fmt.Sprint("step", i), Want: true, Then: strings.Repeat("a long sentence ", 20)})
	}
	m := &screen{plan: fake(&did, list...), width: 80, height: 24}
	for i := range list {
		text := m.View().Content
		if n := strings.Count(text, "\n") + 1; n > 20 {
			t.Errorf("%d lines", n)
		}
		if !strings.Contains(text, fmt.Sprint(">[x] step", i, " ")) {
			t.Errorf("step %d is off the screen:\n%s", i, text)
		}
		m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	}
}
