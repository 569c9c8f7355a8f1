package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/render"
	"beckon/render/card"
	"beckon/state/offer"
)

// farAway returns a rig with a selected session of another machine of a fleet.
func farAway(t *testing.T, offers ...card.Offered) *answering {
	t.Helper()
	r := newAnswering(t, 100, 30)
	r.opt.Ask = func(row render.Row) ([]card.Offered, error) {
		r.did = append(r.did, "ask "+row.Remote.Link)
		return slices.Clone(offers), r.fails
	}
	r.opt.Reply = func(row render.Row, words string) (string, error) {
		r.did = append(r.did, "say "+words+" to "+row.Remote.Link)
		return "box: said", nil
	}
	r.news(asks...)
	return r
}

// news updates the session of the other machine.
func (r *answering) news(events ...event.Kind) {
	row := snapshot(session("s-far", "ml", events...)).Rows[0]
	row.Remote = &render.Remote{Name: "box", User: "ann", AsOf: r.at, Link: "ann.box.n1.run1"}
	_, cmd := r.Update(othersMsg{rows: []render.Row{row}})
	r.settle(cmd)
	for i := range r.rows {
		if r.rows[i].SessionID == "s-far" {
			r.choose(i)
		}
	}
}

// The question of a session on another machine is fetched when the panel opens, drawn in full,
// and answered there.
func TestFarAnswer(t *testing.T) {
	o := offered("F", "s-far", offer.Permission, `{"tool_input":{"command":"make deploy"}}`)
	r := farAway(t, o)
	if len(r.did) != 0 {
		t.Errorf("it was asked with no panel: %q", r.did)
	}
	r.slowly("y") // opens the panel
	r.wantOn("│ make deploy", "y allow")
	r.slowly("y")
	if a := r.last(); a.Word != offer.Allow || a.Offer != "F" || a.Digest != o.Digest || a.From != offer.Watch {
		t.Errorf("%+v", a)
	}
	r.wantOn("taken")
	if r.far != nil {
		t.Error("the offer stays")
	}
	if r.did[0] != "ask ann.box.n1.run1" {
		t.Errorf("%q", r.did)
	}
}

// If the other machine refuses the user, the panel shows its reason.
func TestFarRefused(t *testing.T) {
	r := farAway(t)
	r.fails = errors.New("this machine takes no answers from ann")
	r.slowly("space")
	r.wantOn("it cannot be answered from here", "takes no answers from ann")
	r.slowly("y")
	r.wantOn("takes no answers from ann")
	if len(r.given) != 0 {
		t.Errorf("%+v", r.given)
	}
	if n := len(r.did); n != 1 {
		t.Errorf("it was asked %d times at once", n)
	}
	r.at = r.at.Add(farAgain)
	r.news(asks...)
	if n := len(r.did); n != 2 {
		t.Errorf("it was asked %d times after a while", n)
	}
}

// A reply and a stop are sent there, too; marks are not.
func TestFarReplyAndStop(t *testing.T) {
	r := farAway(t)
	r.news(done...)
	r.slowly("space", "r", "g", "o", "enter")
	r.news(works...)
	r.slowly("S", "enter", "m")
	if got := fmt.Sprint(r.did); got != "[say go to ann.box.n1.run1 stop s-far]" {
		t.Error(got)
	}
	r.wantOn("on another host")
	r.opt.Ask = nil
	r.slowly("S")
	if !strings.Contains(r.plainScreen(), "on another host") {
		t.Error("a stop without a way there")
	}
}
