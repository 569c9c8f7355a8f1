package hook

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/osc"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// teller tells the user of what one event made of a session. The hook itself
// does no more than hand the client a terminal sequence; whatever takes time
// or a library is done by a process of its own, which nobody waits for.
type teller struct {
	st     *store.Store
	getenv func(string) string
	now    time.Time
	start  func(args []string) error // starts the slow program, detached
}

// tell returns the terminal sequence for the client to emit, empty when there
// is none. An event that changes nothing the user could hear of costs two
// readings of the facts and no file.
func (t *teller) tell(res store.Result, e *event.Event) string {
	now := event.Millis(t.now.UnixMilli())
	was, is := state.Standing(res.Before, state.Evidence{}, now), state.Standing(res.After, state.Evidence{}, now)
	c, edge := theCase(&res.After, e, was, is)
	stands := !edge && is.Open && was.Open && is.Edge.ID() == was.Edge.ID()
	if !edge && !stands && was.State == is.State {
		return ""
	}
	set, err := alert.Read(alert.ConfigPath(t.getenv))
	if err != nil {
		t.st.Log(errors.New("reading the notification settings: " + err.Error()))
		return ""
	}
	sequence := ""
	if set.Has(alert.Title) && was.State != is.State {
		sequence = osc.Title(alert.Headline(&res.After, is.State))
	}
	switch {
	case edge:
		sequence += t.announce(set, c)
	case stands && set.Has(alert.Terminal) && set.Overdue(t.st, c, t.now): // the other channels have a process that waits
		sequence += t.atTerminal(set, c)
	}
	return sequence
}

// theCase finds what stands, and whether e brought it about. When the client
// says that nobody has typed for six seconds, that counts as bringing it about.
func theCase(s *state.Session, e *event.Event, was, is state.Stand) (alert.Case, bool) {
	c := alert.Case{Session: s, Edge: is.Edge}
	if e.Kind == event.Notification && state.Still(e.Notification) {
		c.Still = true
		return c, is.Open && is.Edge.Kind != state.EdgeDone
	}
	_, ok := state.EdgeOf(was, is)
	return c, ok
}

// announce decides on the edge and tells of it.
func (t *teller) announce(set alert.Settings, c alert.Case) string {
	switch {
	case set.Has(alert.Terminal) && c.Edge.Dialog && !c.Still:
		t.log(c, state.Decision{Verdict: state.Later, Reason: state.ReasonEarly}, "")
	case set.Has(alert.Terminal):
		return t.atTerminal(set, c)
	case set.Away():
		t.handOver(set, c)
	}
	return ""
}

// atTerminal tells through the terminal, and has the other channels told at
// the same moment, so that one edge is one interruption.
func (t *teller) atTerminal(set alert.Settings, c alert.Case) string {
	d := set.Decide(t.st, c, t.getenv, t.now)
	if d.Verdict == state.Tell {
		d = alert.Claim(t.st, c, d)
	}
	if d.Verdict != state.Tell {
		t.log(c, d, "")
		if d.Reason == state.ReasonLimit && set.Away() {
			t.handOver(set, c) // a process can wait for the limit, a hook cannot
		}
		return ""
	}
	channels := alert.Terminal
	if set.Away() {
		if err := t.start(deliver(c, "--claimed")); err != nil {
			channels += ", others: " + err.Error()
		}
	}
	t.log(c, d, channels)
	title, body := alert.Words(c.Session, c.Edge)
	return osc.Notify(set.StyleFor(c.Session.Origin.Terminal), c.Session.Record(), title, body)
}

// handOver leaves the edge to the slow program, unless it is clear without
// asking anybody that the user is not to be told.
func (t *teller) handOver(set alert.Settings, c alert.Case) {
	if d := set.Foresee(t.st, c, t.now); d.Verdict == state.Never {
		t.log(c, d, "")
		return
	}
	if err := t.start(deliver(c)); err != nil {
		t.log(c, state.Decision{Verdict: state.Never, Reason: "the program that tells did not start"}, err.Error())
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

func (t *teller) log(c alert.Case, d state.Decision, channels string) {
	_ = t.st.Decide(c.Decided(d, "hook", channels, t.now))
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

// startBeckon starts the program beside this one, with nothing of the client's
// held open (CASE 20), and does not wait for it.
func startBeckon(dir string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	name := "beckon"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program := filepath.Join(filepath.Dir(self), name)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Dir: dir, Env: ownEnv(os.Environ()), Files: []*os.File{null, null, null}, Sys: detached(),
	})
	if err != nil {
		return err
	}
	return p.Release()
}

// ownEnv leaves out the client's messaging token: nothing that we start has a
// use for it.
func ownEnv(env []string) (out []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, "CLAUDE_CODE_MESSAGING_") {
			out = append(out, v)
		}
	}
	return out
}
