package notify

import (
	"context"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/live"
)

const (
	// glance is how often the process that notifies looks for what became due.
	glance = 200 * time.Millisecond
	// again is how long an alert waits for its next look, and seldom the longest such time.
	again  = time.Second
	seldom = 10 * time.Second
	// patience is how long an alert with a delayed notification is kept: a user who has had a
	// dialog before them for this long has seen it.
	patience = 10 * time.Minute
	// closing is how long to wait if the client is still busy after the end of a turn: other
	// hooks of its Stop may run a test.
	closing = 2 * time.Minute
	// ahead is how much longer a dialog waits if its client itself reports that nobody typed,
	// and shows the notification then.
	ahead = 2 * time.Second
)

// reasonUnreachable is the reason if no channel reaches the user.
const reasonUnreachable = "its terminal is not known"

// waiting is an alert that is not decided.
type waiting struct {
	alert  state.Alert
	since  time.Time // when it was first seen
	next   time.Time // when to look at it
	reason string    // of the last Later that was logged
}

// Wait notifies of what hooks leave (alert.Due): it takes a second look at each alert, with all
// evidence, when it has stood long enough. It returns when nothing is due, or another process
// does the same.
func (d *Deliverer) Wait(ctx context.Context) error {
	lock := alert.WaitLock(d.Store.Dir)
	for alert.AnyDue(d.Store.Dir) { // again: a hook saw the lock of a process that was about to end
		if ok, err := lock.TryLock(); !ok {
			return err
		}
		d.attend(ctx)
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Deliverer) attend(ctx context.Context) {
	var sending atomic.Int32
	all := map[alert.Due]*waiting{}
	for {
		list := alert.Dues(d.Store.Dir)
		if len(list) == 0 && sending.Load() == 0 {
			return
		}
		for _, due := range list {
			w := all[due]
			if w == nil {
				w = &waiting{since: time.Now()}
				all[due] = w
			}
			send := d.consider(ctx, due, w, time.Now())
			if send == nil {
				continue
			}
			sending.Add(1)
			go func() {
				defer sending.Add(-1)
				send()
			}()
		}
		time.Sleep(glance)
	}
}

// consider decides on an alert if it is time. It returns what sends the notification, nil if
// there is nothing to send, or not yet.
func (d *Deliverer) consider(ctx context.Context, due alert.Due, w *waiting, now time.Time) (send func()) {
	if now.Before(w.next) {
		return nil
	}
	w.next = now.Add(min(again+now.Sub(w.since)/20, seldom))
	s, err := d.Store.Load(due.Key)
	if err != nil {
		due.Remove(d.Store.Dir)
		d.Store.Log(err)
		return nil
	}
	seen := d.Reader.One(s, event.MillisOf(now))
	is := state.AlertStateOf(seen.Session, seen.Evidence, event.MillisOf(now))
	was, _ := state.ParseAlert(due.Alert)
	age := now.Sub(was.At.Time())
	c := alert.Case{Alert: is.Alert, Session: &seen.Session, Still: due.Mode == alert.Still}
	var v state.Decision
	var channels []Channel
	switch {
	case is.Closes(was) && age < closing:
		return nil
	case !is.Open || is.Alert.ID() != due.Alert:
		c.Alert = was // nothing else is known about it
		v = state.Decision{Verdict: state.Never, Reason: state.ReasonPassed}
	case due.Mode == alert.Undecided && age < d.early(c):
		w.next = now.Add(min(again, d.early(c)-age))
		return nil
	case due.Mode == alert.Undecided && c.Alert.Dialog && seen.Session.Native() &&
		seen.Evidence.Registry.Status != "waiting":
		// No hook says that the user refused a call. The client's registry does, and without
		// one the client still reports a dialog that waits.
		if v = d.Settings.Foresee(d.Store, c, now); v.Verdict != state.Never {
			v = state.Decision{Verdict: state.Later, Reason: state.ReasonEarly}
		}
	default:
		channels, v = d.decide(c, due.Mode, now)
	}
	if v.Verdict == state.Later && now.Sub(w.since) < patience+d.Settings.Limit {
		if v.Reason != w.reason {
			w.reason = v.Reason
			_ = d.log(c, v, "", now)
		}
		return nil
	}
	if !due.Remove(d.Store.Dir) { // first, so that no other process sends it again
		return nil
	}
	return func() {
		_ = d.send(ctx, channels, c, v, now)
		Wait(channels)
	}
}

// early is how long an alert must stand before anything is decided.
func (d *Deliverer) early(c alert.Case) time.Duration {
	if c.Alert.Dialog && d.Settings.ByClient(c.Session) {
		return state.Stillness*time.Millisecond + ahead
	}
	return settles(c.Alert)
}

// decide decides on an alert, and returns the channels that reach the user from here.
func (d *Deliverer) decide(c alert.Case, mode alert.DueMode, now time.Time) ([]Channel, state.Decision) {
	channels := d.Channels[:len(d.Channels):len(d.Channels)]
	if mode == alert.Claimed {
		return channels, state.Decision{Verdict: state.Notify, Reason: state.ReasonNotify}
	}
	if t := terminalOf(c.Session, d.Settings); d.Settings.Has(alert.Terminal) && t.reaches() {
		channels = append(channels, t)
	}
	if len(channels) == 0 {
		return nil, state.Decision{Verdict: state.Never, Reason: reasonUnreachable}
	}
	return channels, d.Settings.Decide(d.Store, c, live.Focus, now)
}
