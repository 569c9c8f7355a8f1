package notify

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"beckon/state/offer"
)

// desktopRows is how many rows of text a notification shows.
const desktopRows = 6

// Asks reports whether the user wants buttons, if the system has them.
func (d *DesktopChannel) Asks() bool {
	return d.Actions && runtime.GOOS != "darwin" && runtime.GOOS != "windows"
}

// Words says how much a notification shows; it stays on this machine.
func (*DesktopChannel) Words() Words { return Words{Rows: desktopRows, Full: true} }

// Ask shows a with buttons. It talks to the bus itself: an intermediate program would have to
// be trusted, and anybody may write to a directory of the search path. An answer is a signal
// from the connection that accepted the notification, with the number that it assigned; the
// bus vouches for the sender of a signal. A daemon or a bus that an agent started is not
// trusted. If any program can make the daemon press a button, no button allows.
//
// A daemon without buttons shows a like any notification.
func (d *DesktopChannel) Ask(ctx context.Context, a Ask) (word offer.Word, become func(string), err error) {
	become = func(string) {}
	b, err := dial(ctx, true)
	switch {
	case errors.Is(err, errNoButtons):
		return "", become, d.Send(ctx, a.Note)
	case errors.Is(err, errUnseen):
		return "", become, errors.Join(err, d.Send(ctx, a.Note))
	case err != nil:
		return "", become, err
	}
	if b.driven {
		a.Buttons = slices.DeleteFunc(slices.Clone(a.Buttons), func(w offer.Word) bool { return w == offer.Allow })
	}
	id, err := b.show(ctx, a, len(d.Jump) > 0, neverGone)
	if err != nil {
		b.conn.Close()
		return "", become, err
	}
	become = func(string) {
		_ = b.call(context.WithoutCancel(ctx), "CloseNotification", id).Err // it may be gone
		b.conn.Close()
	}
	for {
		key, ok := b.next(ctx, id)
		if !ok {
			return "", become, nil
		}
		if key == jumpAction {
			_ = d.follow(ctx, a.Note)
		} else if slices.Contains(a.Buttons, offer.Word(key)) {
			return offer.Word(key), become, nil
		}
	}
}

// freedesktop shows n, and jumps when it is clicked.
func (d *DesktopChannel) freedesktop(ctx context.Context, n Note) error {
	b, err := dial(ctx, false)
	if err != nil {
		return err
	}
	jumps := len(d.Jump) > 0 && slices.Contains(b.able, "actions")
	id, err := b.show(ctx, Ask{Note: n, Text: n.Body}, jumps, asUsual)
	if err != nil || !jumps {
		b.conn.Close()
		return err
	}
	d.clicks.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clickLimit)
		defer cancel()
		defer b.conn.Close()
		if key, _ := b.next(ctx, id); key == jumpAction {
			_ = d.follow(ctx, n)
		}
	})
	return nil
}

// HasDesktop returns why no notification can be shown on this Linux desktop, nil if one can.
func HasDesktop(ctx context.Context) error {
	b, err := dial(ctx, false)
	if err == nil {
		b.conn.Close()
	}
	return err
}
