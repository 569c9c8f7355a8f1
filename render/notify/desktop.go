package notify

import (
	"errors"
	"sync"
	"time"

	"beckon/state/alert"
)

// desktopLimit is the time limit of a program that shows a notification.
const desktopLimit = 5 * time.Second

// DesktopChannel is the channel of the desktop's notifications. On Linux a click jumps to the
// session.
type DesktopChannel struct {
	Actions bool     // notifications of requests have buttons
	Jump    []string // the command that jumps to a session, without its id; or nil

	clicks sync.WaitGroup
}

// ErrNoDesktop means that there is no desktop, as over SSH or in a container.
var ErrNoDesktop = errors.New("no desktop here: there is no session bus")

// Name returns the channel's name in the configuration.
func (*DesktopChannel) Name() string { return alert.Desktop }

// Wait waits until every notification was clicked or closed, at most two minutes.
func (d *DesktopChannel) Wait() { d.clicks.Wait() }
