package notify

import (
	"context"
	"errors"
	"strings"
	"time"

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
