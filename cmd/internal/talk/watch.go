package talk

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/card"
	"beckon/render/tui"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// Watch gives a screen the sessions' requests, and the keys that answer them.
func Watch(a *cli.App, opt *tui.Options) {
	opt.Offers = func(ctx context.Context, show func([]card.Request)) { followOffers(ctx, a.Store.Dir, show) }
	keys := &keyring{dir: request.In(a.Store.Dir)}
	opt.Unlock = keys.unlock
	opt.Answer = func(o card.Request, ans request.Answer) (string, error) { return answerFromWatch(a, o, ans, keys.key) }
	opt.WhyNot = func(r render.Row) error {
		if r.Remote != nil {
			c, err := command(a, &r, []string{"answer"})
			if err != nil {
				return err
			}
			return fmt.Errorf("it runs on %s: %s", card.Line1(r.Remote.Name), c)
		}
		v, err := a.Find(r.Record())
		if err != nil {
			return err
		}
		return notOffered(a, v)
	}
	opt.Reply = func(r render.Row, text string) (string, error) { return replyFromWatch(a, r, text, keys.key) }
	opt.Stop = func(r render.Row) (string, error) { return stopFromWatch(a, r) }
}

// keyring keeps the PIN's key while a screen runs.
type keyring struct {
	dir  request.Dir
	mu   sync.Mutex
	open *pin.Key
}

func (r *keyring) key() (*pin.Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return noPIN()
	}
	return r.open, nil
}

func (r *keyring) unlock(typed string) error {
	k, err := pin.Unlock(r.dir, typed)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open = k
	}
	return err
}

func answerFromWatch(a *cli.App, o card.Request, ans request.Answer, sign signer) (string, error) {
	if err := mayAnswer(a); err != nil {
		return "", err
	}
	if err := o.Card.May(ans.Word); err != nil {
		return "", err
	}
	did, err := outcome(hand(a, &o.Request, ans, sign))
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.Card.Title, err)
	}
	text := did + ": " + o.Card.Title
	if ans.Always > 0 {
		text += "; " + o.Card.Always[ans.Always-1]
	}
	return text, nil
}

// replyFromWatch sends text to the session of a row.
func replyFromWatch(a *cli.App, r render.Row, text string, sign signer) (string, error) {
	v, err := found(a, r.Record())
	if err != nil {
		return "", err
	}
	out, err := say(a, &v, text, request.Watch, "", sign)
	did, err := outcome(out, err)
	if err != nil {
		return "", err
	}
	return did + ": " + saidTo(&v, out), nil
}

func stopFromWatch(a *cli.App, r render.Row) (string, error) {
	v, err := found(a, r.Record())
	if err != nil {
		return "", err
	}
	return halt(a, &v, request.Watch, a.User())
}

// The times between two reads of the requests: when the system reports no change, and at least,
// since changes come in bursts.
const (
	offersEvery = time.Second
	offersPause = 10 * time.Millisecond
)

// followOffers calls show with the open requests whenever they change, until ctx ends.
func followOffers(ctx context.Context, state string, show func([]card.Request)) {
	host := evidence.ThisMachine().Host
	var last []card.Request
	live.Watch(ctx, offersEvery, nil, func() {
		time.Sleep(offersPause)
		// An error now is retried at the next read.
		all, err := request.In(state).List(time.Now())
		if err != nil {
			return
		}
		var now []card.Request
		for i := range all { // anew each time: the files that they change may have changed
			now = append(now, card.Request{Request: all[i], Card: card.Of(&all[i], host)})
		}
		if !reflect.DeepEqual(now, last) {
			last = now
			show(now)
		}
	}, request.In(state).OpenDir()) // it does not exist before the first request
}
