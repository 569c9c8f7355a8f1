package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"beckon/cmd/internal/talk"
	"beckon/render/notify"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"
)

type notifyAskCmd struct {
	Request string `arg:""`
}

// Run asks the user about a request until it is over. Nobody reads what it prints.
func (c *notifyAskCmd) Run(a *app) error {
	if err := a.askUser(c.Request); err != nil {
		a.Store.Log(fmt.Errorf("asking by a notification: %w", err))
	}
	return nil
}

// errNotWaiting is returned to any process but the one that waits at the request.
var errNotWaiting = errors.New("only the process that holds the call has its notification answered")

// waits reports whether the process that waits at o started this one. An agent can run this
// command with its own configuration, but not as a child of the waiting process, which is the
// client's hook or the program that the hook became.
func waits(o *request.Request) bool {
	p, there := evidence.Process(os.Getppid(), evidence.ThisMachine())
	return there && p == o.Waiter
}

func (a *app) askUser(id string) error {
	o, err := request.In(a.Store.Dir).Load(id)
	if err != nil {
		return err
	}
	if !waits(&o) {
		return errNotWaiting
	}
	set := alert.Defaults()
	set.Channels = request.In(a.Store.Dir).Channels(id)
	ctx, over := a.whileOpen(&o)
	defer over()
	var all sync.WaitGroup
	for _, ch := range a.channels(set, nil) {
		asker, ok := ch.(notify.Asker)
		if !ok || !asker.Asks() {
			continue
		}
		all.Go(func() {
			if err := a.askBy(ctx, over, asker, &o); err != nil {
				a.Store.Log(fmt.Errorf("asking by %s: %w", asker.Name(), err))
			}
			if w, ok := asker.(interface{ Wait() }); ok {
				w.Wait()
			}
		})
	}
	all.Wait()
	return nil
}

// openEvery is how often a request is checked.
const openEvery = time.Second

// whileOpen returns a context that ends with the request.
func (a *app) whileOpen(o *request.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithDeadline(context.Background(), o.Expires.Time())
	go func() {
		for request.In(a.Store.Dir).StillOpen(o) && waits(o) && ctx.Err() == nil {
			time.Sleep(openEvery)
		}
		cancel()
	}()
	return ctx, cancel
}

// askBy asks through one channel and passes on the answer. If something has changed since the
// request was shown, such as a file that the call edits, it is shown again.
func (a *app) askBy(ctx context.Context, over func(), by notify.Asker, o *request.Request) error {
	host := evidence.ThisMachine().Host
	for {
		ask := notify.AskOf(o, host, by.Words())
		if request.In(a.Store.Dir).HasPIN() {
			ask.Buttons = nil // a button cannot ask for it
		}
		word, become, err := by.Ask(ctx, ask)
		if err != nil || word == "" {
			become(a.end(ctx, o))
			return err
		}
		if word == request.Allow && notify.AskOf(o, host, by.Words()).Body != ask.Body {
			become("What it would do has changed since: it is shown again.")
			continue
		}
		from := request.Desktop
		if by.Words().Away {
			from = request.Phone
		}
		said, err := talk.Give(a.App, o, request.Answer{Word: word, From: from})
		over()
		become(said)
		return err
	}
}

// end returns the result of a request that this process did not answer; empty if the user
// dismissed the notification.
func (a *app) end(ctx context.Context, o *request.Request) string {
	if ctx.Err() == nil {
		return ""
	}
	dir := request.In(a.Store.Dir)
	out, _ := dir.Outcome(o.ID, request.Delivery)
	if by, ok := dir.Answered(o.ID); ok {
		return (&request.TakenError{By: by}).Error()
	}
	return out.Why
}
