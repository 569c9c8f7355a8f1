package notify

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"beckon/render/run"
	"beckon/state/alert"
)

// Limits of the desktop.
const (
	desktopLimit = 5 * time.Second
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
)

// DesktopChannel is the channel of the desktop's notifications. A click jumps to the
// session on Linux, and on macOS with terminal-notifier.
type DesktopChannel struct {
	Actions bool     // notifications of requests have buttons
	Jump    []string // the command that jumps to a session, without its id; or nil

	clicks sync.WaitGroup
}

// ErrNoDesktop means that there is no desktop, as over SSH or in a container.
var ErrNoDesktop = errors.New("no desktop here: there is no session bus")

// Name returns the channel's name in the configuration.
func (*DesktopChannel) Name() string { return alert.Desktop }

// Send returns when the notification is shown. Wait waits for a click on it.
func (d *DesktopChannel) Send(ctx context.Context, n Note) error {
	switch runtime.GOOS {
	case "darwin":
		return d.mac(ctx, n)
	case "windows":
		return toast(ctx, n)
	}
	return d.freedesktop(ctx, n)
}

// Wait waits until every notification was clicked or closed, at most two minutes.
func (d *DesktopChannel) Wait() { d.clicks.Wait() }

// jump returns the command that jumps to a note's session.
func (d *DesktopChannel) jump(n *Note) []string {
	return append(d.Jump[:len(d.Jump):len(d.Jump)], n.record())
}

func (d *DesktopChannel) follow(ctx context.Context, n *Note) error {
	_, err := run.Program{Argv: d.jump(n), Limit: desktopLimit}.Output(ctx)
	return err
}
