package answer

import (
	"cmp"
	"errors"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/wire"
	"beckon/state"
	"beckon/state/store"
)

// fold folds the event and then the decision, and notifies the user of the combined result:
// not of a dialog that the policy answers, nor of an end that it refuses. It returns the
// terminal sequence to send along.
//
// The event is folded while the policy is evaluated, because the dialog is already on the
// screen. The end of a turn is folded afterwards, because until then the client is at work
// (testdata/lab/POLICY.md).
func (f *firing) fold(asked <-chan policy.Result) (sequence string) {
	if f.alien {
		<-asked
		return ""
	}
	e := f.e // a copy: folding redacts and completes it
	var r policy.Result
	ends := e.Kind == event.Stop || e.Kind == event.SubagentStop
	if ends {
		r = <-asked
	}
	res, err := hook.Fold(f.st, f.args, &e, f.getenv, f.start)
	if !ends {
		r = <-asked
	}
	hook.CompleteInstall(f.st, &e, f.getenv)
	known := f.folded(err)
	f.session = res.After
	if now, decided, err := f.foldDecision(r, cmp.Or(res.After.Record(), f.e.SessionID)); decided {
		res.After, known = now.After, f.folded(err) && known
	}
	if known && f.args.Answers && f.dialect.Native() {
		f.halt = hook.Halt(f.st, &res, &e)
	}
	f.session = res.After
	if known {
		sequence = hook.Notify(f.st, res, &e, f.getenv, time.Now())
	}
	return sequence
}

// foldDecision folds the decision into the event's record, if it changes anything.
func (f *firing) foldDecision(r policy.Result, record string) (res store.Result, decided bool, err error) {
	d := f.decided(r)
	if d == nil {
		return res, false, nil
	}
	res, err = hook.FoldDecided(f.st, record, d)
	return res, true, err
}

// decided returns what the answer changes about the session; nil if the client reports it
// itself or nothing changed.
func (f *firing) decided(r policy.Result) *state.Decided {
	d := &state.Decided{Event: f.e.Kind, Of: event.MillisOf(f.start), AgentID: f.e.AgentID,
		UseID: f.e.Tool.UseID, Tool: f.e.Tool.Name, Hash: f.e.Tool.Hash}
	if c := asked(&f.session, &f.e); c != nil && f.e.Kind == event.PermissionRequest && !f.dialect.Native() {
		d.UseID, d.Hash = c.UseID, c.Hash
	}
	if f.e.TaskN.ID != "" {
		d.UseID = f.e.TaskN.ID
	}
	switch {
	case f.e.SessionID == "":
		return nil
	case r.Halts:
		d.Word = state.WordHalted
	case r.GoesOn:
		d.Word = state.WordGoesOn
	case !r.Allowed:
		d.Word = state.WordRefused
	case f.e.Kind == event.PermissionRequest && r.Verdict.Decision == wire.Allow:
		d.Word = state.WordAllowed
	case f.e.Kind == event.PreToolUse && r.Verdict.Input != nil:
		if !f.rewritten(d, r.Verdict.Input) {
			return nil
		}
	default:
		return nil
	}
	return d
}

// rewritten parses the call as the client will report it from now on.
func (f *firing) rewritten(d *state.Decided, input []byte) bool {
	payload, err := f.dialect.Rewritten(f.said, input)
	if err != nil {
		return false
	}
	e, err := event.Parse(f.args.Agent, f.args.Event, payload)
	if err != nil {
		return false
	}
	d.Word, d.NewHash, d.Summary = state.WordRewritten, e.Tool.Hash, e.Tool.Summary
	return true
}

// folded reports whether a fold has a result despite err.
func (f *firing) folded(err error) bool {
	if err != nil && !errors.Is(err, store.ErrBusy) { // busy: it is spooled
		f.st.Log(err)
	}
	return err == nil
}

func (f *firing) log(err error) {
	if err != nil {
		f.st.Log(err)
	}
}
