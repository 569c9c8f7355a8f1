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
	Log        func(text string) // is called when it begins to publish, and with problems
	clock      func() time.Time  // time.Now unless it is set

	nc      *nats.Conn
	js      jetstream.JetStream
	rows    []render.Row
	sent    []render.Row // as far as they may leave
	changed time.Time    // sent
	at      time.Time    // when they were put; zero if the server may not have them
	said    string       // to Log, the newest
}

// pause is the least time between two values.
const pause = 200 * time.Millisecond

// Run publishes the rows until ctx ends. It waits for a server that is away, and returns an
// error only for an access that cannot work.
func (l Link) Run(ctx context.Context, rows <-chan []render.Row) (err error) {
	if l.clock == nil {
		l.clock = time.Now
	}
	wake := make(chan struct{}, 1) // the connection was made or lost
	if l.nc, err = dial(l.Credential, "beckon link "+l.Credential.Host, wake); err != nil {
		return err
	}
	defer l.nc.Close()
	if l.js, err = jetstream.New(l.nc); err != nil {
		return err
	}
	select {
	case l.rows = <-rows:
	case <-ctx.Done():
		return nil
	}
	for {
		next := time.After(l.turn(ctx))
		time.Sleep(pause)
		select {
		case <-ctx.Done():
			if l.Forget && l.nc.IsConnected() { // else a view notices by time
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_, _ = l.js.Publish(ctx, l.Credential.subject(), nil)
			}
			return nil
		case l.rows = <-rows:
		case <-wake:
			l.at = time.Time{} // it may be another server
		case <-next:
		}
	}
}

// turn publishes what has changed, and returns how long nothing is due unless something changes.
func (l *Link) turn(ctx context.Context) time.Duration {
	err := away(l.Credential, l.nc)
	if l.nc.IsConnected() {
		if err = l.publish(ctx); err != nil {
			err = fmt.Errorf("publishing to %s: %w", l.Credential.URL, err)
		}
	}
	l.say(err)
	if err != nil {
		l.at = time.Time{}
		return retry + mathrand.N(retry)
	}
	return time.Until(l.at.Add(beat*9/10 + mathrand.N(beat/10+1)))
}

// publish puts the rows if they changed, at every beat, and after each new connection.
func (l *Link) publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var rows []render.Row
	for i := range l.rows {
		rows = append(rows, permitted(&l.rows[i], l.Level.text))
	}
	if !reflect.DeepEqual(rows, l.sent) || l.changed.IsZero() {
		l.sent, l.changed = rows, l.clock()
	} else if time.Since(l.at) < beat*9/10 {
		return nil
	}
	value := report{l.changed, render.List{Schema: render.ListSchema, GeneratedAt: l.clock(), Sessions: rows}}
	data := pack(&value)
	for len(data) > MaxMessage { // the rows that need the user come first
		value.Sessions = value.Sessions[:len(value.Sessions)*3/4]
		data = pack(&value)
	}
	_, err := l.js.Publish(ctx, l.Credential.subject(), data)
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		if err = makeBucket(ctx, l.js); err == nil {
			_, err = l.js.Publish(ctx, l.Credential.subject(), data)
		}
	}
	if err == nil {
		l.at = time.Now()
	}
	return err
}

// say logs that the rows are published, or why not, when that has changed.
func (l *Link) say(err error) {
	text := "publishing to " + l.Credential.URL + " as " + l.Credential.Host
	if err != nil {
		text = err.Error()
	}
	if text != l.said {
		l.said = text
		l.Log(text)
	}
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
