package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/config"
	"beckon/cmd/internal/hook"
	"beckon/event/plainfile"
	"beckon/event/policy/packs"
	"beckon/installer"
	"beckon/render/notify"
	"beckon/state/alert"

	"github.com/tailscale/hujson"
)

// channels are the notification channels that setup wrote into the configuration, and those that
// were there before. The user's own are not undone.
type channels struct {
	Wrote  []string `json:"wrote"`
	Before []string `json:"before,omitempty"`
}

// notifyStep chooses notification channels, and sends a first notification by the proposed one.
func (m *machine) notifyStep() step {
	list := m.channels
	if list == nil {
		list = []string{alert.Terminal}
		if m.hasDesktop() {
			list = []string{alert.Desktop}
		}
	}
	s := step{
		Name: "notify",
		Want: true,
		Then: "beckon notify test sends another one; beckon help notifications has the choices",
	}
	if slices.Contains(list, alert.Terminal) {
		if kept := notify.KeptByTmux(m.Getenv("TMUX")); kept != nil {
			s.Then = kept.Error() + "; " + kept.Hint()
		}
	}
	path, err := config.Path(m.Getenv)
	if err == nil {
		err = m.InAgent("choosing notifications")
	}
	is := m.Configured().Alert.Channels
	s.On = len(is) > 0 && (m.channels == nil || slices.Equal(is, m.channels))
	if err != nil && !s.On {
		s.Absent = err.Error()
	}
	shown := list
	if s.On {
		shown = is
	}
	s.Title = "notify you when a session needs you (" + strings.Join(shown, ", ") + ")"
	noted := filepath.Join(keepDir(m.App), "notify.json")
	var chosen channels
	data, err := plainfile.ReadFile(noted)
	known := err == nil && json.Unmarshal(data, &chosen) == nil && slices.Equal(chosen.Wrote, is)
	s.Fixed = s.On && !known // the user wrote them
	s.edits(m.App, func(on bool) ([]installer.FileEdit, error) {
		if !on {
			return []installer.FileEdit{{Target: m.own(path), Op: installer.List("notify", chosen.Before)}}, nil
		}
		_, _, err := config.Load(path)
		return []installer.FileEdit{{Target: m.own(path), Op: installer.List("notify", list, list, is)}}, err
	}, func(on bool) error {
		if !on {
			return os.Remove(noted)
		}
		before := is
		if known {
			before = chosen.Before
		}
		data, err := json.Marshal(channels{list, before})
		if err == nil {
			err = plainfile.Write(noted, append(data, '\n'), 0o600, true)
		}
		if err != nil || m.channels != nil || list[0] == alert.Terminal && m.Width() == 0 {
			return err // a test on the terminal would go to a file or a pipe
		}
		test := exec.Command(m.beckon, "notify", "test")
		test.Stdout, test.Stderr = m.Stdout, m.Stderr
		return test.Run()
	})
	s.Old = false
	return s
}

// hasDesktop reports whether this process can show notifications on a desktop.
func (m *machine) hasDesktop() bool {
	screen := runtime.GOOS == "darwin" || m.Getenv("DISPLAY") != "" || m.Getenv("WAYLAND_DISPLAY") != ""
	return screen && m.Getenv("SSH_CONNECTION") == "" && notify.HasDesktop(context.Background()) == nil
}

// proposed are the packs of rules that setup offers, and what each refuses.
var proposed = []struct{ pack, title string }{
	{"git", "rules: ask before git loses work; no forced push"},
	{"filesystem", "rules: ask before files outside the project go"},
	{"secrets", "rules: no reading of key files, no sending them"},
}

// ruleSteps returns a step for each pack of rules.
func (m *machine) ruleSteps() (list []step) {
	path := hook.Sources(m.Getenv, m.Store.Dir).Global
	if path == "" {
		return nil
	}
	noted := filepath.Join(keepDir(m.App), "packs") // those that setup has put into the policy
	data, _ := plainfile.ReadFile(noted)
	added := strings.Fields(string(data))
	for _, p := range proposed {
		s := step{Name: p.pack, Title: p.title, On: slices.Contains(packsIn(path), p.pack),
			Then: "in force from the next call on, in every project"}
		s.Fixed = s.On && !slices.Contains(added, p.pack) // the user wrote it
		is := func(name string) bool { return name == p.pack }
		s.edits(m.App, one(m.own(path), func(on bool) installer.Op {
			have := packsIn(path)
			want := slices.DeleteFunc(slices.Clone(have), is)
			ours := [][]string{have}
			switch {
			case on && slices.Contains(have, p.pack):
				want = have
			case on:
				want = append(want, p.pack)
			}
			if on || slices.ContainsFunc(want, func(name string) bool { return slices.Contains(added, name) }) {
				ours = append(ours, want)
			}
			if len(want) == 0 {
				want = nil
			}
			return installer.List("packs", want, ours...)
		}), func(on bool) error {
			added = slices.DeleteFunc(added, is)
			if on {
				added = append(added, p.pack)
			}
			if len(added) == 0 {
				return os.Remove(noted)
			}
			return plainfile.Write(noted, []byte(strings.Join(added, "\n")+"\n"), 0o600, true)
		})
		diff := s.Diff
		s.Diff = func(on bool) (string, error) {
			text, err := diff(on)
			rules, _ := packs.Load(p.pack)
			for _, r := range rules {
				text += fmt.Sprintf("%-5s %s\n", r.Decision, r.Reason)
			}
			return text, err
		}
		list = append(list, s)
	}
	return list
}

// packsIn returns the packs that a policy file names. One that cannot be read names none: the step
// then says why.
func packsIn(path string) []string {
	var file struct {
		Packs []string `json:"packs"`
	}
	if data, err := plainfile.ReadFile(path); err == nil {
		if plain, err := hujson.Standardize(data); err == nil {
			_ = json.Unmarshal(plain, &file)
		}
	}
	return file.Packs
}
