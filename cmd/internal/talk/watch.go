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
	"beckon/state/live"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// Watch gives a screen the sessions' requests, and the keys that answer them.
func Watch(a *cli.App, opt *tui.Options) {
	s := &screen{App: a}
	opt.Requests = func(ctx context.Context, show func([]card.Request)) { followRequests(ctx, a.Store.Dir, show) }
	opt.Answer, opt.WhyNot = s.answer, s.whyNot
	opt.Stop = func(r render.Row) (string, error) { return halt(a, r.Record(), request.Watch) }
}

// screen answers requests, and keeps the PIN's key while it runs.
type screen struct {
	*cli.App
	mu  sync.Mutex
	pin request.Key
}

func (s *screen) answer(r card.Request, ans request.Answer, typed string) (string, error) {
	if err := mayAnswer(s.App); err != nil {
		return "", err
	}
	ans.By = s.User()
	dir := request.In(s.Store.Dir)
	return r.Answer(dir, ans, func() (key request.Key, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pin == nil {
			s.pin, err = pin.Unlock(dir, typed)
		}
		return s.pin, err
	})
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

// followRequests calls show with the open requests whenever they change, until ctx ends.
func followRequests(ctx context.Context, state string, show func([]card.Request)) {
	var last []card.Request
	live.Watch(ctx, time.Second, func() {
		time.Sleep(10 * time.Millisecond) // changes come in bursts
		// Files that the calls change may have changed, too. An error is retried at the next read.
		now, err := card.Open(request.In(state))
		if err == nil && !reflect.DeepEqual(now, last) {
			last = now
			show(now)
		}
	}, request.In(state).OpenDir()) // it does not exist before the first request
}
