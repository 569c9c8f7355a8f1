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
	"beckon/state/request"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// notifier notifies the user of the change that an event made to a session: by a terminal sequence
// that it gives the client, or through a process for which the hook does not wait.
type notifier struct {
	st     *store.Store
	getenv func(string) string
	now    time.Time
	start  func(args []string) error // starts that process, detached
	left   *alert.Due                // what this event left to it
}

// notify returns the terminal sequence for the client to emit, or "". An event without an
// interesting change costs two looks at the facts and no file.
func (n *notifier) notify(res store.Result, e *event.Event) (sequence string) {
	now := event.MillisOf(n.now)
	was, is := state.AlertStateOf(res.Before, state.Evidence{}, now), state.AlertStateOf(res.After, state.Evidence{}, now)
	_, raised := state.AlertOf(was, is)
	c := alert.Case{Session: &res.After, Alert: is.Alert}
	if c.Still = e.Kind == event.Notification && state.Still(e.Notification); c.Still {
		raised = is.Open && !is.Alert.Kind.Over() // nobody has typed for six seconds
	}
	if changed := was.State != is.State; raised || changed {
		set, err := alert.Read(alert.ConfigPath(n.getenv))
		if err != nil {
			n.st.Log(errors.New("reading the notification settings: " + err.Error())) // the valid settings still count
		}
		// A hook that waits prints nothing: the title is set when the client says that nobody answered.
		_, held := os.Stat(request.In(n.st.Dir).OpenDir())
		if set.Has(alert.Title) && (changed || c.Still && held == nil) && res.After.Native() {
			sequence = osc.Title(alert.Headline(c.Session, is.State)) // other clients would take it for an answer
		}
		if changed && set.Shows(c.Session.Origin.Terminal) {
			pane := alert.Due{Key: store.KeyOf(c.Session.Record()), Alert: state.Alert{Kind: state.AlertPane, At: now}.ID()}
			if err := pane.Leave(n.st.Dir); err != nil {
				n.st.Log(errors.New("showing the state in its pane: " + err.Error()))
			}
		}
		if raised {
			sequence += n.announce(set, c)
		}
	}
	if err := alert.Attend(n.st.Dir, n.start); err != nil && n.left != nil && n.left.Remove(n.st.Dir) {
		n.log(c, state.Decision{Verdict: state.Never, Reason: "the program that notifies did not start"}, err.Error())
	}
	return sequence
}

// announce notifies of an alert through the client, or leaves it to the program that can wait.
func (n *notifier) announce(set alert.Settings, c alert.Case) string {
	byClient := set.ByClient(c.Session) && (!c.Alert.Dialog || c.Still)
	if !byClient && !set.Has(alert.Terminal) && !set.Away() {
		return ""
	}
	var d state.Decision
	if byClient {
		d = set.Decide(n.st, c, nil, n.now)
	}
	if !byClient || d.Verdict == state.Later {
		byClient, d = false, set.Foresee(n.st, c, n.now)
	}
	mode := alert.Undecided
	if c.Still {
		mode = alert.Still
	}
	if d.Verdict == state.Never {
		n.log(c, d, "")
		return ""
	} else if !byClient {
		n.leave(c, mode)
		return ""
	}
	if set.Away() { // the other channels at the same moment, so that one alert is one interruption
		n.leave(c, alert.Claimed)
	}
	n.log(c, d, alert.Terminal)
	title, body := alert.Words(c.Session, c.Alert)
	return osc.Notify(osc.For(c.Session.Origin.Terminal), c.Session.Record(), title, body)
}

func (n *notifier) leave(c alert.Case, mode alert.DueMode) {
	left := c.Due(mode)
	n.left = &left
	if err := n.left.Leave(n.st.Dir); err != nil {
		const reason = "the alert cannot be left to the program that notifies"
		n.log(c, state.Decision{Verdict: state.Never, Reason: reason}, err.Error())
	}
}

func (n *notifier) log(c alert.Case, d state.Decision, channels string) {
	_ = n.st.Decide(c.Decided(d, "hook", channels, n.now))
}

// WithSequence adds a terminal sequence to a hook's answer, after any that is there: the client
// accepts one JSON object. An answer that is not an object is left alone.
func WithSequence(answer []byte, sequence string) []byte {
	if sequence == "" || len(answer) > 0 && answer[0] != '{' {
		return answer
	}
	if own := gjson.GetBytes(answer, "terminalSequence"); own.Type == gjson.String {
		both := jsonenc.AppendString(slices.Clone(answer[:own.Index]), own.Str+sequence)
		return append(both, answer[own.Index+len(own.Raw):]...)
	}
	out := jsonenc.AppendString([]byte(`{"terminalSequence":`), sequence)
	rest := bytes.TrimLeft(answer[min(1, len(answer)):], " \t\r\n")
	if len(rest) == 0 {
		return append(out, '}', '\n')
	}
	if rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, rest...)
}

// StartBeckon starts the program next to this one, without the client's descriptors, and does not wait.
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
