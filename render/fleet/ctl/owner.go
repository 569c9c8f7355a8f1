package ctl

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/state/offer"

	"github.com/nats-io/jwt/v2"
)

// The orders, and the question before each.
const (
	opLook   = "look"
	opAnswer = "answer"
	opSay    = "say"
	opStop   = "stop"
)

// asking is the body of a message to a link.
type asking struct {
	Op      string        `json:"op"`
	Session string        `json:"session"` // its record
	Nonce   string        `json:"nonce,omitempty"`
	Answer  *offer.Answer `json:"answer,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// response is the body of a reply.
type response struct {
	Refused string  `json:"refused,omitempty"` // why, in words
	Done    string  `json:"done,omitempty"`    // what was done, in words
	Nonce   string  `json:"nonce,omitempty"`
	Offers  []asked `json:"offers,omitempty"`
}

// asked is an offer on the wire. A long payload is compressed, and left out if it is still too
// long.
type asked struct {
	offer.Offer
	Payload []byte `json:"payload,omitempty"`
	Packed  []byte `json:"packed,omitempty"` // compressed with gzip, instead of the payload
}

// Limits of one reply, with payloads in bytes: base64 twice and the rest then fit into a
// message of a hub. maxUnpacked is the limit after decompression.
const (
	maxPayload  = 24 << 10
	maxUnpacked = 256 << 10
	maxOffers   = 8
)

// pack adds a payload to a, if there is room, and returns the room it takes.
func (a *asked) pack(payload []byte, room int) int {
	if len(payload) <= room {
		a.Payload = payload
		return len(payload)
	}
	if len(payload) > maxUnpacked {
		return 0
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(payload)
	if errors.Join(err, w.Close()) != nil || b.Len() > room {
		return 0
	}
	a.Packed = b.Bytes()
	return b.Len()
}

// payload returns the decompressed payload.
func (a *asked) payload() ([]byte, error) {
	if a.Packed == nil {
		return a.Payload, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(a.Packed))
	if err != nil {
		return nil, err
	}
	payload, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(payload) > maxUnpacked {
		err = errors.New("it is too long")
	}
	return payload, err
}

// Desk carries out the orders that a machine receives. The sender gets its errors.
type Desk interface {
	// Listens reports whether anybody may answer.
	Listens() bool
	// Allowed returns an error unless the sender may answer for sessions of this machine.
	Allowed(Who) error
	// Look returns a session's open requests.
	Look(session string) ([]offer.Offer, error)
	// Answer, Say and Stop carry out an order, and return the result in words.
	Answer(Who, offer.Answer) (done string, err error)
	Say(w Who, session, text string) (done string, err error)
	Stop(w Who, session string) (done string, err error)
	// Note records an order to this machine and its result.
	Note(Entry)
}

// Entry is one recorded message.
type Entry struct {
	At      time.Time `json:"at"`
	User    string    `json:"user,omitempty"` // empty if unknown
	Host    string    `json:"host,omitempty"`
	Key     string    `json:"key,omitempty"`
	Op      string    `json:"op,omitempty"`
	Session string    `json:"session,omitempty"`
	Offer   string    `json:"offer,omitempty"`
	Word    string    `json:"word,omitempty"`
	Done    string    `json:"done,omitempty"`
	Refused string    `json:"refused,omitempty"`
}

// Owner handles the messages for one run of one link.
type Owner struct {
	ID   *Identity
	Link string
	Desk Desk
	Now  func() time.Time // time.Now, whose differences do not depend on clock changes

	mu     sync.Mutex
	nonces []nonce // the oldest first
}

// nonce is a one-time number for an order.
type nonce struct {
	text, key, session string
	at                 time.Time
}

// Numbers are valid for nonceFor; at most maxNonces, and maxOfKey of one key, are stored.
const (
	nonceFor  = 30 * time.Second
	maxNonces = 256
	maxOfKey  = 16
)

// Fits reports whether an offer is short enough to be sent whole.
func Fits(o *offer.Offer) bool {
	return len(o.Payload) <= maxPayload || new(asked).pack(o.Payload, maxPayload) > 0
}

// errOld is the error for an order with an invalid number.
var errOld = errors.New("it is too old, was carried out already or was meant for another machine; nothing was done")

// Handle carries out a message and returns the reply to it, nil if its sender is unknown.
func (o *Owner) Handle(subject, reply string, data []byte) []byte {
	e := Entry{At: time.Now().UTC()}
	who, q, err := o.read(subject, reply, data)
	e.User, e.Host, e.Key, e.Op, e.Session = who.User, who.Host, who.Key, q.Op, q.Session
	if err != nil {
		e.Refused = err.Error()
		o.Desk.Note(e)
		return nil
	}
	if q.Answer != nil {
		e.Offer, e.Word = q.Answer.Offer, string(q.Answer.Word)
	}
	t, err := o.do(who, q)
	if err != nil {
		t = response{Refused: err.Error()}
	}
	e.Done, e.Refused = t.Done, t.Refused
	if q.Op != opLook || err != nil {
		o.Desk.Note(e)
	}
	out, err := o.ID.Seal(reply, "", t)
	if err != nil {
		return nil
	}
	return out
}

// read parses a message that somebody has signed for this link.
func (o *Owner) read(subject, reply string, data []byte) (who Who, q asking, err error) {
	key, ok := strings.CutPrefix(subject, root+o.Link+".")
	if !ok {
		return who, q, forged("it is for another link")
	}
	who, err = o.ID.open(subject, reply, data, time.Now(), func(c *jwt.UserClaims) bool { return c.Subject == key && permits(c, o.Link) }, &q)
	if err != nil {
		return Who{}, asking{}, err
	}
	// This host may publish wherever a reply is wanted, so the sender must not choose the
	// subject.
	if rest, ok := strings.CutPrefix(reply, Inbox(key)+"."); !ok || rest == "" || strings.ContainsAny(rest, "*> \t\r\n") {
		return Who{}, asking{}, forged("its reply would go elsewhere than to its sender")
	}
	return who, q, nil
}

func (o *Owner) do(who Who, q asking) (t response, err error) {
	if err := o.Desk.Allowed(who); err != nil {
		return t, err
	}
	if q.Op == opLook {
		return o.look(who, q.Session)
	}
	if !o.take(q.Nonce, who.Key, q.Session) {
		return t, errOld
	}
	switch {
	case q.Op == opAnswer && q.Answer != nil:
		t.Done, err = o.answer(who, q.Session, *q.Answer)
	case q.Op == opSay:
		t.Done, err = o.Desk.Say(who, q.Session, q.Text)
	case q.Op == opStop:
		t.Done, err = o.Desk.Stop(who, q.Session)
	default:
		err = fmt.Errorf("this beckon does not know the order %q", q.Op)
	}
	return t, err
}

func (o *Owner) look(who Who, session string) (t response, err error) {
	list, err := o.Desk.Look(session)
	if err != nil {
		return t, err
	}
	room := maxPayload
	for _, of := range list[:min(len(list), maxOffers)] {
		a := asked{Offer: of}
		room -= a.pack(of.Payload, room)
		t.Offers = append(t.Offers, a)
	}
	t.Nonce = o.give(who.Key, session)
	return t, nil
}

// answer answers an offer of the session that the number was given for.
func (o *Owner) answer(who Who, session string, a offer.Answer) (string, error) {
	list, err := o.Desk.Look(session)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(list, func(of offer.Offer) bool { return of.ID == a.Offer }) {
		return "", offer.ErrOver
	}
	return o.Desk.Answer(who, a)
}

// give creates a number for a key and a session.
func (o *Owner) give(key, session string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := nonce{rand.Text(), key, session, o.Now()}
	o.nonces = slices.DeleteFunc(o.nonces, func(old nonce) bool { return n.at.Sub(old.at) > nonceFor })
	drop := func(most int, of func(nonce) bool) { // the oldest of too many
		count := 0
		for _, old := range o.nonces {
			if of(old) {
				count++
			}
		}
		if i := slices.IndexFunc(o.nonces, of); i >= 0 && count >= most {
			o.nonces = slices.Delete(o.nonces, i, i+1)
		}
	}
	drop(maxOfKey, func(old nonce) bool { return old.key == key })
	drop(maxNonces, func(nonce) bool { return true })
	o.nonces = append(o.nonces, n)
	return n.text
}

// take reports whether a number is valid, and makes it invalid.
func (o *Owner) take(text, key, session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.nonces, func(n nonce) bool { return n.text == text })
	if i < 0 || text == "" {
		return false
	}
	n := o.nonces[i]
	o.nonces = slices.Delete(o.nonces, i, i+1)
	return n.key == key && n.session == session && o.Now().Sub(n.at) <= nonceFor
}
