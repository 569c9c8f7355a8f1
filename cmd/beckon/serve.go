package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"beckon/cmd/internal/answer"
	"beckon/event/redact"
	"beckon/render"
	"beckon/render/web"
	dashboard "beckon/render/web/page"
	"beckon/state"
	"beckon/state/store"
)

type serveCmd struct {
	Addr   string   `default:"127.0.0.1:7483" placeholder:"HOST:PORT" help:"Where to listen; beyond loopback BECKON_TOKEN must be set."`
	Socket string   `placeholder:"PATH" help:"Listen on a unix socket (mode 0600) and on no port."`
	Host   []string `placeholder:"NAME" help:"A further name that the server may be asked by."`
	Notify bool     `help:"Also notify, through the configured channels: of what no hook tells, too."`
	Hooks  bool     `default:"true" negatable:"" help:"Take events that are posted to /hook."`
	Poll   bool     `help:"Poll the session files, where the system does not tell of changes (network file systems)."`
}

// stopTime is how long requests under way have when the server is stopped.
const stopTime = 5 * time.Second

func (c *serveCmd) Run(a *app) error {
	cfg, err := a.configured()
	if err != nil {
		return err
	}
	a.st.Texts = store.Texts(cfg.Texts)
	var seen func(context.Context, []state.Seen, time.Time)
	if c.Notify {
		tell, err := a.follower("serve", a.ownTerminal())
		if err != nil {
			return err
		}
		defer tell.Wait()
		seen = tell.Look
	}
	token := a.getenv("BECKON_TOKEN")
	l, url, err := c.listen(token)
	if err != nil {
		return err
	}
	s := web.New(web.Options{
		Store: a.st, Registry: filepath.Join(a.claudeDir(), "sessions"), Version: versionString(),
		Token: token, Hosts: c.Host, Closed: !c.Hooks, Unwatched: c.Poll, Page: dashboard.Handler(),
		Stats:  func(days int) (any, error) { return a.statsOf(days) },
		Config: a.redactedConfig,
		Jump: func(ctx context.Context, v state.Seen) error {
			_, err := a.jumpTo(ctx, render.Rows([]state.Seen{v}, true)[0])
			return err
		},
		Seen: seen, Policy: answer.Serve(a.st, a.getenv, "BECKON_TOKEN"),
		Log: func(err error) { a.note([]store.Problem{{Err: err}}) },
	})
	debug.SetGCPercent(25) // a thousand streams in less memory, for a little more work
	fmt.Fprintf(a.stdout, "beckon serves on %s\n", url)
	if token != "" {
		fmt.Fprintln(a.stdout, "  open it once with ?token= and the value of BECKON_TOKEN")
	}
	return serveUntilSignal(s, l)
}

// ownTerminal is the terminal that serve runs in, nil when its output goes to a
// file or a supervisor.
func (a *app) ownTerminal() io.Writer {
	if a.width() == 0 {
		return nil
	}
	return a.stdout
}

// redactedConfig is the configuration without what looks like a secret in it.
func (a *app) redactedConfig() (any, error) {
	values, err := a.configValues()
	for name, v := range values {
		v.Value = redact.Text(v.Value)
		values[name] = v
	}
	return values, err
}

func (c *serveCmd) listen(token string) (l net.Listener, url string, err error) {
	if c.Socket != "" {
		l, err = web.ListenUnix(c.Socket)
		return l, c.Socket, err
	}
	if l, err = web.Listen(c.Addr, token); err != nil {
		return nil, "", err
	}
	return l, web.URL(l.Addr().String()), nil
}

// serveUntilSignal serves until the first interrupt, and gives up on requests
// under way at the second.
func serveUntilSignal(s *web.Server, l net.Listener) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop() // a second signal kills
	deadline, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := s.Close(deadline); err != nil {
		return fmt.Errorf("stopping the server: %w", err)
	}
	return <-served
}
