package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"beckon/render"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Link publishes this machine's rows.
type Link struct {
	Credential Credential
	Level      Level
	Forget     bool              // remove the rows at the end, instead of leaving them to become stale
	Log        func(text string) // is called with problems, and when they are over
	clock      func() time.Time  // time.Now unless it is set
}

// Times of a link: after renewal all rows are put again, after retry what failed, and changes are
// put at most every pause. Tests use a shorter beat.
const (
	renewal = 5 * time.Minute
	retry   = time.Second
	pause   = 200 * time.Millisecond
)

var beat = Beat

// maxPending is how many rows are sent at once. Each must be acknowledged within patience of
// being sent, so they must not wait for one another on a slow network.
const maxPending = 64

// Run publishes the rows until ctx ends. It waits for a server that is away, and returns an
// error only for an access that cannot work.
func (l Link) Run(ctx context.Context, rows <-chan []render.Row) error {
	prefix, err := prefixOf(l.Credential.User, l.Credential.Host)
	if err != nil {
		return err
	}
	if l.clock == nil {
		l.clock = time.Now
	}
	r := &run{Link: l, prefix: prefix, id: rand.Text()[:10], sent: map[string]string{}}
	wake := make(chan struct{}, 1) // the connection was made or lost
	if r.nc, err = dial(l.Credential, "beckon link "+l.Credential.Host, wake); err != nil {
		return err
	}
	defer r.nc.Close()
	r.js, err = jetstream.New(r.nc,
		jetstream.WithPublishAsyncMaxPending(maxPending), jetstream.WithPublishAsyncTimeout(patience))
	if err != nil {
		return err
	}
	select {
	case r.rows = <-rows:
	case <-ctx.Done():
		return nil
	}
	for {
		next := time.After(r.turn(ctx))
		time.Sleep(pause)
		select {
		case <-ctx.Done():
			r.end()
			return nil
		case r.rows = <-rows:
		case <-wake:
			r.again = time.Time{}
		case <-next:
		}
	}
}

type run struct {
	Link
	prefix string
	id     string
	nc     *nats.Conn
	js     jetstream.JetStream
	rows   []render.Row
	sent   map[string]string // rows as last sent, with the time of their state
	again  time.Time         // when all rows are put again; zero while it is not known what the server has
	said   string            // the newest problem
}

// turn publishes what has changed, and returns how long nothing is due unless something changes.
func (r *run) turn(ctx context.Context) time.Duration {
	err := away(r.Credential, r.nc)
	if r.nc.IsConnected() {
		if err = r.publish(ctx); err != nil {
			err = fmt.Errorf("publishing to %s: %w", r.Credential.URL, err)
		}
	}
	r.say(err)
	if err != nil {
		r.again = time.Time{}
		return retry + mathrand.N(retry)
	}
	return beat*9/10 + mathrand.N(beat/10+1)
}

// publish puts the rows that changed, all of them after a new connection and after renewal, and
// then the presence.
func (r *run) publish(ctx context.Context) error {
	if r.again.IsZero() {
		if err := makeBucket(ctx, r.js); err != nil {
			return err
		}
	}
	if now := time.Now(); now.After(r.again) {
		r.again = now.Add(renewal*3/4 + mathrand.N(renewal/4))
		for seat := range r.sent {
			r.sent[seat] = "" // it is put, or removed if it is no longer there
		}
	}
	presence := presence{schema, r.id, word(r.Credential.User), word(r.Credential.Host)}
	return put(ctx, r.js, append(r.changes(), message{key: r.prefix + "." + presencePart, data: marshal(presence)}))
}

func (r *run) changes() (list []message) {
	here := make(map[string]bool, len(r.rows))
	for i := range r.rows[:min(len(r.rows), maxRows)] {
		row := &r.rows[i]
		seat := seatOf(row)
		if here[seat] {
			continue // two records in one seat: the first represents it
		}
		here[seat] = true
		w := wire{Schema: schema, Run: r.id, Row: permitted(row, r.Level.text)}
		next := row.Since.Format(time.RFC3339Nano) + string(marshal(w))
		if next == r.sent[seat] {
			continue
		}
		r.sent[seat] = next
		w.Age = max(0, r.clock().Sub(row.Since).Milliseconds())
		list = append(list, message{key: r.prefix + "." + rowPart + "." + seat, data: marshal(w)})
	}
	for seat := range r.sent {
		if !here[seat] {
			delete(r.sent, seat)
			list = append(list, message{key: r.prefix + "." + rowPart + "." + seat, gone: true})
		}
	}
	return list
}

func marshal(v any) []byte {
	b, _ := json.Marshal(v) // what this package sends always encodes
	return b
}

// end removes the rows, if they are to be forgotten; without that a view notices by time.
func (r *run) end() {
	if !r.nc.IsConnected() || !r.Forget {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r.rows = nil
	_ = put(ctx, r.js, append(r.changes(), message{key: r.prefix + "." + presencePart, gone: true}))
}

// say logs a problem once, and when it is over.
func (r *run) say(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == r.said {
		return
	}
	if r.said = text; text == "" {
		text = "publishing to " + r.Credential.URL + " as " + r.Credential.Host
	}
	r.Log(text)
}

// away returns why there is no connection.
func away(a Credential, nc *nats.Conn) error {
	if err := nc.LastError(); err != nil {
		return fmt.Errorf("no connection to %s: %w", a.URL, err)
	}
	return fmt.Errorf("no connection to %s", a.URL)
}

// makeBucket makes the bucket unless it is there. A host may do no more than that: it cannot
// change or delete one.
func makeBucket(ctx context.Context, js jetstream.JetStream) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: stream, Subjects: []string{subjects + ">"}, Description: "rows of beckon's sessions, the newest value of each",
		MaxMsgsPerSubject: 1, MaxAge: Keep, MaxMsgSize: MaxMessage, MaxMsgs: maxKeys, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: true,
	})
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // it may be of several replicas
		return fmt.Errorf("making the bucket %s: %w", bucket, err)
	}
	return nil
}

// put sends values, and returns once the server has all of them.
func put(ctx context.Context, js jetstream.JetStream, list []message) error {
	futures := make([]jetstream.PubAckFuture, 0, len(list))
	for _, m := range list {
		msg := nats.NewMsg(subjects + m.key)
		msg.Data = m.data
		if m.gone {
			msg.Header.Set("KV-Operation", "DEL")
		}
		f, err := js.PublishMsgAsync(msg, jetstream.WithStallWait(patience)) // a slow network accepts one after another
		if err != nil {
			return err
		}
		futures = append(futures, f)
	}
	for _, f := range futures {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
