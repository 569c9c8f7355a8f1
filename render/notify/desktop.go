package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"beckon/state/alert"
)

// Limits of the desktop.
const (
	desktopLimit = 5 * time.Second
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
)

// DesktopChannel is the channel of the desktop's notifications. A click jumps
// to the session where the platform reports clicks: on Linux, and on macOS
// with terminal-notifier.
type DesktopChannel struct {
	Actions bool     // its notifications of what asks have buttons
	Jump    []string // the command that takes the user to a session, without its id; or nil

	clicks sync.WaitGroup
}

// Name is the configuration's word for it.
func (*DesktopChannel) Name() string { return alert.Desktop }

// Send returns when the notification is shown. A click on it may come later:
// Wait waits for it.
func (d *DesktopChannel) Send(ctx context.Context, n Note) error {
	switch runtime.GOOS {
	case "darwin":
		return d.mac(ctx, n)
	case "windows":
		return toast(ctx, n)
	}
	return d.freedesktop(ctx, n)
}

// Wait waits until every notification was clicked or closed, and two minutes at
// most for each.
func (d *DesktopChannel) Wait() { d.clicks.Wait() }

func (d *DesktopChannel) follow(ctx context.Context, n Note) error {
	if len(d.Jump) == 0 {
		return nil
	}
	_, err := run(ctx, desktopLimit, nil, nil, append(d.Jump[:len(d.Jump):len(d.Jump)], n.record())...)
	return err
}

// ErrNoDesktop means that there is no desktop: over SSH, or in a
// container.
var ErrNoDesktop = errors.New("no desktop here: there is no session bus")

// bus reports whether there is a session bus to ask.
func bus(getenv func(string) string) bool {
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return dir != "" && err == nil
}
