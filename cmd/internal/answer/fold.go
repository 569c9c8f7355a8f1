package answer

import (
	"cmp"
	"errors"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/policy"
	"beckon/state"
	"beckon/state/store"
)

// fold folds the event, then what was decided, and notifies the user of what came
// of both together: not of a dialog that the policy answers, nor of an end that it
// refuses. It returns the terminal sequence to send along.
//
// The event is folded while the policy is asked: a dialog is on the screen
// meanwhile. The end of a turn is folded after it, because until then the
// client is at work (testdata/lab/POLICY.md).
func (f *firing) fold(asked <-chan policy.Result) (sequence string) {
	if f.alien {
		<-asked
		return ""
	}
	e := f.e // its own: folding redacts and completes it
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

// foldDecision folds what was decided, if it changes anything, into the record
// that has the event.
func (f *firing) foldDecision(r policy.Result, record string) (res store.Result, decided bool, err error) {
	a := f.decided(r)
	if a == nil || f.e.SessionID == "" {
		return res, false, nil
	}
	res, err = f.st.Fold(store.KeyOf(record), store.Update{Change: state.Change{At: event.MillisOf(time.Now()), Action: a}})
	return res, true, err
}

// folded reports whether a fold has a result.
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
