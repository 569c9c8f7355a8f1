package fleet

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"reflect"
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

// Times of a link: retry is when what failed is put again, and pause the least time between two
// values. Tests use a shorter beat.
const (
	retry = time.Second
	pause = 200 * time.Millisecond
)

var beat = Beat

// Run publishes the rows until ctx ends. It waits for a server that is away, and returns an
// error only for an access that cannot work.
func (l Link) Run(ctx context.Context, rows <-chan []render.Row) error {
	key, err := keyOf(l.Credential.User, l.Credential.Host)
	if err != nil {
		return err
	}
	if l.clock == nil {
		l.clock = time.Now
	}
	r := &run{Link: l, key: key}
	wake := make(chan struct{}, 1) // the connection was made or lost
	if r.nc, err = dial(l.Credential, "beckon link "+l.Credential.Host, wake); err != nil {
		return err
	}
	defer r.nc.Close()
	if r.js, err = jetstream.New(r.nc); err != nil {
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
			r.made = false // it may be another server
		case <-next:
		}
	}
}

type run struct {
	Link
	key     string
	nc      *nats.Conn
	js      jetstream.JetStream
	rows    []render.Row
	sent    []render.Row // as far as they may leave
	changed time.Time    // sent
	at      time.Time    // when they were put
	made    bool         // the server has the bucket
	said    string       // the newest problem
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
		r.made = false
		return retry + mathrand.N(retry)
	}
	return time.Until(r.at.Add(beat*9/10 + mathrand.N(beat/10+1)))
}

// publish puts the rows if they changed, at every beat, and after each new connection.
func (r *run) publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var rows []render.Row
	for i := range r.rows {
		rows = append(rows, permitted(&r.rows[i], r.Level.text))
	}
	if !reflect.DeepEqual(rows, r.sent) || r.changed.IsZero() {
		r.sent, r.changed = rows, r.clock()
	} else if r.made && time.Since(r.at) < beat*9/10 {
		return nil
	}
	if !r.made {
		if err := makeBucket(ctx, r.js); err != nil {
			return err
		}
	}
	value := report{User: word(r.Credential.User), Host: word(r.Credential.Host), Changed: r.changed,
		List: render.List{Schema: render.ListSchema, GeneratedAt: r.clock(), Sessions: rows}}
	data := pack(&value)
	for len(data) > MaxMessage { // the rows that need the user come first
		value.Sessions = value.Sessions[:len(value.Sessions)*3/4]
		data = pack(&value)
	}
	if _, err := r.js.Publish(ctx, subjects+r.key, data); err != nil {
		return err
	}
	r.made, r.at = true, time.Now()
	return nil
}

// end removes the rows, if they are to be forgotten; without that a view notices by time.
func (r *run) end() {
	if !r.nc.IsConnected() || !r.Forget {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m := nats.NewMsg(subjects + r.key)
	m.Header.Set("KV-Operation", "DEL")
	_, _ = r.js.PublishMsg(ctx, m)
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
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: stream, Subjects: []string{subjects + ">"}, Description: "beckon's sessions, the newest value of each host",
		MaxMsgsPerSubject: 1, MaxAge: Keep, MaxMsgSize: MaxMessage, MaxMsgs: maxHosts, Discard: jetstream.DiscardNew,
		AllowRollup: true, DenyDelete: true, AllowDirect: true,
	})
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // it may be of several replicas
		return fmt.Errorf("making the bucket %s: %w", bucket, err)
	}
	return nil
}
