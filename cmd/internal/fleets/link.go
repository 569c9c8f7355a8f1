// Package fleets is what beckon's commands do with other machines: link and
// fleet, and the rows that list, watch, serve, prompt and statusline add to those
// of this machine.
package fleets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/service"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/render"
	"beckon/render/fleet"
	"beckon/state/live"

	"github.com/gofrs/flock"
)

func credentialFile(a *cli.App) string { return home.Config(a.Getenv, "fleet.json") }

// credential returns this machine's access to a fleet: the token in BECKON_FLEET, else the one
// that it joined with. ok is false if it has neither.
func credential(a *cli.App) (acc fleet.Credential, ok bool, err error) {
	if token := a.Getenv("BECKON_FLEET"); token != "" {
		if acc, err = fleet.ReadToken(token); err != nil {
			return acc, false, fmt.Errorf("BECKON_FLEET: %w", err)
		}
		return acc, true, nil
	}
	path := credentialFile(a)
	data, err := plainfile.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return acc, false, nil
	}
	if err != nil {
		return acc, false, err
	}
	if err := json.Unmarshal(data, &acc); err != nil {
		return acc, false, fmt.Errorf("reading %s: %w", path, err)
	}
	return acc, true, acc.Check()
}

// Joined reports whether this machine has an access to a fleet.
func Joined(a *cli.App) bool {
	_, ok, err := credential(a)
	return ok && err == nil
}

// errNoFleet says what to do where there is nothing to show.
var errNoFleet = cli.Hint(`beckon fleet link --join TOKEN joins one, and "hosts": ["ssh:NAME"] in config.json names`+
	` machines to ask by ssh: see beckon help fleet`, "this machine is in no fleet")

// Try tries the hub with this machine's access, which is empty if it is in no fleet, and reports
// whether a link runs. The error says why the hub does not let it in, or what is wrong with the access.
func Try(a *cli.App) (acc fleet.Credential, linked bool, err error) {
	acc, ok, err := credential(a)
	if !ok || err != nil {
		return fleet.Credential{}, false, err
	}
	path := filepath.Join(a.Store.Dir, "fleet", "link.lock")
	if _, err := os.Stat(path); err == nil {
		lock := flock.New(path)
		free, err := lock.TryRLock()
		if linked = err == nil && !free; free {
			_ = lock.Unlock()
		}
	}
	nc, err := fleet.DialOnce(acc)
	if err == nil {
		nc.Close()
	}
	return acc, linked, err
}

// LinkCmd is beckon fleet link.
type LinkCmd struct {
	Join    string `user:"joining a fleet" placeholder:"TOKEN" help:"Join with the token that beckon fleet invite printed, and remember it; - reads it from stdin."`
	Forget  bool   `hidden:"" user:"leaving a fleet" help:"When it ends, take this machine's sessions off all lists; for containers and CI."`
	Service bool   `help:"Write a unit for systemd, on macOS for launchd, that keeps the link running."`
	Quiet   bool   `hidden:"" short:"q" help:"Print nothing but errors."`
}

// Run implements the command.
func (c *LinkCmd) Run(a *cli.App) error {
	if c.Join != "" {
		return c.join(a)
	}
	if c.Service {
		return service.Unit{
			Name:  "link",
			About: "beckon fleet link: this machine's coding-agent sessions for the fleet",
			Args:  []string{"fleet", "link", "--quiet"},
		}.Write(a)
	}
	return c.publish(a)
}

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
		all.Go(func() { follow(ctx, a, acc, func(fleet.Shown) {}) }) // it stores what prompts show
	}
	return link.Run(ctx, rows)
}

func (c *LinkCmd) join(a *cli.App) error {
	token, path := c.Join, credentialFile(a)
	if path == "" {
		return errors.New("finding the configuration: HOME is not set")
	}
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
	err = cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), writeJSON(path, acc))
	switch {
	case err != nil:
		return err
	case acc.Host == "":
		fmt.Fprintf(a.Stdout, "joined %s to look: beckon list --fleet\n", acc.URL)
	default:
		fmt.Fprintf(a.Stdout, "joined %s as %s: beckon fleet link publishes its sessions, "+
			"beckon fleet link --service keeps that running\n", acc.URL, acc.Host)
	}
	return nil
}

// followRows sends this machine's rows whenever they change. A slow reader gets only the newest.
func followRows(ctx context.Context, a *cli.App, rows chan []render.Row) {
	f := live.NewFollower(a.Reader())
	f.Pause = 20 * time.Millisecond
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
