package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/store"
)

// plot is a session whose hooks have their own clock.
type plot struct {
	t     *testing.T
	st    *store.Store
	home  string
	clock time.Time
	s     state.Session
	calls []string // of the slow program
}

func newPlot(t *testing.T, config string) *plot {
	t.Helper()
	p := &plot{t: t, st: store.Open(t.TempDir()), home: t.TempDir(), clock: time.Now()}
	if err := os.MkdirAll(filepath.Join(p.home, ".config", "beckon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".config", "beckon", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// after folds e once d has passed and returns what its hook writes for the terminal.
func (p *plot) after(d time.Duration, e event.Event) string {
	p.clock = p.clock.Add(d)
	e.At, e.SessionID = event.MillisOf(p.clock), "s1"
	res := store.Result{Before: p.s}
	p.s = state.Apply(p.s, state.Change{At: e.At, Event: &e})
	res.After = p.s
	getenv := func(key string) string { return map[string]string{"HOME": p.home}[key] }
	t := notifier{st: p.st, getenv: getenv, now: p.clock, start: func(args []string) error {
		p.calls = append(p.calls, args[len(args)-1])
		return nil
	}}
	said := t.notify(res, &e)
	p.date()
	return said
}

// date sets the time of new claims, which is this machine's, to the plot's.
func (p *plot) date() {
	claims, err := filepath.Glob(filepath.Join(p.st.Dir, "told", "s1", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range claims {
		if info, err := os.Stat(c); err == nil && time.Since(info.ModTime()).Abs() < time.Minute {
			if err := os.Chtimes(c, p.clock, p.clock); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// An edge within the limit after another of its kind is notified of once, by the session's
// next hook after the limit, if it still applies.
func TestNotifyOverdue(t *testing.T) {
	call := func(id string) event.Tool {
		return event.Tool{Name: "Bash", UseID: id, Hash: "h", Summary: "Bash: make"}
	}
	prompt := event.Event{Kind: event.UserPromptSubmit, Prompt: "go"}
	beside := event.Event{Kind: event.SubagentStart, AgentID: "a1"}
	still := event.Event{Kind: event.Notification, Notification: "permission_prompt"}
	for name, comes := range map[string]func(p *plot, id string) string{
		"permission": func(p *plot, id string) string {
			return p.after(time.Second, event.Event{Kind: event.PermissionRequest, Tool: call(id)}) + p.after(6*time.Second, still)
		},
		"question": func(p *plot, _ string) string {
			return p.after(time.Second, event.Event{Kind: event.Stop, Message: "Which one do you want?", HasBackground: true})
		},
		"failed": func(p *plot, _ string) string {
			return p.after(time.Second, event.Event{Kind: event.StopFailure, Reason: "server_error"})
		},
		"done": func(p *plot, _ string) string {
			return p.after(40*time.Second, event.Event{Kind: event.Stop, Message: "Done.", HasBackground: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlot(t, `{"notify": ["terminal"], "notify_limit": "30m"}`)
			p.clock = p.clock.Add(time.Hour) // new claims differ from those that were dated
			p.after(0, prompt)
			p.after(20*time.Second, event.Event{Kind: event.PreToolUse, Tool: call("t1")})
			if comes(p, "t1") == "" {
				t.Error("the first was not notified")
			}
			p.after(time.Minute, prompt)
			p.after(20*time.Second, event.Event{Kind: event.PreToolUse, Tool: call("t2")})
			if said := comes(p, "t2"); said != "" {
				t.Errorf("the second was notified within the limit: %q", said)
			}
			beside := beside
			if name != "permission" { // the client itself reminds of a turn that is over
				beside = event.Event{Kind: event.Notification, Notification: "agent_completed"}
			}
			for _, step := range []struct {
				after    time.Duration
				notified bool
			}{{10 * time.Minute, false}, {20 * time.Minute, true}, {time.Hour, false}} {
				if said := p.after(step.after, beside); (said != "") != step.notified {
					t.Errorf("%s later: %q", step.after, said)
				}
			}
		})
	}
}

// The next hook that changes a state notifies of a usage limit, once, and not after its window
// is over.
func TestNotifyUsageWithAHook(t *testing.T) {
	prompt, stop := event.Event{Kind: event.UserPromptSubmit, Prompt: "go"}, event.Event{Kind: event.Stop, Message: "Done."}
	beside := event.Event{Kind: event.PreToolUse, Tool: event.Tool{Name: "Bash", UseID: "t1", Summary: "Bash: make"}}
	const title, body = "usage limit 5h: 80 % used", "resets 15:00"
	for channel, want := range map[string]int{"terminal": 1, "title": 1, "sound": 0} {
		t.Run(channel, func(t *testing.T) {
			p := newPlot(t, `{"notify": ["`+channel+`"], "notify_sound": "/none"}`)
			leave := func(d time.Duration) {
				if err := alert.Later(p.st.Dir, title, body, event.MillisOf(p.clock.Add(d))); err != nil {
					t.Fatal(err)
				}
			}
			told := func(said string) int { return strings.Count(said, title) }
			p.after(0, prompt)
			leave(time.Hour)
			if said := p.after(time.Second, beside); told(said) != 0 {
				t.Errorf("a hook that changes no state says %q", said)
			}
			if said := p.after(time.Second, stop); told(said) != want || channel == "terminal" && !strings.Contains(said, body) {
				t.Errorf("the next that does says %q", said)
			}
			if said := p.after(time.Second, prompt); told(said) != 0 {
				t.Errorf("it is told again: %q", said)
			}
			leave(time.Minute)
			if said := p.after(time.Hour, stop); told(said) != 0 {
				t.Errorf("of a window that is over: %q", said)
			}
		})
	}
}

// A limit that a hook cannot wait for is left to the slow program.
func TestNotifyLimitHandsOver(t *testing.T) {
	p := newPlot(t, `{"notify": ["terminal", "sound"], "notify_limit": "30m"}`)
	p.clock = p.clock.Add(time.Hour)
	for range 2 {
		p.after(time.Minute, event.Event{Kind: event.UserPromptSubmit, Prompt: "go"})
		p.after(time.Minute, event.Event{Kind: event.StopFailure, Reason: "server_error"})
	}
	if len(p.calls) != 2 || p.calls[0] != "--claimed" || p.calls[1] == "--claimed" {
		t.Errorf("the slow program was called with %q", p.calls)
	}
}
