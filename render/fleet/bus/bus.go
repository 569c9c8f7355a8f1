// Package bus transports a fleet's rows over NATS: JetStream stores the newest value of each
// key in the bucket "beckon".
//
// It guarantees: sessions do not depend on it, so a server that is away, slow or has lost its
// disk costs a view its freshness and nothing else; a publisher needs no right to read; a slow
// viewer skips what is outdated, and delays no other.
package bus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"beckon/render/fleet"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bucket is the name of the bucket, Stream the name of the stream behind it.
const (
	Bucket = "beckon"
	Stream = "KV_" + Bucket
)

// subjects is the prefix of all keys' subjects.
const subjects = "$KV." + Bucket + "."

// patience is how long a server may take to respond.
const patience = 5 * time.Second

// ping is the interval of pings on an idle connection; after two without an answer it counts
// as dead. Tests use less.
var ping = 10 * time.Second

// dial connects to the server of an access, and keeps trying while it is away. wake receives
// when a connection was made or lost.
func dial(a Access, name string, wake chan<- struct{}) (*nats.Conn, error) {
	changed := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	return DialOnce(a,
		nats.Name(name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectBufSize(-1),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2), nats.DrainTimeout(patience),
		nats.CustomReconnectDelay(backOff),
		nats.ConnectHandler(func(*nats.Conn) { changed() }), nats.ReconnectHandler(func(*nats.Conn) { changed() }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { changed() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // who asked hears of it
		nats.IgnoreAuthErrorAbort(),                                       // a hub that is being set up may accept us in a moment
	)
}

// DialOnce connects to a server that must be there now.
func DialOnce(a Access, more ...nats.Option) (*nats.Conn, error) {
	opts, err := a.options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(a.URL, append(append(opts, nats.Timeout(patience)), more...)...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", a.URL, err)
	}
	return nc, nil
}

// backOff returns how long to wait before the next try: up to half a minute, partly at random,
// so that a fleet does not reconnect all at once.
func backOff(attempts int) time.Duration {
	most := min(30*time.Second, 250*time.Millisecond<<min(attempts, 8))
	return most/4 + rand.N(most*3/4)
}

// Make creates the bucket, or keeps an existing one. replicas is how many servers of a cluster
// store it. With memory a restart may empty it; hosts then publish again.
func Make(ctx context.Context, nc *nats.Conn, replicas int, memory bool) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	storage := jetstream.FileStorage
	if memory {
		storage = jetstream.MemoryStorage
	}
	_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: Bucket, Description: "rows of beckon's sessions, newest value only", TTL: fleet.Keep, MaxValueSize: fleet.MaxMessage, Storage: storage, Replicas: replicas,
	})
	if err != nil {
		return fmt.Errorf("making the bucket %s: %w", Bucket, err)
	}
	return nil
}

// publish sends messages and returns the number that the server gave to the last one. It
// returns after all were acknowledged.
func publish(ctx context.Context, js jetstream.JetStream, messages []fleet.Message) (sequence uint64, err error) {
	futures := make([]jetstream.PubAckFuture, 0, len(messages))
	for _, m := range messages {
		msg := nats.NewMsg(subjects + m.Key)
		msg.Data = m.Data
		if m.Gone {
			msg.Header.Set("KV-Operation", "DEL")
		}
		f, err := js.PublishMsgAsync(msg, jetstream.WithStallWait(patience)) // a slow network accepts one after another
		if err != nil {
			return 0, err
		}
		futures = append(futures, f)
	}
	for _, f := range futures {
		select {
		case ack := <-f.Ok():
			sequence = ack.Sequence
		case err := <-f.Err():
			return 0, err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return sequence, nil
}

// errNoBucket means that the server is there but not set up.
var errNoBucket = errors.New("the server has no bucket " + Bucket + ", or this access may not use it")

// kept returns the server's value of a key, nil for none.
func kept(ctx context.Context, nc *nats.Conn, key string) (*fleet.Kept, error) {
	reply, err := nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+Stream+"."+subjects+key, nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errNoBucket
	case err != nil:
		return nil, err
	case reply.Header.Get("Status") == "404":
		return nil, nil
	case reply.Header.Get("Status") != "":
		return nil, fmt.Errorf("reading %s: %s", key, reply.Header.Get("Description"))
	case strings.HasPrefix(reply.Header.Get("KV-Operation"), "DEL"):
		return nil, nil
	}
	n, err := strconv.ParseUint(reply.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reading %s: the server gave it no number", key)
	}
	return &fleet.Kept{Data: reply.Data, Sequence: n}, nil
}

// Forget removes what a user's host has published, and notifies every viewer.
func Forget(ctx context.Context, nc *nats.Conn, user, host string) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, Bucket)
	if err != nil {
		return err
	}
	keys, err := kv.ListKeysFiltered(ctx, fleet.Token(user)+"."+fleet.Token(host)+".>")
	if err != nil {
		return err
	}
	var gone []fleet.Message
	for key := range keys.Keys() {
		gone = append(gone, fleet.Message{Key: key, Gone: true})
	}
	_, err = publish(ctx, js, gone)
	return err
}
