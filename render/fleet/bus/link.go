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

// Host is what publishes: this machine.
type Host struct {
	Access  Access
	Version string
	Level   fleet.Level
	Node    string // which machine of the name it is
	Epoch   uint64 // of the run before
	// Save keeps the node and the epoch for the next run. That it cannot is no
	// reason to publish nothing: the server is asked for the epoch, too.
	Save func(node string, epoch uint64)
	// Forget has the rows taken off at the end, not only marked as not heard.
	Forget bool
	// Log is called with what goes wrong and what has come right again.
	Log func(text string)
	// Clock is time.Now unless it is set.
	Clock func() time.Time
	Beat  time.Duration // 0 is fleet.Beat
	Desk  ctl.Desk      // what is done with answers from elsewhere; nil takes none
}

// renewal is how often all rows are published again, of what the server forgets
// after fleet.Keep.
const renewal = time.Hour

// Run publishes the rows until ctx ends. It waits for whatever is away, and
// returns an error only for an access that cannot work.
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

// run is one Run.
type run struct {
	Host
	link  *fleet.Link
	nc    *nats.Conn
	js    jetstream.JetStream
	wake  chan struct{} // the connection was made or lost
	fresh bool          // it is new, and what the server has was not looked at
	rows  []render.Row
	known bool // rows were given
	beat  time.Time
	again time.Time
	said  string // the newest trouble
	hear  hearing
}

// begin begins to publish as a node.
func (r *run) begin(node string, epoch uint64) error {
	l, err := fleet.NewLink(fleet.ID{User: r.Access.User, Host: r.Access.Host, Node: node}, epoch+1, nats.NewInbox()[len("_INBOX."):], r.Version, r.Level)
	if err != nil {
		return err
	}
	r.Node, r.link, r.fresh = node, l, true
	return nil
}

// maxPending is how many rows are under way at once. What each takes, from when it was
// sent, is bounded by patience, so they must not wait for one another on a slow network.
const maxPending = 64

// retry is how soon what was held back, or did not work, is tried again.
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

// turn publishes what is due and returns how long there is nothing to do unless
// something changes.
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
		if copied { // what the other has may be written over: it sees this, and puts all again
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

// end says goodbye, if there is somebody to say it to.
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
	_, _ = publish(ctx, r.js, last) // a view that does not hear of it counts the time
}

// say logs trouble once, and that it is over.
func (r *run) say(text string) {
	if text == r.said || r.Log == nil {
		return
	}
	if r.said = text; text == "" {
		text = "publishing to " + r.Access.URL + " as " + r.Access.Host
	}
	r.Log(text)
}
