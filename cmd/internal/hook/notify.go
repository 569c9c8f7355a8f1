package hook

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/jsonenc"
	"beckon/event/osc"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/offer/hold"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// notifier notifies the user of what an event made of a session. The hook only
// hands the client a terminal sequence; a process of its own, for which the hook
// does not wait, does whatever takes time or a library.
type notifier struct {
	st     *store.Store
	getenv func(string) string
	now    time.Time
	start  func(args []string) error // starts the slow program, detached
}

// notify returns the terminal sequence for the client to emit, or "". An event
// that changes nothing of interest costs two looks at the facts and no file.
func (n *notifier) notify(res store.Result, e *event.Event) string {
	now := event.MillisOf(n.now)
	was, is := state.Standing(res.Before, state.Evidence{}, now), state.Standing(res.After, state.Evidence{}, now)
	c, edge := caseOf(&res.After, e, was, is)
	stands := !edge && is.Open && was.Open && is.Edge.ID() == was.Edge.ID()
	if !edge && !stands && was.State == is.State {
		return ""
	}
	set, err := alert.Read(alert.ConfigPath(n.getenv))
	if err != nil {
		n.st.Log(errors.New("reading the notification settings: " + err.Error())) // the rest of them counts
	}
	sequence := ""
	later, body := n.later(set)
	if set.Has(alert.Title) && (was.State != is.State || c.Still && n.held()) {
		headline := alert.Headline(&res.After, is.State)
		if later != "" {
			headline += ", " + later
		}
		sequence = osc.Title(headline)
	}
	if later != "" && set.Has(alert.Terminal) {
		sequence += osc.Notify(set.StyleFor(res.After.Origin.Terminal), "usage", later, body)
	}
	switch {
	case edge:
		sequence += n.announce(set, c)
	case stands && set.Has(alert.Terminal) && set.Overdue(n.st, c, n.now): // the other channels have a process that waits
		sequence += n.atTerminal(set, c)
	}
	return sequence
}

// later is the note of no session that waits for a hook, empty for none.
func (n *notifier) later(set alert.Settings) (title, body string) {
	if !set.Has(alert.Title) && !set.Has(alert.Terminal) || set.Quiet != (alert.Hours{}) && set.Quiet.Hold(n.now.Local()) {
		return "", ""
	}
	return alert.TakeLater(n.st.Dir, event.MillisOf(n.now))
}

// held reports whether calls may be held for an answer: a hook that waits says
// nothing meanwhile, so the title is set when the client reports that nobody came.
func (n *notifier) held() bool {
	_, err := os.Stat(hold.OpenDir(n.st.Dir))
	return err == nil
}

// caseOf returns the edge that stands, and whether e caused it. The client's
// notice that nobody has typed for six seconds counts as its cause.
func caseOf(s *state.Session, e *event.Event, was, is state.Stand) (alert.Case, bool) {
	c := alert.Case{Session: s, Edge: is.Edge}
	if e.Kind == event.Notification && state.Still(e.Notification) {
		c.Still = true
		return c, is.Open && is.Edge.Kind != state.EdgeDone
	}
	_, ok := state.EdgeOf(was, is)
	return c, ok
}

func (n *notifier) announce(set alert.Settings, c alert.Case) string {
	switch {
	case set.Has(alert.Terminal) && c.Edge.Dialog && !c.Still:
		n.log(c, state.Decision{Verdict: state.Later, Reason: state.ReasonEarly}, "")
	case set.Has(alert.Terminal):
		return n.atTerminal(set, c)
	case set.Away():
		n.handOver(set, c)
	}
	return ""
}

// atTerminal notifies through the terminal and has the other channels notified
// at the same moment, so that one edge is one interruption.
func (n *notifier) atTerminal(set alert.Settings, c alert.Case) string {
	d := set.Decide(n.st, c, n.getenv, n.now)
	if d.Verdict != state.Notify {
		n.log(c, d, "")
		if d.Reason == state.ReasonLimit && set.Away() {
			n.handOver(set, c) // a process can wait for the limit, a hook cannot
		}
		return ""
	}
	channels := alert.Terminal
	if set.Away() {
		if err := n.start(deliver(c, "--claimed")); err != nil {
			channels += ", others: " + err.Error()
		}
	}
	n.log(c, d, channels)
	title, body := alert.Words(c.Session, c.Edge)
	return osc.Notify(set.StyleFor(c.Session.Origin.Terminal), c.Session.Record(), title, body)
}

// handOver leaves the edge to the slow program, unless it is already clear that
// the user is not to be notified.
func (n *notifier) handOver(set alert.Settings, c alert.Case) {
	if d := set.Foresee(n.st, c, n.now); d.Verdict == state.Never {
		n.log(c, d, "")
		return
	}
	if err := n.start(deliver(c)); err != nil {
		n.log(c, state.Decision{Verdict: state.Never, Reason: "the program that notifies did not start"}, err.Error())
	}
}

// deliver is the command line of the slow program for this edge.
func deliver(c alert.Case, flags ...string) []string {
	args := append([]string{"notify", "deliver", c.Session.Record(), c.Edge.ID()}, flags...)
	if c.Still {
		args = append(args, "--still")
	}
	return args
}

func (n *notifier) log(c alert.Case, d state.Decision, channels string) {
	_ = n.st.Decide(c.Decided(d, "hook", channels, n.now))
}

// WithSequence is what a hook prints to have the client emit a sequence beside
// its answer: the client takes one JSON object, so the sequence joins it, and
// one that is there already. An answer that is not an object is left alone.
func WithSequence(answer []byte, sequence string) []byte {
	if sequence == "" || len(answer) > 0 && answer[0] != '{' {
		return answer
	}
	if own := gjson.GetBytes(answer, "terminalSequence"); own.Type == gjson.String {
		both := jsonenc.AppendString(slices.Clone(answer[:own.Index]), own.Str+sequence)
		return append(both, answer[own.Index+len(own.Raw):]...)
	}
	out := jsonenc.Str([]byte{'{'}, "terminalSequence", sequence)
	rest := bytes.TrimLeft(answer[min(1, len(answer)):], " \t\r\n")
	if len(rest) == 0 {
		return append(out, '}', '\n')
	}
	if rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// StartBeckon starts the program beside this one, with nothing of the client's
// held open (CASE 20), and does not wait for it.
func StartBeckon(dir string, args []string) error {
	program := home.Beside("beckon")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Dir: dir, Env: home.Environ(), Files: []*os.File{null, null, null}, Sys: detached(),
	})
	if err != nil {
		return err
	}
	return p.Release()
}
