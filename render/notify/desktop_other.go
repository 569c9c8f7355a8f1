//go:build !linux

package notify

import (
	"context"
	"errors"
	"runtime"

	"beckon/event/run"
	"beckon/state/alert"
)

// Desktop is the channel of the desktop's notifications, by osascript.
func Desktop(bool, []string) Channel {
	return Channel{Name: alert.Desktop, Send: func(ctx context.Context, n Note) error {
		if runtime.GOOS != "darwin" {
			return errors.New("the channel desktop is for Linux and macOS")
		}
		const script = "display notification (item 2 of argv) with title (item 1 of argv)"
		argv := []string{"osascript", "-e", "on run argv", "-e", script, "-e", "end run", "--", n.Title, n.Body}
		_, err := run.Program{Argv: argv, Limit: programLimit}.Output(ctx)
		return err
	}}
}

// HasDesktop returns why no notification can be shown, nil if one can.
func HasDesktop(context.Context) error {
	if runtime.GOOS != "darwin" {
		return ErrNoDesktop
	}
	return nil
}
