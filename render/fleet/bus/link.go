package bus

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/fleet/ctl"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Host is the publisher: this machine.
type Host struct {
	Access  Access
	Version string
	Level   fleet.Level
	Node    string // distinguishes machines of the same name
	Epoch   uint64 // of the run before
	// Save stores the node and the epoch for the next run. Publishing works without it: the
	// server is asked for the epoch, too.
	Save func(node string, epoch uint64)
	// Forget removes the rows at the end, instead of leaving them to be marked as stale.
	Forget bool
	// Log is called with problems, and when they are over.
	Log func(text string)
	// Clock is time.Now unless it is set.
	Clock func() time.Time
	Beat  time.Duration // 0 is fleet.Beat
	Desk  ctl.Desk      // carries out orders from elsewhere; nil accepts none
}

// renewal is how often all rows are published again, because the server forgets them after
// fleet.Keep.
const renewal = time.Hour

// Run publishes the rows until ctx ends. It waits for a server that is away, and returns an
// error only for an access that cannot work.
func (h Host) Run(ctx context.Context, rows <-chan []render.Row) error {
	if h.Clock == nil {
		h.Clock = time.Now
	}
	if h.Beat == 0 {
		h.Beat = fleet.Beat
	}
	r := &run{Host: h, wake: make(chan struct{}, 1)}
	if err := r.begin(h.Node, h.Epoch); err != nil {
		return err
	}
	var err error
	if r.nc, err = dial(h.Access, "beckon link "+h.Access.Host, r.wake); err != nil {
		return err
	}
	defer r.nc.Close()
	if r.js, err = jetstream.New(r.nc, jetstream.WithPublishAsyncMaxPending(maxPending), jetstream.WithPublishAsyncTimeout(patience)); err != nil {
		return err
	}
	r.loop(ctx, rows)
	r.hear.end()
	r.end()
	return nil
}

// run is the state of Run.
type run struct {
	Host
	link  *fleet.Link
	nc    *nats.Conn
	js    jetstream.JetStream
	wake  chan struct{} // the connection was made or lost
	fresh bool          // the connection is new, and the server's values have not been checked
	rows  []render.Row
	known bool // rows were given
	beat  time.Time
	again time.Time
	said  string // the newest trouble
	hear  hearing
}

// begin starts to publish as a node.
func (r *run) begin(node string, epoch uint64) error {
	l, err := fleet.NewLink(fleet.ID{User: r.Access.User, Host: r.Access.Host, Node: node}, epoch+1, nats.NewInbox()[len("_INBOX."):], r.Version, r.Level)
	if err != nil {
		return err
	}
	r.Node, r.link, r.fresh = node, l, true
	return nil
}

// maxPending is how many rows are sent at once. Each must be acknowledged within patience of
// being sent, so they must not wait for one another on a slow network.
const maxPending = 64

// retry is how soon a row that was held back or failed is tried again.
const retry = time.Second

func (r *run) loop(ctx context.Context, rows <-chan []render.Row) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now, ok := <-rows:
			if !ok {
				rows = nil
				continue
			}
			r.rows, r.known = now, true
		case <-r.wake:
			r.fresh = true
		case <-timer.C:
		}
		wait := r.turn(ctx)
		timer.Reset(wait)
	}
}

// turn publishes what is due and returns how long nothing is due unless something changes.
func (r *run) turn(ctx context.Context) time.Duration {
	if !r.known || !r.nc.IsConnected() {
		r.fresh = true
		if r.known {
			why := "no connection to " + r.Access.URL
			if err := r.nc.LastError(); err != nil {
				why += ": " + err.Error()
			}
			r.say(why)
		}
		return r.Beat
	}
	if err := r.publish(ctx); err != nil {
		copied := errors.Is(err, fleet.ErrCopied)
		if copied { // our presence makes the other machine publish its rows again, so ours may overwrite them
			_, err = publish(ctx, r.js, []fleet.Message{r.link.Presence()})
			copied = err == nil
		}
		r.link.Doubt()
		if copied {
			r.say("another machine publishes as " + r.Access.Host + " with this machine's files; this one takes a name of its own")
			_ = r.begin(nats.NewInbox()[len("_INBOX."):][:6], r.link.Epoch())
			return 0
		}
		r.say("publishing to " + r.Access.URL + ": " + err.Error())
		return retry + rand.N(retry)
	}
	trouble := ""
	if err := r.listen(); err != nil {
		trouble = "listening for answers: " + err.Error()
	}
	r.say(trouble)
	if r.link.HeldBack() {
		return retry
	}
	return max(0, time.Until(r.beat))
}

func (r *run) publish(ctx context.Context) error {
	beat := r.fresh || r.link.Doubtful() || !time.Now().Before(r.beat)
	if beat {
		asking, cancel := context.WithTimeout(ctx, patience)
		old, err := kept(asking, r.nc, r.link.PresenceKey())
		cancel()
		if err != nil {
			return err
		}
		if err := r.link.Check(old, r.fresh); err != nil {
			return err
		}
		if now := time.Now(); now.After(r.again) {
			r.link.Again()
			r.again = now.Add(renewal/2 + rand.N(renewal/2))
		}
		if r.Save != nil {
			r.Save(r.Node, r.link.Epoch())
		}
	}
	if messages := r.link.Due(r.rows, r.Clock()); len(messages) > 0 {
		if _, err := publish(ctx, r.js, messages); err != nil {
			return err
		}
	}
	if !beat {
		return nil
	}
	n, err := publish(ctx, r.js, []fleet.Message{r.link.Presence()})
	if err != nil {
		return err
	}
	r.link.Acked(n)
	r.fresh = false
	r.beat = time.Now().Add(r.Beat*9/10 + rand.N(r.Beat/10+1))
	return nil
}

// end signs off, if connected.
func (r *run) end() {
	if !r.nc.IsConnected() || !r.known {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	last := []fleet.Message{r.link.Bye()}
	if r.Forget {
		last = r.link.Forget()
	}
	_, _ = publish(ctx, r.js, last) // a view that misses it notices by time
}

// say logs a problem once, and when it is over.
func (r *run) say(text string) {
	if text == r.said || r.Log == nil {
		return
	}
	if r.said = text; text == "" {
		text = "publishing to " + r.Access.URL + " as " + r.Access.Host
	}
	r.Log(text)
}
