package offer

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/offer/hold"
)

// Dir is the directory of offers.
type Dir string

// In returns the directory of a state directory's offers.
func In(stateDir string) Dir { return Dir(stateDir) }

func (d Dir) open(elem ...string) string {
	return filepath.Join(hold.OpenDir(string(d)), filepath.Join(elem...))
}

func (d Dir) done(elem ...string) string {
	return filepath.Join(hold.DoneDir(string(d)), filepath.Join(elem...))
}

// idLetters are the letters of crypto/rand.Text.
const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// IsID reports whether id may be an offer's. Such an id cannot lead out of the directory.
func IsID(id string) bool { return len(id) == 26 && strings.Trim(id, idLetters) == "" }

// Digest is the digest of a payload.
func Digest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// Make writes an offer, sets its id and digest, and removes the remains of old ones.
func (d Dir) Make(o *Offer, now time.Time) error {
	d.prune(now)
	o.ID, o.Digest = rand.Text(), Digest(o.Payload) // 130 random bits
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	// It is made under a name that no reader takes for an offer's.
	tmp := d.open("." + o.ID)
	if err := os.MkdirAll(tmp, dirMode); err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(filepath.Join(tmp, hold.PayloadFile), o.Payload, fileMode), os.WriteFile(filepath.Join(tmp, hold.OfferFile), b, fileMode))
	if err == nil {
		err = os.Rename(tmp, d.open(o.ID))
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
	}
	return err
}

// Load reads an open offer. The error is ErrNone if no offer has that id, that of Over if the
// offer is over, ErrChanged if its files are not as they were written.
func (d Dir) Load(id string) (Offer, error) {
	if !IsID(id) {
		return Offer{}, ErrNone
	}
	o, err := read(d.open(id))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(d.done(id)); err == nil {
			return o, d.Over(id)
		}
		return o, ErrNone
	}
	return o, err
}

// Over says what became of an offer that is over: a *TakenError, or ErrOver with the reason.
func (d Dir) Over(id string) error {
	became, known := d.Outcome(id, 0)
	if by, ok := d.Answered(id); ok && (became.Taken || !known) {
		return &TakenError{by}
	}
	if became.Why != "" {
		return overError(became.Why)
	}
	return ErrOver
}

func read(dir string) (o Offer, err error) {
	b, err := plainfile.ReadFile(filepath.Join(dir, hold.OfferFile))
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("reading the offer: %w", err)
	}
	if o.Payload, err = plainfile.ReadFile(filepath.Join(dir, hold.PayloadFile)); err != nil {
		return o, err
	}
	if o.ID != filepath.Base(dir) || Digest(o.Payload) != o.Digest {
		return o, ErrChanged
	}
	return o, nil
}

// List returns the offers that can be answered, oldest first. It leaves out those whose
// process or client is gone, that have an answer or have expired, or that cannot be read; and
// those of a kind that this version does not know, such as the forms of earlier ones.
func (d Dir) List(now time.Time) ([]Offer, error) {
	names, err := os.ReadDir(d.open())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	here := evidence.ThisMachine()
	var list []Offer
	for _, n := range names {
		if !IsID(n.Name()) {
			continue
		}
		if _, err := os.Stat(d.open(n.Name(), hold.AnswerFile)); err == nil {
			continue
		}
		if o, err := read(d.open(n.Name())); err == nil && answers[o.Kind] != nil && d.waits(&o, here, now) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Made, b.Made), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// waits reports whether a process waits for an answer to o.
func (d Dir) waits(o *Offer, here evidence.Machine, now time.Time) bool {
	if event.MillisOf(now) >= o.Expires || here.Presence(o.Client, o.Made) == state.Gone {
		return false
	}
	switch here.Presence(o.Waiter, o.Made) {
	case state.Alive:
		return true
	case state.Gone:
		return false
	}
	info, err := os.Stat(d.open(o.ID, hold.OfferFile)) // on another machine: it keeps this file fresh while it lives
	return err == nil && now.Sub(info.ModTime()) < silent
}

// Give gives the answer a to the offer that it names. Of several answers one is accepted; the
// others get a *TakenError. Other errors are ErrNone, ErrOver, ErrExpired, ErrChanged,
// ErrAlways, and those of an invalid answer.
func (d Dir) Give(a Answer, now time.Time) error {
	o, err := d.Load(a.Offer)
	if err != nil {
		return err
	}
	if err := o.Fits(a); err != nil {
		return err
	}
	if by, ok := d.Answered(o.ID); ok {
		return &TakenError{by}
	}
	if event.MillisOf(now) >= o.Expires {
		return ErrExpired
	}
	if !d.waits(&o, evidence.ThisMachine(), now) {
		return d.Over(o.ID)
	}
	a.At = event.MillisOf(now)
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	err = atomicfile.Create(d.open(o.ID, hold.AnswerFile), b)
	switch {
	case errors.Is(err, fs.ErrExist):
		by, _ := d.Answered(o.ID)
		return &TakenError{by}
	case errors.Is(err, fs.ErrNotExist):
		return d.Over(o.ID)
	}
	return err
}

// Deliver is Give, and waits for the outcome of the answer. If the client did not get it, or
// another counted, the outcome says why.
func (d Dir) Deliver(o *Offer, a Answer) (Outcome, error) {
	if err := d.Give(a, time.Now()); err != nil {
		return Outcome{}, err
	}
	out, known := d.Outcome(a.Offer, Delivery)
	if !known {
		return Outcome{Why: "the process that holds the call has not taken it yet"}, nil
	}
	if out.Taken && a.Word == Deny {
		if ours, known := o.Refused(recorded); known && !ours {
			return Outcome{Why: "it was answered at the session in the same moment, and that counts"}, nil
		}
	}
	return out, nil
}

// shownFile exists once a command has shown the offer.
const shownFile = "shown"

// Show notes that the user was shown the whole offer; Shown reports it. A call that was never
// on a screen cannot be allowed by its session's name.
func (d Dir) Show(id string) error { return os.WriteFile(d.open(id, shownFile), nil, fileMode) }

// Shown reports whether the user was shown the whole offer.
func (d Dir) Shown(id string) bool {
	_, err := os.Stat(d.open(id, shownFile))
	return err == nil
}

// Answered returns the answer that an offer was given, even if it is over.
func (d Dir) Answered(id string) (a Answer, ok bool) {
	if !IsID(id) {
		return a, false
	}
	for _, dir := range [...]string{d.open(id), d.done(id)} {
		b, err := plainfile.ReadFile(filepath.Join(dir, hold.AnswerFile))
		if err == nil && json.Unmarshal(b, &a) == nil {
			return a, true
		}
	}
	return a, false
}

// Past finds an offer that is over, by the beginning of its id.
func (d Dir) Past(beginning string) (id string, ok bool) {
	names, _ := os.ReadDir(d.done()) // none yet, or unreadable: none is found
	for _, n := range names {
		if beginning != "" && strings.HasPrefix(n.Name(), beginning) && IsID(n.Name()) {
			return n.Name(), true
		}
	}
	return "", false
}

// Close stores what became of an offer, which takes no answer any more. The question and the
// user's words are removed; who answered is kept for an hour.
func (d Dir) Close(id string, out Outcome) error {
	b, err := json.Marshal(out)
	if err != nil || !IsID(id) || !hold.Close(string(d), id, b) {
		return err
	}
	a, ok := d.Answered(id)
	if !ok {
		return nil
	}
	a.Message, a.Choices = "", nil
	if b, err = json.Marshal(a); err != nil {
		return err
	}
	return atomicfile.Write(d.done(id, hold.AnswerFile), b, fileMode, false)
}

// Outcome waits, at most that long, until it is known what became of an offer.
func (d Dir) Outcome(id string, wait time.Duration) (out Outcome, known bool) {
	if !IsID(id) {
		return out, false
	}
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		b, err := plainfile.ReadFile(d.done(id, hold.OutcomeFile))
		if err == nil && json.Unmarshal(b, &out) == nil {
			return out, true
		}
		if time.Now().After(end) {
			return out, false
		}
	}
}

// prune removes offers that were closed an hour ago, and those whose process died without
// closing them.
func (d Dir) prune(now time.Time) {
	done, _ := os.ReadDir(d.done()) // none yet, or unreadable: nothing to remove
	for _, n := range done {
		if info, err := n.Info(); err == nil && now.Sub(info.ModTime()) > kept {
			_ = os.RemoveAll(d.done(n.Name()))
		}
	}
	here := evidence.ThisMachine()
	open, _ := os.ReadDir(d.open())
	for _, n := range open {
		info, err := n.Info()
		if err != nil || now.Sub(info.ModTime()) < silent {
			continue
		}
		if o, err := read(d.open(n.Name())); err != nil || !d.waits(&o, here, now) {
			_ = os.RemoveAll(d.open(n.Name()))
		}
	}
}
