package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"beckon/event/run"
	"beckon/state/alert"
)

const (
	jumpKey = "default" // a click on the notification
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
	// settled is how long notify-send is watched for an error: one that fails ends at once.
	settled = 500 * time.Millisecond
)

// unixBus is an address of a bus at a socket of this machine.
var unixBus = regexp.MustCompile(`(?:^|;)unix:(?:[^;,]*,)*(path|abstract)=([^;,]*)`)

// findBus returns why notify-send cannot reach the session bus, nil if it can.
func findBus() error {
	address := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"); address == "" {
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			return ErrNoDesktop
		}
		address = "unix:path=" + url.PathEscape(path)
	}
	m := unixBus.FindStringSubmatch(address)
	if m == nil {
		return nil // notify-send says whether it is reached
	}
	socket, _ := url.PathUnescape(m[2]) // a wrong one is found when it is dialled
	if m[1] == "abstract" {
		socket = "@" + socket
	}
	conn, err := net.DialTimeout("unix", socket, programLimit)
	if err != nil {
		return fmt.Errorf("the session bus: %w", err)
	}
	return conn.Close()
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
func show(ctx context.Context, n Note, action ...string) (clicked bool, err error) {
	argv := append([]string{"notify-send", "--app-name=beckon"}, action...)
	p := run.Program{Argv: append(argv, "--", n.Title, escape.Replace(n.Body)), Limit: clickLimit}
	out, said, err := p.Outputs(ctx)
	all := string(out.Kept) + string(said.Kept)
	switch {
	case err == nil, strings.Contains(all, "Actions are not supported"): // by the daemon: it is shown without
		return strings.TrimSpace(string(out.Kept)) == jumpKey, nil
	case strings.Contains(all, "Unknown option"):
		return false, errNoAction
	}
	return false, fmt.Errorf("%w: %s", err, strings.TrimSpace(all))
}

// send shows a note. It returns when that is shown; Wait waits for a click, which jumps.
func (d desktop) send(ctx context.Context, n Note) error {
	if err := findBus(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	clicks.Go(func() {
		ctx := context.WithoutCancel(ctx)
		clicked, err := show(ctx, n, "--action="+jumpKey+"=Go to it")
		if errors.Is(err, errNoAction) {
			_, err = show(ctx, n)
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
	err := findBus()
	if err == nil {
		_, err = exec.LookPath("notify-send")
	}
	if path, lacks := exec.LookPath("dbus-send"); err == nil && lacks == nil {
		const name = "org.freedesktop.Notifications"
		ask := []string{path, "--session", "--print-reply", "--dest=" + name, "/org/freedesktop/Notifications",
			name + ".GetCapabilities"}
		var said string
		if said, err = (run.Program{Argv: ask, Limit: programLimit}).Output(ctx); err != nil {
			err = fmt.Errorf("the notification daemon: %w: %s", err, strings.TrimSpace(said))
		}
	}
	return err
}
