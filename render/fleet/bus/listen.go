package bus

import (
	"sync"
	"time"

	"beckon/render/fleet/ctl"

	"github.com/nats-io/nats.go"
)

// hearing is a link's subscription to orders.
type hearing struct {
	link string // the link that is listened for; empty for none
	sub  *nats.Subscription
	all  sync.WaitGroup
}

// atOnce limits how many messages are answered at the same time. Others wait in the
// subscription, which drops what is too much.
const (
	atOnce  = 4
	waiting = 64
)

// listen listens for orders to this machine's sessions, as long as the configuration allows
// them.
func (r *run) listen() error {
	h, link := &r.hear, ""
	if r.Desk != nil && r.Desk.Listens() {
		link = r.link.Name()
	}
	if link == h.link {
		return nil
	}
	h.stop()
	if link == "" {
		return nil
	}
	id, err := r.Access.identity()
	if err != nil {
		return err
	}
	owner := &ctl.Owner{ID: id, Link: link, Desk: r.Desk, Now: time.Now}
	busy := make(chan struct{}, atOnce) // for this subscription: handlers of an earlier one release into their own
	h.sub, err = r.nc.Subscribe(ctl.Subject(link, "*"), func(m *nats.Msg) {
		busy <- struct{}{}
		h.all.Go(func() {
			defer func() { <-busy }()
			if out := owner.Handle(m.Subject, m.Reply, m.Data); out != nil {
				_ = m.Respond(out) // a sender without a reply asks again
			}
		})
	})
	if err != nil {
		return err
	}
	h.link = link
	return h.sub.SetPendingLimits(waiting, waiting<<16)
}

func (h *hearing) stop() {
	if h.sub != nil {
		_ = h.sub.Unsubscribe()
	}
	h.sub, h.link = nil, ""
}

// end stops listening after the received messages are done.
func (h *hearing) end() {
	h.stop()
	h.all.Wait()
}
