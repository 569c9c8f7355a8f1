package fleets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hub"
	"beckon/event/duration"
	"beckon/event/home"
	"beckon/event/nearest"
	"beckon/render/fleet/bus"
)

// Cmd is beckon fleet: what a hub's administrator does.
type Cmd struct {
	Init   initCmd   `cmd:"" help:"Make a hub's keys and configuration, for beckon-fleet or any NATS server."`
	Invite inviteCmd `cmd:"" help:"Print a token that lets a machine publish its sessions, or see those of others."`
	Revoke revokeCmd `cmd:"" help:"End the access of a machine or user, at once."`
	Bucket bucketCmd `cmd:"" help:"Make the hub's bucket on a NATS server that runs with the hub's configuration."`
}

// where is the flag that all subcommands have.
type where struct {
	Dir string `placeholder:"DIR" type:"path" help:"The hub's directory (default: hub beside config.json)."`
}

func (w *where) dir(a *cli.App) string {
	if w.Dir != "" {
		return w.Dir
	}
	return home.Config(a.Getenv, "hub")
}

func (w *where) open(a *cli.App) (*hub.Hub, error) {
	h, err := hub.Open(w.dir(a))
	if err != nil {
		return nil, cli.Hint("beckon fleet init makes one, and so does beckon-fleet serve; --dir names another place", "%w", err)
	}
	return h, nil
}

type initCmd struct {
	where
	Listen string   `default:"0.0.0.0:4222" placeholder:"ADDR:PORT" help:"Address to listen on (default: ${default})."`
	Name   []string `placeholder:"NAME" help:"Names or addresses by which other machines reach it, separated by commas; tokens have the first."`
}

// Run implements the command.
func (c *initCmd) Run(a *cli.App) error {
	h, err := hub.Init(c.dir(a), c.Listen, c.Name)
	if errors.Is(err, hub.ErrUnnamed) {
		return cli.Hint("--name hub.example.org, or --listen 127.0.0.1:4222 for this machine alone", "making a hub: %w", err)
	}
	if err != nil {
		return cli.Hint("--dir names another place", "making a hub: %w", err)
	}
	fmt.Fprintf(a.Stdout, "made %s; serve it with one of:\n  beckon-fleet serve --dir %s\n  nats-server -c %s   (then, once: beckon fleet bucket)\n", h.Dir, h.Dir, h.Config())
	return nil
}

type inviteCmd struct {
	where
	Host string `placeholder:"HOST" help:"Let a machine publish its sessions, under this name."`
	User string `placeholder:"USER" help:"Whose machine it is (default: you)."`
	View bool   `help:"Let it see the sessions of all the user's machines; for machines that people sit at."`
	All  bool   `help:"Let it see the sessions of all users."`

	Answer bool `help:"With --view or --all: let it answer the sessions that it sees, on machines whose setting answers_from_fleet names the user."`

	For string `placeholder:"DURATION" help:"How long the token is good, as 24h or 7d (default: until it is revoked)."`
}

// Run implements the command.
func (c *inviteCmd) Run(a *cli.App) error {
	if c.Host == "" && !c.View && !c.All {
		return cli.Usage("say what the token is for: --host NAME to publish, --view or --all to see")
	}
	if c.Answer && !c.View && !c.All {
		return cli.Usage("--answer goes with --view or --all: whoever answers must see what is asked")
	}
	var until time.Time
	if c.For != "" {
		good, err := duration.Parse(c.For)
		if err == nil && good == 0 {
			err = errors.New("that is not later")
		}
		if err != nil {
			return cli.Usage("--for %q: %w", c.For, err)
		}
		until = time.Now().Add(good)
	}
	h, err := c.open(a)
	if err != nil {
		return err
	}
	acc := bus.Access{User: cmp.Or(c.User, a.User()), Host: c.Host, View: c.View, All: c.All, Answer: c.Answer}
	if acc.User == "" {
		return cli.Usage("--user NAME: whose host it is")
	}
	if acc, err = h.Invite(acc, until); err != nil {
		return err
	}
	if host, _, err := net.SplitHostPort(h.Listen); err == nil && h.Pin == "" {
		fmt.Fprintf(a.Stderr, "beckon: this hub listens at %s only: the token works on this machine\n", host)
	}
	fmt.Fprintln(a.Stderr, "beckon: whoever has this line has the access; there: beckon link --join TOKEN")
	fmt.Fprintln(a.Stdout, acc.Token())
	return nil
}

type revokeCmd struct {
	where
	Name string `arg:"" help:"The name of the machine; of a token without --host, the user."`
}

// pushing is how long to try to tell a hub about a change.
const pushing = 10 * time.Second

// Run implements the command.
func (c *revokeCmd) Run(a *cli.App) error {
	h, err := c.open(a)
	if err != nil {
		return err
	}
	n, users, err := h.Revoke(c.Name)
	if err != nil {
		return cli.Hint(nearest.DidYouMean(c.Name, h.Names()), "%w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), pushing)
	defer cancel()
	if err := h.Push(ctx); err != nil {
		return cli.Hint("it is in force when the hub starts again", "revoked %s, but %w", c.Name, err)
	}
	if err := h.Forget(ctx, c.Name, users); err != nil {
		return fmt.Errorf("revoked %s, but its rows are there until they are too old: %w", c.Name, err)
	}
	fmt.Fprintf(a.Stdout, "revoked %s (%d)\n", c.Name, n)
	return nil
}

type bucketCmd struct {
	where
	Replicas int `enum:"1,3,5" default:"1" help:"How many servers of a cluster keep it: 1, 3 or 5."`
}

// Run implements the command.
func (c *bucketCmd) Run(a *cli.App) error {
	h, err := c.open(a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), pushing)
	defer cancel()
	if err := h.Prepare(ctx, c.Replicas); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "the bucket %s is there\n", bus.Bucket)
	return nil
}
