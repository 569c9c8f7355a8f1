package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/store"
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

// Deliverer decides on alerts and notifies of them.
type Deliverer struct {
	Store    *store.Store
	Reader   *live.Reader
	Settings alert.Settings
	Channels []Channel
	Start    func(args []string) error // starts the process that calls Wait

	sending sync.WaitGroup
	panes   map[store.Key]*pane // what panes show
}

// pending is an alert that is not decided.
type pending struct {
	since  time.Time // when it was first seen
	next   time.Time // when to look at it
	reason string    // of the last Later that was logged
}

// send sends the notification, and logs the decision.
func (d *Deliverer) send(
	ctx context.Context, channels []Channel, c alert.Case, mode alert.DueMode, v state.Decision, now time.Time,
) {
	if v.Verdict != state.Notify {
		if v.Reason != state.ReasonNotified { // else the process that notified has logged it
			d.log(c, v, "", now)
		}
		return
	}
	n := noteOf(c.Session, c.Alert)
	var lines []string
	if r, ok := RequestOf(request.In(d.Store.Dir), &c, now); ok {
		n.Request = r.ID
		channels, lines = d.withButtons(r.ID, channels)
	}
	if line := Send(ctx, channels, n); line != "" {
		lines = append(lines, line)
	}
	if c.Alert.Dialog && mode != alert.Again && d.Settings.Away() && d.Settings.Again > 0 {
		d.Store.Log(cmp.Or(c.Due(alert.Again).Leave(d.Store.Dir), alert.Attend(d.Store.Dir, d.Start)))
	}
	d.log(c, v, strings.Join(lines, ", "), time.Now())
}

// RequestOf returns the newest open request that an alert is about.
func RequestOf(dir request.Dir, c *alert.Case, now time.Time) (request.Request, bool) {
	list, _ := dir.List(now) // unreadable: none that could be answered
	for _, r := range slices.Backward(list) {
		if c.Alert.Dialog && r.Record == c.Session.Record() && r.Kind != request.Reply && r.Of(&c.Alert.Call) {
			return r, true
		}
	}
	return request.Request{}, false
}

// withButtons has the process that waits at a request ask the user through the channels with
// buttons, and returns the other channels.
func (d *Deliverer) withButtons(id string, channels []Channel) (others []Channel, names []string) {
	for _, c := range channels {
		if c.Ask != nil {
			names = append(names, c.Name)
		} else {
			others = append(others, c)
		}
	}
	if len(names) == 0 || request.In(d.Store.Dir).Notify(id) != nil {
		return channels, nil
	}
	return others, names
}

func (d *Deliverer) log(c alert.Case, v state.Decision, channels string, now time.Time) {
	_ = d.Store.Decide(c.Decided(v, "wait", channels, now)) // the decision stands without its log
}

// Wait notifies of what hooks leave (alert.Due): it takes a second look at each alert, with all
// evidence, when it has stood long enough. It returns when nothing is due, or another process
// does the same.
func (d *Deliverer) Wait(ctx context.Context) error {
	defer Wait()
	defer d.sending.Wait()
	d.panes = map[store.Key]*pane{}
	lock := alert.WaitLock(d.Store.Dir)
	for alert.AnyDue(d.Store.Dir) { // again: a hook saw the lock of a process that was about to end
		if ok, err := lock.TryLock(); !ok {
			return err
		}
		all := map[alert.Due]*pending{}
		for list := alert.Dues(d.Store.Dir); len(list) > 0; list = alert.Dues(d.Store.Dir) {
			for _, due := range list {
				if all[due] == nil {
					all[due] = &pending{since: time.Now()}
				}
				d.consider(ctx, due, all[due], time.Now())
			}
			time.Sleep(glance)
		}
		if err := lock.Unlock(); err != nil {
			return err
		}
	}
	return nil
}

// consider decides on an alert if it is time, and sends the notification.
func (d *Deliverer) consider(ctx context.Context, due alert.Due, p *pending, now time.Time) {
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(min(again+now.Sub(p.since)/20, seldom))
	s, err := d.Store.Load(due.Key)
	if err != nil {
		due.Remove(d.Store.Dir)
		d.Store.Log(err)
		return
	}
	seen := d.Reader.One(s, event.MillisOf(now))
	is := state.AlertStateOf(seen.Session, seen.Evidence, event.MillisOf(now))
	was, _ := state.ParseAlert(due.Alert)
	c := alert.Case{Alert: is.Alert, Session: &seen.Session, Still: due.Mode == alert.Still}
	stands, at := is.Open && is.Alert.ID() == due.Alert, was.At.Time()
	age := now.Sub(at)
	late := due.Mode == alert.Again // it is due hours after it was left
	if late {
		at = at.Add(d.Settings.Again)
	} else if late = was.Kind == state.AlertBack; late {
		b := c.Session.Backburner
		stands = b.Until == was.At && b.At > b.Off && is.State.Live()
		c.Alert.Kind, c.Alert.At, c.Alert.Actor, c.Still = was.Kind, was.At, "", true
	}
	var v state.Decision
	var channels []Channel
	switch {
	case was.Kind == state.AlertPane:
		p.next = now.Add(min(again+now.Sub(p.since)/20, seldom/2))
		d.show(ctx, due, was.At, &seen, now)
		return
	case late && !stands:
		due.Remove(d.Store.Dir)
		return
	case late && now.Before(at):
		p.next = now.Add(min(at.Sub(now), seldom))
		return
	case late:
		channels, v = d.decide(c, due.Mode, now)
	case is.Closes(was) && age < closing:
		return
	case !stands:
		c.Alert = was // nothing else is known about it
		v = state.Decision{Verdict: state.Never, Reason: state.ReasonPassed}
	case (due.Mode == alert.Undecided || due.Mode == alert.Watched) && age < d.early(c):
		p.next = now.Add(min(again, d.early(c)-age))
		return
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
	if v.Verdict == state.Later && now.Sub(p.since) < patience {
		if v.Reason != p.reason {
			p.reason = v.Reason
			d.log(c, v, "", now)
		}
		return
	}
	if due.Remove(d.Store.Dir) { // first, so that no other process sends it
		d.sending.Go(func() { d.send(ctx, channels, c, due.Mode, v, now) })
	}
}

// early is how long an alert must stand before anything is decided.
func (d *Deliverer) early(c alert.Case) time.Duration {
	if c.Alert.Dialog && d.Settings.ByClient(c.Session) {
		return state.Stillness*time.Millisecond + ahead
	}
	return time.Duration(c.Alert.Kind.Delay()) * time.Millisecond
}

// decide decides on an alert, and returns the channels that reach the user from here.
func (d *Deliverer) decide(c alert.Case, mode alert.DueMode, now time.Time) ([]Channel, state.Decision) {
	channels := d.Channels[:len(d.Channels):len(d.Channels)]
	switch mode {
	case alert.Claimed:
		return channels, state.Decision{Verdict: state.Notify, Reason: state.ReasonNotify}
	case alert.Again:
		if i := slices.IndexFunc(channels, func(c Channel) bool { return c.Name == alert.Ntfy }); i >= 0 {
			channels = channels[i : i+1]
		}
		return channels, d.Settings.Remind(c, live.Focus, now)
	}
	if t := terminalOf(c.Session); d.Settings.Has(alert.Terminal) && t.reaches() {
		channels = append(channels, t.Channel())
	}
	if len(channels) == 0 {
		return nil, state.Decision{Verdict: state.Never, Reason: reasonUnreachable}
	}
	return channels, d.Settings.Decide(d.Store, c, live.Focus, now)
}

// Follower leaves what watch and serve see, and perhaps no hook, to the process that calls Wait.
// Conditions at its start are not alerts. It is not safe for concurrent use.
type Follower struct {
	Dir   string                    // of the state
	Start func(args []string) error // as in Deliverer
	seer  alert.Seer
}

// Look leaves the alerts in seen that are new. A nil Follower does nothing.
func (f *Follower) Look(seen []state.Seen, now time.Time) (err error) {
	if f == nil {
		return nil
	}
	for _, c := range f.seer.Look(seen, event.MillisOf(now)) {
		err = errors.Join(err, c.Due(alert.Watched).Leave(f.Dir))
	}
	return errors.Join(err, alert.Attend(f.Dir, f.Start))
}
