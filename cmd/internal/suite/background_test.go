//go:build unix

package suite

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
)

var newest = flag.String("newest", Latest, "the client of the tests that are about the newest one")

// TestWhileAgentsRun ends turns of the newest client while an agent of it runs in the
// background, as every agent does since 2.1.329: what the end wants from the user shows at
// once, and stays until the user acts.
func TestWhileAgentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	for _, c := range []struct {
		word, shows  string
		then, finish string // what it is while the agent runs, and in the end
	}{
		{"subask", "the first or the second", "question text", "question text"},
		{"subwait", "completion notification", "working", "idle done"},
		{"subfail", "scripted invalid_request_error", "failed", "idle done"},
	} {
		t.Run(c.word, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				l := withAgents(t)
				p, err := l.Tmux.StartClient("main")
				must(t, err)
				must(t, p.Ready())
				must(t, p.Say("lab:"+c.word))
				if c.then == "working" { // so it was before the turn's end
					must(t, p.WaitFor(c.shows, patience))
				}
				row := during(t, l, c.then)
				if late := time.Since(row.Since); c.then != "working" && late > soon {
					t.Errorf("%s was not shown for %s", c.then, late)
				}
				if len(row.Subagents) != 1 {
					t.Errorf("%s while these agents run: %v", c.then, row.Subagents)
				}
				for p.WaitFor("Noted", 100*time.Millisecond) != nil {
					now := during(t, l, "")
					if now.State != row.State && (row.State == state.Question || len(now.Subagents) > 0) {
						t.Errorf("%s, then %s", said(row), said(now))
					}
				}
				during(t, l, c.finish)
			})
		})
	}
}

// TestEscWhileAgentsRun breaks off the turn with which the client takes up the end of one
// agent, after an API error and while another agent runs: the user has acted.
func TestEscWhileAgentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := withAgents(t)
		l.Server.scripts = maps.Clone(scripts)
		l.Server.scripts["notified"] = []Reply{{Text: strings.Repeat("Word after word about that agent. ", 60), Pace: 200 * time.Millisecond}}
		p, err := l.Tmux.StartClient("main")
		must(t, err)
		must(t, p.Ready())
		must(t, p.Say("lab:subfailtwo"))
		during(t, l, "failed")
		must(t, p.WaitFor("Word after word", patience))
		during(t, l, "failed")
		must(t, p.Key("Escape"))
		during(t, l, "working")
	})
}

// TestNotAside has the shell of a client without a policy set its own session aside: it may not.
func TestNotAside(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := withAgents(t)
		p, err := l.Tmux.StartClient("main")
		must(t, err)
		must(t, p.Ready())
		must(t, p.Say("lab:hi"))
		row := during(t, l, "idle done")
		must(t, p.Say("lab:bash "+filepath.Join(bin(l), "beckon")+" mark --aside "+row.SessionID))
		must(t, p.WaitFor("Do you want to", patience))
		ran := errors.New("no key was pressed")
		for end := time.Now().Add(patience); ran != nil && time.Now().Before(end); {
			must(t, p.Key("Enter")) // the client ignores one that comes with the dialog
			ran = p.WaitFor("It ran", soon)
		}
		must(t, ran)
		during(t, l, "idle done")
	})
}

func withAgents(t testing.TB) *Lab {
	l := equipped(t, *newest)
	_, err := beckon(l, nil, "setup", "hooks")
	must(t, err)
	return l
}

// soon is how long the list may take to show the end of a turn. The suite's own load on a
// machine is not the subject.
const soon = 5 * time.Second

// during waits until the only session's state and reason begin with want, and returns its row.
func during(t testing.TB, l *Lab, want string) (row render.Row) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, err := beckon(l, nil, "list", "--json", "--all")
		must(t, err)
		var list render.List
		must(t, json.Unmarshal(out, &list))
		if len(list.Sessions) == 0 {
			continue
		}
		row = list.Sessions[0]
		if strings.HasPrefix(said(row), want) {
			if want != "" {
				t.Logf("%s since %s", said(row), time.Since(row.Since).Round(time.Millisecond))
			}
			return row
		}
	}
	t.Fatalf("it is %s, want %s", said(row), want)
	return row
}

// said returns a row's state and reason.
func said(row render.Row) string { return strings.TrimSpace(fmt.Sprint(row.State, " ", row.Reason)) }
