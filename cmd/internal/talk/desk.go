package talk

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/event"
	"beckon/event/plainfile"
	"beckon/render/card"
	"beckon/render/fleet/ctl"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/offer"

	"github.com/nats-io/nkeys"
)

// Desk returns what carries out the orders of users at other machines for this machine's
// sessions, as far as the setting answers_from_fleet allows.
func Desk(a *cli.App) ctl.Desk { return desk{a} }

type desk struct{ a *cli.App }

// Listens implements ctl.Desk.
func (d desk) Listens() bool { return len(d.answerers()) > 0 }

// answerers returns the users that the configuration names now, or none if the file has an
// error.
func (d desk) answerers() []string {
	path, err := config.Path(d.a.Getenv)
	if err != nil {
		return nil
	}
	c, _, err := config.Load(path)
	if err != nil {
		return nil
	}
	return c.AnswersFrom
}

// Allowed implements ctl.Desk.
func (d desk) Allowed(w ctl.Who) error {
	for _, s := range d.answerers() {
		named := w.User
		if nkeys.IsValidPublicUserKey(s) { // never a user to whom the hub gave a key as name
			named = w.Key
		}
		if s == named {
			return nil
		}
	}
	return fmt.Errorf("this machine takes no answers from %s (key %s): its setting answers_from_fleet does not name them", w, w.Key)
}

// Look implements ctl.Desk.
func (d desk) Look(session string) ([]offer.Offer, error) {
	list, err := offer.In(d.a.Store.Dir).List(time.Now())
	if err != nil {
		return nil, errors.New("its requests cannot be read")
	}
	return slices.DeleteFunc(list, func(o offer.Offer) bool { return o.Record != session }), nil
}

// Answer implements ctl.Desk.
func (d desk) Answer(w ctl.Who, ans offer.Answer) (string, error) {
	o, err := offer.In(d.a.Store.Dir).Load(ans.Offer)
	if err != nil {
		return "", err
	}
	c := card.Of(&o, evidence.ThisMachine().Host)
	if err := c.May(ans.Word); err != nil {
		return "", err
	}
	if ans.Word.Grants() && !ctl.Fits(&o) {
		return "", errors.New("it is too long to be sent, so it is allowed only where it runs")
	}
	ans.From, ans.By = offer.Fleet, w.String()
	return outcome(hand(d.a, &o, ans))
}

// Say implements ctl.Desk.
func (d desk) Say(w ctl.Who, session, text string) (string, error) {
	v, err := d.find(session)
	if err != nil {
		return "", err
	}
	return outcome(say(d.a, &v, text, offer.Fleet, w.String()))
}

// Stop implements ctl.Desk.
func (d desk) Stop(w ctl.Who, session string) (string, error) {
	v, err := d.find(session)
	if err != nil {
		return "", err
	}
	return halt(d.a, &v, offer.Fleet, w.String())
}

// find returns a session by its record only, not by names that people type.
func (d desk) find(record string) (state.Seen, error) {
	snap, err := d.a.Reader().Look(false)
	if err != nil {
		return state.Seen{}, errors.New("its sessions cannot be read")
	}
	i := slices.IndexFunc(snap.Seen, func(v state.Seen) bool { return v.Session.Record() == record })
	if i < 0 {
		return state.Seen{}, errors.New("there is no such session, or it is over")
	}
	return snap.Seen[i], nil
}

// noting keeps two messages from rotating the file at once.
var noting sync.Mutex

// maxNotes limits the file of Note, in bytes; one older file of that size is kept.
const maxNotes = 1 << 20

// notesFile returns where a link records the orders of users at other machines, and their
// outcomes.
func notesFile(stateDir string) string { return filepath.Join(stateDir, "fleet", "answers.jsonl") }

// Note implements ctl.Desk.
func (d desk) Note(e ctl.Entry) {
	for _, s := range []*string{&e.Session, &e.Offer, &e.Word, &e.Op, &e.Refused, &e.Done} {
		*s = event.Cut(*s, 300)
	}
	line, err := json.Marshal(e)
	noting.Lock()
	defer noting.Unlock()
	if err == nil {
		err = plainfile.AppendLine(notesFile(d.a.Store.Dir), line, maxNotes)
	}
	if err != nil {
		d.a.Store.Log(fmt.Errorf("noting an answer from the fleet: %w", err))
	}
}
