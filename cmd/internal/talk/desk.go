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

// Desk does what users at other machines say to the sessions of this one, as far as
// the setting answers_from_fleet lets them.
func Desk(a *cli.App) ctl.Desk { return desk{a} }

type desk struct{ a *cli.App }

// Listens is ctl.Desk's.
func (d desk) Listens() bool { return len(d.answerers()) > 0 }

// answerers are the users whom the configuration names now. A file with a mistake
// in it names nobody.
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

// Allowed is ctl.Desk's.
func (d desk) Allowed(w ctl.Who) error {
	for _, s := range d.answerers() {
		named := w.User
		if nkeys.IsValidPublicUserKey(s) { // and no user whom the hub calls so
			named = w.Key
		}
		if s == named {
			return nil
		}
	}
	return fmt.Errorf("this machine takes no answers from %s (key %s): its setting answers_from_fleet does not name them", w, w.Key)
}

// Look is ctl.Desk's.
func (d desk) Look(session string) ([]offer.Offer, error) {
	list, err := offer.In(d.a.Store.Dir).List(time.Now())
	if err != nil {
		return nil, errors.New("its requests cannot be read")
	}
	return slices.DeleteFunc(list, func(o offer.Offer) bool { return o.Record != session }), nil
}

// Answer is ctl.Desk's.
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

// Say is ctl.Desk's.
func (d desk) Say(w ctl.Who, session, text string) (string, error) {
	v, err := d.find(session)
	if err != nil {
		return "", err
	}
	return outcome(say(d.a, &v, text, offer.Fleet, w.String()))
}

// Stop is ctl.Desk's.
func (d desk) Stop(w ctl.Who, session string) (string, error) {
	v, err := d.find(session)
	if err != nil {
		return "", err
	}
	return halt(d.a, &v, offer.Fleet, w.String())
}

// find looks for a session by its record, and nothing else that people may type.
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

// noting keeps two messages from putting the file aside both.
var noting sync.Mutex

// maxNotes bounds the file of Note, in bytes; one more of that size is kept.
const maxNotes = 1 << 20

// notesFile is where a link keeps what users at other machines said to sessions of
// this one, and how that went.
func notesFile(stateDir string) string { return filepath.Join(stateDir, "fleet", "answers.jsonl") }

// Note is ctl.Desk's.
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
