// Package web serves the state of the sessions over HTTP: posted hooks, in three dialects, a
// read API, server-sent events, metrics, and a page (page.go).
//
// It guarantees: its verdicts are state.Resolve's, and its rows those of `list --json`; what
// is posted goes through store.Fold like every hook, so files stay the source of truth and
// killing a server loses nothing; it serves no request with a foreign Host or Origin; memory
// is bounded whatever is sent. A reader of events that does not read for ten seconds is
// disconnected, and starts with a snapshot again.
//
// A request comes past the guard (package access) and by the table of endpoints (routes.go) to a
// handler: of what hooks post (hook*.go), of sessions (sessions.go), of what they ask
// (requests.go), of statistics, status and metrics. Rows and events come from the feed (feed.go).
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"beckon/render"
	"beckon/render/notify"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/store"

	"golang.org/x/sync/semaphore"
)

// Options configure a Server.
type Options struct {
	Store    *store.Store
	Registry string       // the client's registry directory, empty for none
	Timing   Timing       // how often the server checks what nothing reports
	Log      func(error)  // is called with errors, which contain no payload text
	Queue    render.Queue // the order of rows
	Version  string       // of this program, shown in /healthz
	Token    string       // opens the server to everybody who sends it
	User     string       // the owner's name, to show whose answer it was
	Hosts    []string     // names that requests may use besides those of loopback
	Closed   bool         // events over HTTP are ignored
	Policy   Policy       // answers what is posted to /hook

	// Notifier, unless it is nil, looks at the live sessions, every Timing.Recheck.
	Notifier *notify.Follower
	// Others, unless it is nil, calls show with the rows of other machines, now and whenever they
	// change, until its context ends.
	Others func(ctx context.Context, show func([]render.Row, error))

	// The responses of /api/stats for that many days, /api/timeline for a day ("2026-01-31") or
	// today, /api/digest, and /api/config, without secrets.
	Stats    func(days int) (any, error)
	Timeline func(date string) (any, error)
	Digest   func() (any, error)
	Config   func() (any, error)

	// Jump brings the session's terminal to the front.
	Jump func(context.Context, state.Seen) error
	// Alerts returns what the user wants to be told of.
	Alerts func() alert.Settings
	// Act folds an action of the user on sessions.
	Act func(state.Action, ...state.Seen) error
}

// Server is one HTTP server over one state directory.
type Server struct {
	o     Options
	feed  *feed
	http  *http.Server
	guard *access.Guard

	large    *semaphore.Weighted // bytes of bodies that are not small
	deciding *semaphore.Weighted // events for the policy that ask for a decision
	noting   *semaphore.Weighted // all others, so that they never take the place of a question
	reading  *semaphore.Weighted // what reads all that was recorded, one at a time

	ctx context.Context // ends when the server stops
}

// Limits on how long a request may take, and how large its header may be.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTime      = 7 * time.Second // for requests in progress; net/http needs six for connections without one
	maxHeader     = 32 << 10
)

// New makes a server. Nothing of the sessions is read before Serve.
func New(o Options) *Server {
	o.Timing = o.Timing.orDefault()
	o.Log = logOnce(o.Log)
	s := &Server{
		o:        o,
		feed:     newFeed(&o),
		large:    semaphore.NewWeighted(maxBody),
		deciding: semaphore.NewWeighted(maxDeciding),
		noting:   semaphore.NewWeighted(maxNoting),
		reading:  semaphore.NewWeighted(1),
	}
	s.guard = access.New(access.Options{
		Token:   o.Token,
		Dir:     o.Store.Dir,
		Hosts:   o.Hosts,
		Refused: s.feed.meter.refused,
		Log:     o.Log,
	})
	s.feed.push = (&pusher{s: s, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // what is sent is for one service alone
	}}}).look
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext:       access.Connect,
		ErrorLog:          log.New(io.Discard, "", 0), // anybody can make it log broken connections
	}
	return s
}

// Name returns a name of this machine that only this server uses, for access.Link.
func (s *Server) Name() string { return s.guard.Name() }

// Serve watches the sessions and serves until ctx ends: event streams end at once, requests in
// progress have stopTime. Nothing of it runs when it returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if err := s.feed.start(); err != nil {
		_ = l.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	var work sync.WaitGroup
	var stopped error
	work.Go(func() { s.feed.run(ctx) })
	work.Go(func() {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := s.http.Shutdown(late); err != nil {
			stopped = fmt.Errorf("stopping the server: %w", errors.Join(err, s.http.Close()))
		}
	})
	err := s.http.Serve(s.guard.Listen(l))
	cancel()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, stopped)
}

// maxLogged is how many errors are remembered.
const maxLogged = 1024

// logOnce returns log without repetitions within an hour, since a check that fails would otherwise log every
// second for as long as a server runs, and without nil.
func logOnce(log func(error)) func(error) {
	var mu sync.Mutex
	logged := map[string]time.Time{}
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil || time.Since(logged[err.Error()]) < time.Hour {
			return
		}
		if len(logged) >= maxLogged {
			clear(logged)
		}
		logged[err.Error()] = time.Now()
		log(err)
	}
}
