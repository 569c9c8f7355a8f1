package fleets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/fleet/bus"
	"beckon/render/fleet/ctl"
	"beckon/state/evidence"
	"beckon/state/live"

	"github.com/gofrs/flock"
)

// LinkCmd is beckon link.
type LinkCmd struct {
	Join    string `placeholder:"TOKEN" help:"Join with the token that beckon fleet invite printed, and remember it; - reads it from stdin."`
	Server  string `placeholder:"URL" help:"Join a NATS server of your own that asks for no token, as nats://HOST:4222, and remember it."`
	Texts   string `enum:",off,short,full" default:"" placeholder:"LEVEL" help:"How much of the texts of sessions leaves this machine: off, short or full (default: as configured)."`
	Forget  bool   `help:"When it ends, take this machine's sessions off all lists; for containers and CI."`
	Service bool   `help:"Write a unit for systemd, on macOS for launchd, that keeps the link running."`
	Quiet   bool   `short:"q" help:"Print nothing but errors."`
	Key     bool   `help:"Print this machine's public key, for the setting answers_from_fleet of other machines."`

	Desk func(*cli.App) ctl.Desk `kong:"-"` // carries out the orders of users at other machines
}

// Run implements the command.
func (c *LinkCmd) Run(a *cli.App) error {
	if c.Join != "" && c.Server != "" {
		return cli.Usage("--join and --server: a token names its server")
	}
	if c.Join != "" || c.Server != "" {
		return c.join(a)
	}
	if c.Service {
		return cli.WriteService(a, cli.Unit{Name: "link", About: "beckon link: this machine's coding-agent sessions for the fleet", Args: []string{"link", "--quiet"}})
	}
	if c.Key {
		return printKey(a)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.Serve(ctx, a)
}

// Serve publishes until ctx ends.
func (c *LinkCmd) Serve(ctx context.Context, a *cli.App) error {
	acc, ok, err := access(a)
	if err != nil {
		return err
	}
	if !ok {
		return cli.Hint("beckon fleet invite --host NAME prints a token, where the hub is", "this machine has no access to a fleet: beckon link --join TOKEN")
	}
	if acc.Host == "" {
		return cli.Hint("beckon fleet invite --host NAME gives one to publish", "this access may only look")
	}
	return c.link(ctx, a, acc)
}

// join keeps an access.
func (c *LinkCmd) join(a *cli.App) error {
	var acc bus.Access
	if c.Server != "" {
		acc = bus.Access{URL: c.Server, User: cmp.Or(a.User(), "me"), Host: evidence.ThisMachine().Host, View: true}
		if err := acc.Check(); err != nil {
			return err
		}
	} else {
		token := c.Join
		if token == "-" {
			if _, err := fmt.Fscan(a.Stdin, &token); err != nil {
				return fmt.Errorf("reading the token: %w", err)
			}
		}
		var err error
		if acc, err = bus.ReadToken(token); err != nil {
			return cli.Hint("it is the line that beckon fleet invite printed, whole", "joining: %w", err)
		}
	}
	nc, err := bus.DialOnce(acc)
	if err != nil {
		return cli.Hint("nothing was kept; is the hub running, and reached by that name from here?", "joining: %w", err)
	}
	nc.Close()
	if err := join(a, acc); err != nil {
		return err
	}
	switch {
	case acc.Host == "":
		fmt.Fprintf(a.Stdout, "joined %s to look: beckon list --fleet\n", acc.URL)
	default:
		fmt.Fprintf(a.Stdout, "joined %s as %s: beckon link publishes its sessions, beckon link --service keeps that running\n", acc.URL, acc.Host)
	}
	return nil
}

// machine is what a link remembers from earlier runs.
type machine struct {
	Node  string `json:"node"` // distinguishes this machine from others of its name
	Epoch uint64 `json:"epoch"`
}

// link publishes until ctx ends.
func (c *LinkCmd) link(ctx context.Context, a *cli.App, acc bus.Access) error {
	dir := filepath.Join(a.Store.Dir, "fleet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "link.lock"))
	if ok, err := lock.TryLock(); err != nil {
		return err
	} else if !ok {
		return errors.New("a link of this machine runs already")
	}
	defer func() { _ = lock.Unlock() }()
	path := filepath.Join(dir, "link.json")
	var was machine
	if data, err := plainfile.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &was) // a broken file starts anew, above the numbers that the hub has
	}
	save := func(node string, epoch uint64) {
		if was == (machine{node, epoch}) {
			return
		}
		was = machine{node, epoch}
		data, _ := json.Marshal(was)
		if err := atomicfile.Write(path, append(data, '\n'), 0o600, false); err != nil {
			a.Store.Log(fmt.Errorf("link: keeping the epoch: %w", err))
		}
	}
	host := bus.Host{
		Access: acc, Version: cli.Version(), Level: fleet.Level(cmp.Or(c.Texts, a.Configured().FleetTexts)),
		Node: cmp.Or(was.Node, fmt.Sprintf("%06x", time.Now().UnixNano()&0xffffff)), Epoch: was.Epoch, Save: save, Forget: c.Forget,
		Log: func(text string) {
			if !c.Quiet {
				fmt.Fprintf(a.Stdout, "%s %s\n", time.Now().UTC().Format(time.RFC3339), render.OneLine(text))
			}
		},
	}
	if c.Desk != nil {
		host.Desk = c.Desk(a)
	}
	rows := make(chan []render.Row, 1)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all.Go(func() { followRows(ctx, a, rows) })
	if acc.View || acc.All {
		all.Go(func() { keepCurrent(ctx, a, acc) })
	}
	return host.Run(ctx, rows)
}

// printKey prints the key that this machine signs with.
func printKey(a *cli.App) error {
	acc, err := mustAccess(a)
	if err != nil {
		return err
	}
	id, err := ctl.NewIdentity(acc.JWT, acc.Seed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, id.Key)
	return err
}

// followRows sends this machine's rows whenever they change. A slow reader gets only the newest.
func followRows(ctx context.Context, a *cli.App, rows chan []render.Row) {
	f := live.NewFollower(a.Reader(), live.Options{Pause: 20 * time.Millisecond})
	send := func(u live.Update, err error) {
		if err != nil {
			a.Store.Log(fmt.Errorf("link: %w", err))
			return
		}
		next := render.Rows(f.Seen(), false)
		select {
		case <-rows:
		default:
		}
		rows <- next
	}
	send(f.Look())
	f.Run(ctx, func(u live.Update, err error) {
		if err != nil || len(u.Changed)+len(u.Gone) > 0 {
			send(u, err)
		}
	})
}

// keepCurrent stores what prompt and statusline show of the fleet.
func keepCurrent(ctx context.Context, a *cli.App, acc bus.Access) {
	f, err := bus.Follow(ctx, acc, "beckon link "+acc.Host+" view")
	if err != nil {
		a.Store.Log(fmt.Errorf("link: %w", err))
		return
	}
	defer f.Close()
	for ctx.Err() == nil {
		changed := f.Changed()
		if f.Whole(ctx) == nil {
			rows, hosts, _ := f.Snapshot()
			keep(a, acc, render.First(rows, maxKept), hosts)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second): // a burst of changes is written once
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(fleet.Beat):
		}
	}
}
