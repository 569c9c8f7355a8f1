package notify

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/store"
)

// Deliverer decides on alerts and notifies of them.
type Deliverer struct {
	Store    *store.Store
	Reader   *live.Reader
	Settings alert.Settings
	Channels []Channel
	By       string // the program that notifies, for the log: deliver, watch, serve
}

// send sends the notification, and logs the decision.
func (d *Deliverer) send(ctx context.Context, channels []Channel, c alert.Case, v state.Decision, now time.Time) error {
	if v.Verdict != state.Notify {
		return d.log(c, v, "", now)
	}
	n, asked := noteOf(c.Session, c.Alert), ""
	if o, ok := d.offer(c, now); ok {
		n.Offer = o.ID
		channels, asked = d.asked(o.ID, channels)
	}
	said := send(ctx, channels, n)
	if asked != "" && said != "" {
		asked += ", "
	}
	return d.log(c, v, asked+said, time.Now())
}

// offer returns the open offer that an alert is about.
func (d *Deliverer) offer(c alert.Case, now time.Time) (found request.Request, ok bool) {
	if !c.Alert.Dialog {
		return found, false
	}
	list, _ := request.In(d.Store.Dir).List(now) // unreadable: none that could be answered
	call := &c.Alert.Call
	for _, o := range list {
		same := o.Hash == call.Hash && o.Tool == call.Name
		if o.UseID != "" && call.UseID != "" {
			same = o.UseID == call.UseID
		}
		if o.Record == c.Session.Record() && o.Kind != request.Reply && same {
			found, ok = o, true // the newest
		}
	}
	return found, ok
}

// asked makes the process that holds a call ask the user through the channels with buttons,
// and returns the other channels.
func (d *Deliverer) asked(id string, channels []Channel) (others []Channel, line string) {
	var names []string
	for _, c := range channels {
		if a, ok := c.(Asker); ok && a.Asks() {
			names = append(names, c.Name())
		} else {
			others = append(others, c)
		}
	}
	if len(names) == 0 || request.In(d.Store.Dir).Notify(id, names) != nil {
		return channels, ""
	}
	return others, strings.Join(names, ", ")
}

func (d *Deliverer) log(c alert.Case, v state.Decision, channels string, now time.Time) error {
	if err := d.Store.Decide(c.Decided(v, d.By, channels, now)); err != nil {
		return errors.Join(errors.New("logging a decision"), err)
	}
	return nil
}

func settles(e state.Alert) time.Duration { return time.Duration(e.Kind.Hold()) * time.Millisecond }

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

// Follower notifies of the alerts that watch and serve see. Conditions at its start are not
// alerts. It is not safe for concurrent use.
type Follower struct {
	d       *Deliverer
	began   event.Millis                // of the first look
	stood   map[string]state.AlertState // by record; nil before the first look
	pending map[string]waiting
	sending sync.WaitGroup
}

// NewFollower returns a follower that notifies through d.
func NewFollower(d *Deliverer) *Follower {
	return &Follower{d: d, pending: map[string]waiting{}}
}

// Look notifies of the alerts in seen that are due. It does not wait until they are sent.
func (f *Follower) Look(ctx context.Context, seen []state.Seen, now time.Time) {
	stood := make(map[string]state.AlertState, len(seen))
	for i := range seen {
		v := &seen[i]
		is := state.AlertStateOf(v.Session, v.Evidence, event.MillisOf(now))
		stood[v.Session.Record()] = is
		f.note(v.Session.Record(), is, now)
		if w, ok := f.pending[v.Session.Record()]; ok && now.Sub(w.since) >= settles(w.alert) {
			f.consider(ctx, v.Session, w, now)
		}
	}
	if f.stood == nil {
		f.began = event.MillisOf(now)
	}
	f.stood = stood
	for id := range f.pending {
		if _, there := stood[id]; !there {
			delete(f.pending, id)
		}
	}
}

// Wait waits until everything is sent.
func (f *Follower) Wait() { f.sending.Wait() }

// note records an alert, and forgets one that has passed.
func (f *Follower) note(id string, is state.AlertState, now time.Time) {
	was, known := f.stood[id]
	if f.stood != nil {
		if e, ok := state.AlertSeen(was, known, is, f.began); ok {
			f.pending[id] = waiting{alert: e, since: now}
		}
	}
	if w, ok := f.pending[id]; ok &&
		(!is.Open || is.Alert.ID() != w.alert.ID() || now.Sub(w.since) > patience+f.d.Settings.Limit) {
		delete(f.pending, id)
	}
}

// consider decides on an alert that has stood long enough.
func (f *Follower) consider(ctx context.Context, s state.Session, w waiting, now time.Time) {
	c := alert.Case{Alert: w.alert, Session: &s}
	v := f.d.Settings.Decide(f.d.Store, c, live.Focus, now)
	if v.Verdict == state.Later {
		if v.Reason != w.reason {
			w.reason = v.Reason
			f.pending[s.Record()] = w
			_ = f.d.log(c, v, "", now)
		}
		return
	}
	delete(f.pending, s.Record())
	if v.Reason == state.ReasonNotified {
		return // the process that notified has logged it
	}
	f.sending.Go(func() { _ = f.d.send(ctx, f.d.Channels, c, v, now) })
}
