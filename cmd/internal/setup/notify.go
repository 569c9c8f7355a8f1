package setup

import (
	"context"
	"os/exec"
	"runtime"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
	"beckon/render/notify"
	"beckon/state/alert"
)

// notifyStep chooses a notification channel and sends a first notification.
func notifyStep(a *cli.App, program string) steps.Step {
	channel := alert.Terminal
	if hasDesktop(a) {
		channel = alert.Desktop
	}
	s := steps.Step{Name: "notify", Title: "notify you when a session needs you (" + channel + ")", Want: true,
		Then: "beckon notify test sends another one; beckon help notifications has the choices"}
	var kept *notify.Kept
	if channel == alert.Terminal {
		kept = notify.KeptByTmux(a.Getenv("TMUX"))
	}
	if kept != nil {
		s.Then = kept.Error() + "; " + kept.Hint()
	}
	path, err := config.Path(a.Getenv)
	if err != nil {
		s.Absent = err.Error()
		return s
	}
	cfg := a.Configured()
	if s.On = len(cfg.Alert.Channels) > 0; s.On {
		s.Title = "notify you when a session needs you (" + strings.Join(cfg.Alert.Channels, ", ") + ")"
	}
	value := func(on bool) []string {
		if on {
			return []string{channel}
		}
		return nil
	}
	s.Diff = func(on bool) (string, error) {
		c, err := config.Plan(path, "notify", value(on))
		return installer.Diff(c.Old, c.New, c.File), err
	}
	s.Do = func(on bool) error {
		if _, err := config.Set(path, "notify", value(on)); err != nil || !on {
			return err
		}
		if channel == alert.Terminal && (a.Width() == 0 || kept != nil && !kept.Background) {
			return nil // it would go to a file or a pipe, or nowhere
		}
		test := exec.Command(program, "notify", "test")
		test.Stdout, test.Stderr = a.Stdout, a.Stderr
		return test.Run()
	}
	return s
}

// hasDesktop reports whether this process can show notifications on a desktop.
func hasDesktop(a *cli.App) bool {
	switch {
	case a.Getenv("SSH_CONNECTION") != "":
		return false
	case runtime.GOOS == "darwin" || runtime.GOOS == "windows":
		return true
	}
	return (a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != "") && notify.HasDesktop(context.Background()) == nil
}
