package setup

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/setup/steps"
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
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
	chosen, known := loadChannels(a)
	s.Fixed = s.On && !(known && slices.Equal(chosen.Wrote, cfg.Alert.Channels)) // the user wrote them
	s.Diff = func(on bool) (string, error) {
		value := chosen.Before
		if on {
			value = []string{channel}
		}
		c, err := installer.Plan(configFile(a, path), installer.List("notify", value))
		return c.Diff(), err
	}
	s.Do = func(on bool) error {
		if !on {
			return undoChannels(a, path, chosen)
		}
		if _, err := setChannels(a, path, []string{channel}); err != nil {
			return err
		}
		if channel == alert.Terminal && a.Width() == 0 {
			return nil // it would go to a file or a pipe
		}
		test := exec.Command(program, "notify", "test")
		test.Stdout, test.Stderr = a.Stdout, a.Stderr
		return test.Run()
	}
	return s
}

// hasDesktop reports whether this process can show notifications on a desktop.
func hasDesktop(a *cli.App) bool {
	screen := runtime.GOOS == "darwin" || a.Getenv("DISPLAY") != "" || a.Getenv("WAYLAND_DISPLAY") != ""
	return screen && a.Getenv("SSH_CONNECTION") == "" && notify.HasDesktop(context.Background()) == nil
}

// channels are the notification channels that setup or install wrote into the configuration,
// and those that were there before. The user's own are not undone.
type channels struct {
	Wrote  []string `json:"wrote"`
	Before []string `json:"before,omitempty"`
}

// configFile is the configuration as a file that is edited and given back.
func configFile(a *cli.App, path string) installer.Target {
	return installer.Target{Scope: installer.User, Path: path, Keep: keepDir(a)}
}

func channelsFile(a *cli.App) string { return filepath.Join(keepDir(a), "notify.json") }

// loadChannels returns what was written last; ok is false if nothing was.
func loadChannels(a *cli.App) (c channels, ok bool) {
	data, err := plainfile.ReadFile(channelsFile(a))
	return c, err == nil && json.Unmarshal(data, &c) == nil
}

// setChannels writes the list into the configuration at path, records that, and reports whether
// it changed the configuration. A list that is not recorded counts as the user's own.
func setChannels(a *cli.App, path string, list []string) (changed bool, err error) {
	is := a.Configured().Alert.Channels
	c, ok := loadChannels(a)
	if !ok || !slices.Equal(c.Wrote, is) {
		c.Before = is
	}
	c.Wrote = list
	if _, _, err := config.Load(path); err != nil {
		return false, err
	}
	change, err := installer.Apply(context.Background(), configFile(a, path), installer.List("notify", list, list, is))
	if err != nil || change.Noop() {
		return false, err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return true, err
	}
	return true, atomicfile.Write(channelsFile(a), append(data, '\n'), 0o600, true)
}

// undoChannels restores what was in the configuration at path before c was written.
func undoChannels(a *cli.App, path string, c channels) error {
	if _, err := installer.Apply(context.Background(), configFile(a, path), installer.List("notify", c.Before)); err != nil {
		return err
	}
	return os.Remove(channelsFile(a))
}
