package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event/run"
	"beckon/state"
	"beckon/state/alert"
)

const (
	jumpKey = "default" // a click on the notification
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
	// settled is how long notify-send is watched for an error: one that fails ends at once.
	settled = 500 * time.Millisecond
)

// bus returns the environment of a program that talks to the session bus.
func bus() (env []string, err error) {
	const name = "DBUS_SESSION_BUS_ADDRESS"
	path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")
	if os.Getenv(name) != "" {
		return nil, nil
	} else if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
		return nil, ErrNoDesktop
	}
	return []string{name + "=unix:path=" + url.PathEscape(path)}, nil
}

// Desktop is the channel of the desktop's notifications, by notify-send. A click runs jump with the
// session's id.
func Desktop(jump []string) Channel { return Channel{Name: alert.Desktop, Send: desktop{jump}.send} }

type desktop struct{ jump []string }

// escape keeps a daemon from reading a text as markup, and notify-send from reading a
// backslash.
var escape = strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;")

// errNoAction means that notify-send is older than libnotify 0.8.
var errNoAction = errors.New("notify-send knows no actions")

// show runs notify-send until the notification is closed, and reports whether it was clicked.
func show(ctx context.Context, env []string, n Note, action ...string) (clicked bool, err error) {
	argv := append([]string{"notify-send", "--app-name=beckon"}, action...)
	p := run.Program{Argv: append(argv, "--", n.Title, escape.Replace(n.Body)), Env: env, Limit: clickLimit}
	out, said, err := p.Outputs(ctx)
	key, why := strings.TrimSpace(string(out.Kept)), strings.TrimSpace(string(said.Kept))
	switch {
	case err == nil, strings.HasSuffix(why, "Displaying non-interactively."): // a daemon without actions
		return key == jumpKey, nil
	case strings.Contains(key+why, "Unknown option"):
		return false, errNoAction
	}
	return false, errors.New(strings.TrimSuffix(err.Error()+": "+state.LastLine(why), ": "))
}

// send shows a note. It returns when that is shown; Wait waits for a click, which jumps.
func (d desktop) send(ctx context.Context, n Note) error {
	env, err := bus()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	clicks.Go(func() {
		ctx := context.WithoutCancel(ctx)
		clicked, err := show(ctx, env, n, "--action="+jumpKey+"=Go to it")
		if errors.Is(err, errNoAction) {
			_, err = show(ctx, env, n)
		}
		if ended <- err; clicked {
			argv := append(slices.Clone(d.jump), n.record())
			_, _ = run.Program{Argv: argv, Limit: programLimit}.Output(ctx)
		}
	})
	select {
	case err := <-ended:
		return err
	case <-time.After(settled):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HasDesktop returns why no notification can be shown, nil if one can.
func HasDesktop(ctx context.Context) error {
	env, err := bus()
	if err == nil {
		_, err = exec.LookPath("notify-send")
	}
	if path, lacks := exec.LookPath("dbus-send"); err == nil && lacks == nil {
		const name = "org.freedesktop.Notifications"
		ask := []string{path, "--session", "--print-reply", "--dest=" + name, "/org/freedesktop/Notifications",
			name + ".GetCapabilities"}
		var said string
		if said, err = (run.Program{Argv: ask, Env: env, Limit: programLimit}).Output(ctx); err != nil {
			err = fmt.Errorf("the notification daemon: %w: %s", err, strings.TrimSpace(said))
		}
	}
	return err
}
