package fleets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/state/live"

	"github.com/gofrs/flock"
)

// LinkCmd is beckon fleet link.
type LinkCmd struct {
	Join    string `placeholder:"TOKEN" help:"Join with the token that beckon fleet invite printed, and remember it; - reads it from stdin."`
	Forget  bool   `hidden:"" help:"When it ends, take this machine's sessions off all lists; for containers and CI."`
	Service bool   `help:"Write a unit for systemd, on macOS for launchd, that keeps the link running."`
	Quiet   bool   `hidden:"" short:"q" help:"Print nothing but errors."`
}

// Run implements the command.
func (c *LinkCmd) Run(a *cli.App) error {
	if c.Join != "" {
		return c.join(a)
	}
	if c.Service {
		return cli.WriteService(a, cli.Unit{
			Name:  "link",
			About: "beckon fleet link: this machine's coding-agent sessions for the fleet",
			Args:  []string{"fleet", "link", "--quiet"},
		})
	}
	return c.publish(a)
}

// publish publishes until an interrupt.
func (c *LinkCmd) publish(a *cli.App) error {
	acc, ok, err := credential(a)
	if err != nil {
		return err
	}
	if !ok {
		return cli.Hint("beckon fleet invite --name NAME prints a token, where the hub is",
			"this machine has no access to a fleet: beckon fleet link --join TOKEN")
	}
	if acc.Host == "" {
		return cli.Hint("beckon fleet invite --name NAME gives one to publish", "this access may only look")
	}
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
	link := fleet.Link{
		Credential: acc,
		Level:      fleet.Level(a.Configured().FleetTexts),
		Forget:     c.Forget,
		Log: func(text string) {
			if !c.Quiet {
				fmt.Fprintf(a.Stdout, "%s %s\n", time.Now().UTC().Format(time.RFC3339), render.OneLine(text))
			}
		},
	}
	rows := make(chan []render.Row, 1)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all.Go(func() { followRows(ctx, a, rows) })
	if acc.View {
		all.Go(func() { follow(ctx, a, acc, func([]render.Row, []render.Host, bool, error) {}) }) // it stores what prompts show
	}
	return link.Run(ctx, rows)
}

// join keeps an access.
func (c *LinkCmd) join(a *cli.App) error {
	token := c.Join
	if token == "-" {
		if _, err := fmt.Fscan(a.Stdin, &token); err != nil {
			return fmt.Errorf("reading the token: %w", err)
		}
	}
	acc, err := fleet.ReadToken(token)
	if err != nil {
		return cli.Hint("it is the line that beckon fleet invite printed, whole", "joining: %w", err)
	}
	nc, err := fleet.DialOnce(acc)
	if err != nil {
		return cli.Hint("nothing was kept; is the hub running, and reached by that name from here?", "joining: %w", err)
	}
	nc.Close()
	if err := join(a, acc); err != nil {
		return err
	}
	if acc.Host == "" {
		fmt.Fprintf(a.Stdout, "joined %s to look: beckon list --fleet\n", acc.URL)
	} else {
		fmt.Fprintf(a.Stdout, "joined %s as %s: beckon fleet link publishes its sessions, "+
			"beckon fleet link --service keeps that running\n", acc.URL, acc.Host)
	}
	return nil
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
