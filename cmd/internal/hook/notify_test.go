package hook

import (
	"os"
	"path/filepath"
	"slices"
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

// What a hook cannot decide now is left to the program that notifies, which is started once.
func TestNotifyHandsOver(t *testing.T) {
	call := event.Tool{Name: "Bash", UseID: "t1", Hash: "h", Summary: "Bash: make"}
	prompt := event.Event{Kind: event.UserPromptSubmit, Prompt: "go"}
	asks := event.Event{Kind: event.PermissionRequest, Tool: call}
	still := event.Event{Kind: event.Notification, Notification: "permission_prompt"}
	question := event.Event{Kind: event.Stop, Message: "Which one do you want?", HasBackground: true}
	failed := event.Event{Kind: event.StopFailure, Reason: "server_error"}
	for name, c := range map[string]struct {
		config string
		agent  string
		events []event.Event
		due    []alert.DueMode
		said   bool
	}{
		"a dialog":                           {`["desktop"]`, "", []event.Event{asks}, []alert.DueMode{alert.Undecided}, false},
		"a dialog, in the terminal":          {`["terminal"]`, "", []event.Event{asks}, []alert.DueMode{alert.Undecided}, false},
		"the client says nobody types":       {`["terminal", "desktop"]`, "", []event.Event{asks, still}, []alert.DueMode{alert.Undecided, alert.Claimed}, true},
		"the same, without a terminal":       {`["desktop"]`, "", []event.Event{asks, still}, []alert.DueMode{alert.Undecided, alert.Still}, false},
		"a question soon after the prompt":   {`["terminal"]`, "", []event.Event{question}, []alert.DueMode{alert.Undecided}, false},
		"a failure soon after the prompt":    {`["terminal"]`, "", []event.Event{failed}, []alert.DueMode{alert.Undecided}, false},
		"another agent's client says no OSC": {`["terminal", "title"]`, "codex", []event.Event{asks}, []alert.DueMode{alert.Undecided}, false},
		"no channel but the title":           {`["title"]`, "codex", []event.Event{asks}, nil, false},
		"nothing chosen":                     {`[]`, "", []event.Event{asks}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlot(t, `{"notify": `+c.config+`}`)
			said := ""
			for _, e := range append([]event.Event{prompt}, c.events...) {
				e.Agent = c.agent
				said = p.after(time.Second, e)
			}
			var due []alert.DueMode
			for _, d := range alert.Dues(p.st.Dir) {
				due = append(due, d.Mode)
			}
			if !slices.Equal(due, c.due) || (said != "") != c.said {
				t.Errorf("due %q, said %q", due, said)
			}
			if want := min(1, len(due)); len(p.calls) < want || len(due) == 0 && len(p.calls) > 0 {
				t.Errorf("the program was started %d times", len(p.calls))
			}
		})
	}
}

// While a process notifies, none is started; if it was killed, the next event starts another.
func TestNotifyStartsOne(t *testing.T) {
	p := newPlot(t, `{"notify": ["desktop"]}`)
	p.after(0, event.Event{Kind: event.UserPromptSubmit, Prompt: "go"})
	p.after(time.Second, event.Event{Kind: event.StopFailure, Reason: "server_error"})
	lock := alert.WaitLock(p.st.Dir)
	if ok, err := lock.TryLock(); !ok || err != nil || len(p.calls) != 1 {
		t.Fatal(ok, err, p.calls)
	}
	p.after(time.Second, event.Event{Kind: event.UserPromptSubmit, Prompt: "go"})
	if len(p.calls) != 1 {
		t.Error("a second one was started")
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	p.after(time.Second, event.Event{Kind: event.PostToolUse, Tool: event.Tool{Name: "Bash", UseID: "t1"}})
	if len(p.calls) != 2 {
		t.Error("nobody takes over")
	}
}
