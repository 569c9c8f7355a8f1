package ctl

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"beckon/state/offer"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// account signs accesses, as a hub's does.
func account(t *testing.T) nkeys.KeyPair {
	t.Helper()
	pair, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// claims returns those of an access that may speak to the hosts of its user.
func claims(t *testing.T, user, host string) (*jwt.UserClaims, nkeys.KeyPair) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	c := jwt.NewUserClaims(key)
	c.Name = Name(user, host)
	c.Pub.Allow.Add(Spoken(user, key))
	return c, pair
}

func identity(t *testing.T, account nkeys.KeyPair, c *jwt.UserClaims, pair nkeys.KeyPair) *Identity {
	t.Helper()
	token, err := c.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	id, err := NewIdentity(token, string(seed))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func access(t *testing.T, account nkeys.KeyPair, user, host string) *Identity {
	t.Helper()
	c, pair := claims(t, user, host)
	return identity(t, account, c, pair)
}

// counter is a desk that counts requests.
type counter struct {
	denied  error
	offers  []offer.Offer
	answers []offer.Answer
	said    []string
	stopped []string
	notes   []Entry
}

func (d *counter) Listens() bool                      { return true }
func (d *counter) Allowed(Who) error                  { return d.denied }
func (d *counter) Look(string) ([]offer.Offer, error) { return d.offers, nil }
func (d *counter) Note(e Entry)                       { d.notes = append(d.notes, e) }
func (d *counter) Stop(w Who, s string) (string, error) {
	d.stopped = append(d.stopped, s)
	return "stops", nil
}
func (d *counter) Say(w Who, s, text string) (string, error) {
	d.said = append(d.said, text)
	return "said", nil
}
func (d *counter) Answer(w Who, a offer.Answer) (string, error) {
	d.answers = append(d.answers, a)
	return "done by " + w.String(), nil
}

const link = "ann.box.n1.run1"

// rig is an owner and an identity that may speak to it.
type rig struct {
	t       *testing.T
	account nkeys.KeyPair
	desk    *counter
	owner   *Owner
	laptop  *Identity
	now     time.Time
}

func newRig(t *testing.T) *rig {
	a := account(t)
	payload := []byte(`{"tool_input":{"command":"make"}}`)
	r := &rig{t: t, account: a, laptop: access(t, a, "ann", "laptop"), now: time.Unix(1e9, 0),
		desk: &counter{offers: []offer.Offer{{ID: "O", Record: "s1", Digest: offer.Digest(payload), Payload: payload}}}}
	r.owner = &Owner{ID: access(t, a, "ann", "box"), Link: link, Desk: r.desk, Now: func() time.Time { return r.now }}
	return r
}

// send has an identity ask, and returns the reply; ok is false if there is none.
func (r *rig) send(id *Identity, q asking) (told response, ok bool) {
	r.t.Helper()
	subject, reply := Subject(link, id.Key), Inbox(id.Key)+".x"
	data, err := id.Seal(subject, reply, q)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.handle(id, subject, reply, data)
}

func (r *rig) handle(id *Identity, subject, reply string, data []byte) (told response, ok bool) {
	r.t.Helper()
	out := r.owner.Handle(subject, reply, data)
	if out == nil {
		return told, false
	}
	if _, err := id.open(reply, "", out, time.Now(), func(*jwt.UserClaims) bool { return true }, &told); err != nil {
		r.t.Fatal(err)
	}
	return told, true
}

func (r *rig) nonce(id *Identity, session string) string {
	r.t.Helper()
	told, ok := r.send(id, asking{Op: opLook, Session: session})
	if !ok || told.Refused != "" || told.Nonce == "" {
		r.t.Fatalf("%+v, %v", told, ok)
	}
	return told.Nonce
}

func (r *rig) allow(id *Identity, nonce string) (response, bool) {
	return r.send(id, asking{Op: opAnswer, Session: "s1", Nonce: nonce, Answer: &offer.Answer{Offer: "O", Word: offer.Allow}})
}

func TestOrders(t *testing.T) {
	r := newRig(t)
	told, _ := r.send(r.laptop, asking{Op: opLook, Session: "s1"})
	if len(told.Offers) != 1 || string(told.Offers[0].Payload) != `{"tool_input":{"command":"make"}}` {
		t.Fatalf("%+v", told)
	}
	if told, _ := r.allow(r.laptop, told.Nonce); told.Done != "done by ann at laptop" || len(r.desk.answers) != 1 {
		t.Errorf("%+v, %+v", told, r.desk.answers)
	}
	if told, _ := r.send(r.laptop, asking{Op: opSay, Session: "s1", Nonce: r.nonce(r.laptop, "s1"), Text: "go on"}); told.Done != "said" {
		t.Errorf("%+v", told)
	}
	if told, _ := r.send(r.laptop, asking{Op: opStop, Session: "s1", Nonce: r.nonce(r.laptop, "s1")}); told.Done != "stops" {
		t.Errorf("%+v", told)
	}
	if told, _ := r.send(r.laptop, asking{Op: "dance", Session: "s1", Nonce: r.nonce(r.laptop, "s1")}); told.Refused == "" {
		t.Errorf("%+v", told)
	}
	if n := len(r.desk.notes); n != 4 || r.desk.notes[0].User != "ann" || r.desk.notes[0].Host != "laptop" || r.desk.notes[0].Word != "allow" || r.desk.notes[0].Key != r.laptop.Key {
		t.Errorf("%+v", r.desk.notes)
	}
}

// An order counts once, for half a minute, for the key and the session that its number was
// issued for, and only for an offer of that session.
func TestNumbers(t *testing.T) {
	r := newRig(t)
	n := r.nonce(r.laptop, "s1")
	if told, _ := r.allow(r.laptop, n); told.Done == "" {
		t.Fatalf("%+v", told)
	}
	refuse := func(what string, id *Identity, nonce string) {
		t.Helper()
		if told, ok := r.allow(id, nonce); !ok || told.Refused != errOld.Error() || len(r.desk.answers) != 1 {
			t.Errorf("%s: %+v, %d answers", what, told, len(r.desk.answers))
		}
	}
	refuse("twice", r.laptop, n)
	refuse("none", r.laptop, "")
	refuse("another session's", r.laptop, r.nonce(r.laptop, "s2"))
	refuse("another key's", access(t, r.account, "ann", "desk"), r.nonce(r.laptop, "s1"))
	n = r.nonce(r.laptop, "s1")
	r.now = r.now.Add(nonceFor + time.Second)
	refuse("an old one", r.laptop, n)
	n = r.nonce(r.laptop, "s1")
	for range maxOfKey {
		r.nonce(r.laptop, "s1")
	}
	refuse("one of too many", r.laptop, n)
	told, _ := r.send(r.laptop, asking{Op: opAnswer, Session: "s1", Nonce: r.nonce(r.laptop, "s1"), Answer: &offer.Answer{Offer: "P", Word: offer.Allow}})
	if told.Refused != offer.ErrOver.Error() {
		t.Errorf("another offer: %+v", told)
	}
	for i := range 3 * maxNonces { // many keys do not fill the memory
		r.owner.give(fmt.Sprint(i), "s")
	}
	if len(r.owner.nonces) > maxNonces {
		t.Errorf("%d numbers are kept", len(r.owner.nonces))
	}
}

// A sender that is not named gets a refusal, and nothing else happens.
func TestNotAllowed(t *testing.T) {
	r := newRig(t)
	r.desk.denied = errors.New("not you")
	for _, op := range []string{opLook, opAnswer, opSay, opStop} {
		if told, ok := r.send(r.laptop, asking{Op: op, Session: "s1"}); !ok || told.Refused != "not you" || told.Nonce != "" || told.Offers != nil {
			t.Errorf("%s: %+v", op, told)
		}
	}
	if len(r.desk.answers)+len(r.desk.said)+len(r.desk.stopped) != 0 || len(r.desk.notes) != 4 {
		t.Errorf("%+v", r.desk)
	}
}

// A message that no authorised key has signed gets no reply.
func TestForged(t *testing.T) {
	r := newRig(t)
	subject, reply := Subject(link, r.laptop.Key), Inbox(r.laptop.Key)+".x"
	good, err := r.laptop.Seal(subject, reply, asking{Op: opLook, Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if err := json.Unmarshal(good, &e); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*envelope)) []byte {
		f := envelope{e.Access, append([]byte(nil), e.Body...), append([]byte(nil), e.Sig...)}
		change(&f)
		data, _ := json.Marshal(f)
		return data
	}
	// sealed returns the message of another access.
	sealed := func(id *Identity, subject string) []byte {
		data, err := id.Seal(subject, reply, asking{Op: opLook, Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	changed := func(change func(*jwt.UserClaims), by nkeys.KeyPair) (*Identity, string) {
		c, pair := claims(t, "ann", "laptop")
		change(c)
		id := identity(t, by, c, pair)
		return id, Subject(link, id.Key)
	}
	eve := access(t, r.account, "eve", "laptop")
	// A hub can issue another access for the sender's key.
	c := jwt.NewUserClaims(r.laptop.Key)
	c.Name = Name("root", "laptop")
	c.Pub.Allow.Add(Spoken("*", r.laptop.Key))
	renamed, err := c.Encode(r.account)
	if err != nil {
		t.Fatal(err)
	}
	stranger, strangerTo := changed(func(*jwt.UserClaims) {}, account(t))
	ended, endedTo := changed(func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Minute).Unix() }, r.account)
	early, earlyTo := changed(func(c *jwt.UserClaims) { c.NotBefore = time.Now().Add(time.Hour).Unix() }, r.account)
	looker, lookerTo := changed(func(c *jwt.UserClaims) { c.Pub.Allow = nil; c.Pub.Allow.Add("$JS.API.>") }, r.account)
	other, otherTo := changed(func(c *jwt.UserClaims) { c.Pub.Allow = nil; c.Pub.Allow.Add(Spoken("bob", c.Subject)) }, r.account)
	posing, posingTo := changed(func(c *jwt.UserClaims) { c.IssuerAccount = r.laptop.account }, account(t))
	for what, m := range map[string]struct {
		subject, reply string
		data           []byte
	}{
		"no message":           {subject, reply, []byte("x")},
		"an empty one":         {subject, reply, []byte("{}")},
		"a long one":           {subject, reply, append([]byte(strings.Repeat(" ", maxMessage)), good...)},
		"another body":         {subject, reply, with(func(e *envelope) { e.Body[8] ^= 1 })},
		"another signature":    {subject, reply, with(func(e *envelope) { e.Sig[3] ^= 1 })},
		"no signature":         {subject, reply, with(func(e *envelope) { e.Sig = nil })},
		"another's access":     {subject, reply, with(func(e *envelope) { e.Access = access(t, r.account, "ann", "laptop").token })},
		"its key's other one":  {subject, reply, with(func(e *envelope) { e.Access = renamed })},
		"an access changed":    {subject, reply, with(func(e *envelope) { e.Access = e.Access[:len(e.Access)-4] + "AAAA" })},
		"another link's":       {Subject("ann.box.n1.run2", r.laptop.Key), reply, sealed(r.laptop, Subject("ann.box.n1.run2", r.laptop.Key))},
		"sent to another link": {subject, reply, sealed(r.laptop, Subject("ann.box.n1.run2", r.laptop.Key))},
		"sent as another":      {Subject(link, eve.Key), Inbox(eve.Key) + ".x", good},
		"another user's":       {Subject(link, eve.Key), Inbox(eve.Key) + ".x", sealed(eve, Subject(link, eve.Key))},
		"a reply elsewhere":    {subject, Inbox(r.laptop.Key) + ".y", good},
		"a fleet of its own":   {strangerTo, reply, sealed(stranger, strangerTo)},
		"an access that ended": {endedTo, reply, sealed(ended, endedTo)},
		"one not begun":        {earlyTo, reply, sealed(early, earlyTo)},
		"an access to look":    {lookerTo, reply, sealed(looker, lookerTo)},
		"to others' hosts":     {otherTo, reply, sealed(other, otherTo)},
		"a signer of its own":  {posingTo, reply, sealed(posing, posingTo)},
	} {
		if out := r.owner.Handle(m.subject, m.reply, m.data); out != nil {
			t.Errorf("%s is replied to", what)
		}
	}
	for _, to := range []string{"", "$KV.beckon.ann.box.n1.p", Inbox(r.laptop.Key), Inbox(r.laptop.Key) + ".", Inbox(r.laptop.Key) + ".>", Inbox(eve.Key) + ".x", "_INBOX.x"} {
		data, err := r.laptop.Seal(subject, to, asking{Op: opLook, Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		if out := r.owner.Handle(subject, to, data); out != nil {
			t.Errorf("a reply goes to %q", to)
		}
	}
	for _, n := range r.desk.notes {
		if n.User != "" || n.Refused == "" {
			t.Errorf("%+v", n)
		}
	}
	if _, ok := r.handle(r.laptop, subject, reply, good); !ok {
		t.Error("the real one is not replied to")
	}
}

// A reply counts only if the machine that was asked has signed it for that question.
func TestForgedReply(t *testing.T) {
	r := newRig(t)
	out, err := r.owner.ID.Seal("_INBOX_1", "", response{Done: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	var told response
	any := func(*jwt.UserClaims) bool { return true }
	if _, err := r.laptop.open("_INBOX_1", "", out, time.Now(), any, &told); err != nil || told.Done != "yes" {
		t.Error(err)
	}
	if _, err := r.laptop.open("_INBOX_2", "", out, time.Now(), any, &told); err == nil {
		t.Error("the reply to another question is taken")
	}
}

// noise returns text that compresses to no less than three quarters.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return []byte(base64.StdEncoding.EncodeToString(b))[:n]
}

// A long offer is sent compressed, one that is too long without its question.
func TestLongOffer(t *testing.T) {
	r := newRig(t)
	r.desk.offers[0].Payload = noise(2 * maxPayload)
	for range 20 {
		r.desk.offers = append(r.desk.offers, r.desk.offers[0])
	}
	r.desk.offers[1].Payload = noise(maxPayload)
	subject, reply := Subject(link, r.laptop.Key), Inbox(r.laptop.Key)+".x"
	data, err := r.laptop.Seal(subject, reply, asking{Op: opLook, Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	if out := r.owner.Handle(subject, reply, data); len(out) == 0 || len(out) > maxMessage {
		t.Errorf("a reply of %d bytes", len(out))
	}
	told, _ := r.handle(r.laptop, subject, reply, data)
	if len(told.Offers) != maxOffers || told.Offers[0].Payload != nil || len(told.Offers[1].Payload) != maxPayload || Fits(&r.desk.offers[0]) {
		t.Errorf("%d offers", len(told.Offers))
	}
}

// A compressed offer is decompressed up to the limit, and must have its digest.
func TestPackedOffer(t *testing.T) {
	o := offer.Offer{ID: strings.Repeat("A", 26), Record: "s1", Payload: []byte(`{"a":"` + strings.Repeat("long ", maxUnpacked/6) + `"}`)}
	o.Digest = offer.Digest(o.Payload)
	a := asked{Offer: o}
	if n := a.pack(o.Payload, maxPayload); n == 0 || n > maxPayload || a.Payload != nil || !Fits(&o) {
		t.Fatalf("%d bytes are packed in %d", len(o.Payload), n)
	}
	if got, err := a.sound("s1"); err != nil || !bytes.Equal(got.Payload, o.Payload) {
		t.Errorf("%d bytes come, %v", len(got.Payload), err)
	}
	a.Digest = offer.Digest([]byte("other"))
	if _, err := a.sound("s1"); err == nil {
		t.Error("another payload is taken")
	}
	long := offer.Offer{Payload: bytes.Repeat([]byte("x"), maxUnpacked+1)}
	if Fits(&long) {
		t.Error("what is longer than may be unpacked is sent")
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 1 << 10 {
		_, _ = w.Write(make([]byte, 64<<10))
	}
	_ = w.Close()
	for what, packed := range map[string][]byte{"a bomb": bomb.Bytes(), "what is not packed": []byte("x"), "half of it": a.Packed[:len(a.Packed)/2]} {
		bad := asked{Offer: o, Packed: packed}
		if _, err := bad.sound("s1"); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// What another machine sends as an offer must be one, of the session that was asked for, with
// a payload that has its digest.
func TestUnsoundOffer(t *testing.T) {
	payload := []byte("x")
	good := asked{Offer: offer.Offer{ID: strings.Repeat("A", 26), Record: "s1", Digest: offer.Digest(payload)}, Payload: payload}
	if o, err := good.sound("s1"); err != nil || string(o.Payload) != "x" {
		t.Error(err)
	}
	for what, change := range map[string]func(*asked){
		"no id": func(a *asked) { a.ID = "" }, "a short id": func(a *asked) { a.ID = "AB" }, "an escape code": func(a *asked) { a.ID = "\x1b" + a.ID[1:] },
		"another session's": func(a *asked) { a.Record = "s2" }, "another payload": func(a *asked) { a.Payload = []byte("y") },
	} {
		bad := good
		change(&bad)
		if _, err := bad.sound("s1"); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

// A call is shown as its digest covers it, without what a hub added.
func TestOfferOfItsPayload(t *testing.T) {
	payload := []byte(`{"tool_name":"Bash","cwd":"/home/ann","tool_input":{"command":"rm -r x","plan":"Read on."}}`)
	a := asked{Offer: offer.Offer{ID: strings.Repeat("A", 26), Kind: offer.Permission, Record: "s1", Tool: "Read", Cwd: "/tmp", Digest: offer.Digest(payload)}, Payload: payload}
	if o, err := a.sound("s1"); err != nil || o.Tool != "Bash" || o.Cwd != "/home/ann" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, k := range []offer.Kind{offer.Plan, offer.Question, offer.Form, offer.Reply, ""} {
		if a.Kind = k; k == offer.Plan {
			a.Tool = "ExitPlanMode"
		}
		if _, err := a.sound("s1"); err == nil {
			t.Errorf("a call is shown as a %q", k)
		}
	}
}

func TestNames(t *testing.T) {
	a := account(t)
	for _, w := range [][2]string{{"ann", "box"}, {"ann", ""}, {"a/b", "c/d"}, {"a%2Fb", "x"}, {"ä ö", "ü"}} {
		if id := access(t, a, w[0], w[1]); id.User != w[0] || id.Host != w[1] {
			t.Errorf("%q: %+v", w, id.Who)
		}
	}
	if Name("a/b", "c") == Name("a", "b/c") {
		t.Error("two names are one")
	}
	c, pair := claims(t, "ann", "box")
	c.Name = "owner"
	token, err := c.Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := pair.Seed()
	if _, err := NewIdentity(token, string(seed)); err == nil {
		t.Error("an access with no such name is taken")
	}
	_, other := claims(t, "ann", "box")
	seed, _ = other.Seed()
	if _, err := NewIdentity(access(t, a, "ann", "box").token, string(seed)); err == nil {
		t.Error("an access with another's key is taken")
	}
	if _, err := NewIdentity("", ""); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Error(err)
	}
	for s, want := range map[string]bool{link: true, "": false, "a.b.c": false, "a.b.c.d.e": false, "a.*.c.d": false, "a.>.c.d": false, "a..c.d": false, "a.b c.c.d": false, strings.Repeat("x", 81) + ".b.c.d": false} {
		if isLink(s) != want {
			t.Errorf("%q", s)
		}
	}
}

// FuzzHandle: no message makes an owner fail or act.
func FuzzHandle(f *testing.F) {
	f.Add("a", "b", []byte(`{"access":"x.y.z","body":"e30=","sig":""}`))
	f.Fuzz(func(t *testing.T, key, reply string, data []byte) {
		a, err := nkeys.CreateAccount()
		if err != nil {
			t.Fatal(err)
		}
		d := &counter{}
		o := &Owner{ID: access(t, a, "ann", "box"), Link: link, Desk: d, Now: time.Now}
		if out := o.Handle(Subject(link, key), reply, data); out != nil || len(d.answers)+len(d.said)+len(d.stopped) != 0 {
			t.Errorf("%q", out)
		}
	})
}
