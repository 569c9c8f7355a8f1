package talk

import (
	"cmp"
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
	s := &screen{App: a}
	opt.Requests = func(ctx context.Context, show func([]card.Request)) { followRequests(ctx, a.Store.Dir, show) }
	opt.Unlock, opt.Answer, opt.Stop, opt.WhyNot = s.unlock, s.answer, s.stop, s.whyNot
}

// screen answers requests, and keeps the PIN's key while it runs.
type screen struct {
	*cli.App
	mu  sync.Mutex
	pin request.Key
}

func (s *screen) key() (request.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pin == nil {
		return request.NoPIN()
	}
	return s.pin, nil
}

func (s *screen) unlock(typed string) error {
	k, err := pin.Unlock(request.In(s.Store.Dir), typed)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pin = k
	}
	return err
}

func (s *screen) answer(r card.Request, ans request.Answer) (string, error) {
	if err := mayAnswer(s.App); err != nil {
		return "", err
	}
	if err := r.Card.May(ans.Word); err != nil {
		return "", err
	}
	out, err := give(s.App, &r.Request, ans, s.key)
	if err = cmp.Or(err, out.failed()); err != nil {
		return "", fmt.Errorf("%s: %w", r.Card.Title, err)
	}
	text := out.did + ": " + r.Card.Title
	if ans.Always > 0 {
		text += "; " + r.Card.Always[ans.Always-1]
	}
	return text, nil
}

func (s *screen) stop(r render.Row) (string, error) {
	v, err := found(s.App, r.Record())
	if err != nil {
		return "", err
	}
	return halt(s.App, &v, request.Watch)
}

// whyNot returns why a row's session cannot be answered here.
func (s *screen) whyNot(r render.Row) error {
	if r.Remote != nil {
		c, err := command(s.App, &r, []string{"answer"})
		if err != nil {
			return err
		}
		return fmt.Errorf("it runs on %s: %s", card.Line1(r.Remote.Name), c)
	}
	v, err := s.Find(r.Record())
	if err != nil {
		return err
	}
	return notOffered(s.App, v)
}

// The times between two reads of the requests: when the system reports no change, and at least,
// since changes come in bursts.
const (
	requestsEvery = time.Second
	requestsPause = 10 * time.Millisecond
)

// followRequests calls show with the open requests whenever they change, until ctx ends.
func followRequests(ctx context.Context, state string, show func([]card.Request)) {
	host := evidence.ThisMachine().Host
	var last []card.Request
	live.Watch(ctx, requestsEvery, func() {
		time.Sleep(requestsPause)
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
