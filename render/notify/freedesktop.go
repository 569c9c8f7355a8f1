package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"beckon/event/bounded"
	"beckon/event/home"
	"beckon/render"
)

// freedesktop shows n with notify-send, and jumps when it is clicked. Before 0.8 notify-send
// does not support clicks, and the notification has none.
func (d *DesktopChannel) freedesktop(ctx context.Context, n Note) error {
	if !bus(os.Getenv) {
		return ErrNoDesktop
	}
	program, err := exec.LookPath("notify-send")
	if err != nil {
		return errors.New("notify-send is not installed")
	}
	plain := []string{"--app-name=beckon", "--", n.Title, escapeMarkup(n.Body)}
	if len(d.Jump) > 0 {
		switch err := d.clickable(ctx, n, program, plain); {
		case err == nil:
			return nil
		case !errors.Is(err, errNoClicks):
			return err
		}
	}
	said, err := run(ctx, desktopLimit, nil, nil, append([]string{program}, plain...)...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, render.FirstLine(said))
	}
	return nil
}

// errNoClicks means that notify-send does not know the options for clicks.
var errNoClicks = errors.New("notify-send is too old for clicks")

// showTime is how long notify-send may take to fail. If it is still running then, it has shown
// its notification and waits for a click, which it reports only when it ends.
const showTime = time.Second

// clickable shows n and starts a goroutine that waits for the click.
func (d *DesktopChannel) clickable(ctx context.Context, n Note, program string, args []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clickLimit)
	cmd := exec.CommandContext(ctx, program, append([]string{"--action=default=Go to it"}, args...)...)
	cmd.Env = home.Environ()
	cmd.WaitDelay = time.Second
	alone(cmd)
	said, clicked := bounded.Buffer{Max: maxSaid}, bounded.Buffer{Max: maxSaid}
	cmd.Stderr, cmd.Stdout = &said, &clicked
	if err := cmd.Start(); err != nil {
		cancel()
		return err
	}
	ended := make(chan error, 1)
	d.clicks.Go(func() {
		defer cancel()
		ended <- cmd.Wait()
		if strings.TrimSpace(string(clicked.Kept)) == "default" {
			_ = d.follow(ctx, n)
		}
	})
	shown := time.NewTimer(showTime)
	defer shown.Stop()
	select {
	case <-shown.C:
		return nil
	case err := <-ended:
		switch words := string(said.Kept); {
		case strings.Contains(words, "Unknown option"):
			return errNoClicks
		case err != nil:
			return fmt.Errorf("notify-send: %w: %s", err, render.FirstLine(words))
		}
		return nil // a server that does not report clicks has shown it
	}
}

// escapeMarkup keeps notification servers from reading a body as markup.
func escapeMarkup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
