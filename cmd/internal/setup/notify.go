package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/config"
	"beckon/cmd/internal/hook"
	policy "beckon/event/policy/config"
	"beckon/event/typed"
	"beckon/installer"
	"beckon/render/notify"
	"beckon/state/alert"
)

// notifyStep chooses a notification channel, and sends a first notification by it. Channels that the
// user wrote are not undone.
func (m *machine) notifyStep() Step {
	s := Step{
		Name: "notify",
		Want: true,
		Then: "beckon notify test sends another one; beckon help notifications has the choices",
	}
	channel := alert.Terminal
	if m.hasDesktop() {
		channel = alert.Desktop
	} else if kept := notify.KeptByTmux(m.Getenv("TMUX")); kept != nil {
		s.Then = kept.Error() + "; " + typed.HintOf(kept)
	}
	path := alert.ConfigPath(m.Getenv)
	_, _, err := config.Load(path)
	if path == "" {
		err = errors.New("HOME is not set")
	}
	err = cmp.Or(m.InAgent("choosing notifications"), err)
	is, before := m.own(path).Listed("notify")
	list := slices.DeleteFunc(slices.Clone(is), func(name string) bool {
		return slices.Contains(before, name) || name != alert.Terminal && name != alert.Desktop
	})
	s.On = len(is) > 0
	s.Fixed = s.On && len(list) == 0
	if !s.On {
		is, list = []string{channel}, []string{channel}
	}
	if err != nil && !s.On {
		s.Absent = err.Error()
	}
	s.Title = "notify you when a session needs you (" + strings.Join(is, ", ") + ")"
	s.Parts = []installer.Part{m.own(path).List("notify", list)}
	s.Also = func(on bool) error {
		if !on || channel == alert.Terminal && m.Width() == 0 {
			return nil // a test on the terminal would go to a file or a pipe
		}
		test := exec.Command(m.beckon, "notify", "test")
		test.Stdout, test.Stderr = m.Stdout, m.Stderr
		return test.Run()
	}
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

// ruleSteps returns a step for each pack of rules. A pack that the policy had before the first of them
// is the user's.
func (m *machine) ruleSteps() (all []Step) {
	path := hook.Sources(m.Getenv, m.Store.Dir).Global
	if path == "" {
		return nil
	}
	is, before := m.own(path).Listed("packs") // none of a file that cannot be read: the step then says why
	for _, p := range proposed {
		s := Step{Name: p.pack, Title: p.title, On: slices.Contains(is, p.pack),
			Then: "in force from the next call on, in every project"}
		s.Fixed = s.On && slices.Contains(before, p.pack)
		s.Parts = []installer.Part{m.own(path).List("packs", []string{p.pack})}
		rules, _ := policy.Decode(p.pack, policy.Global, fmt.Appendf(nil, `{"packs": [%q]}`, p.pack), false)
		for _, h := range rules {
			what, _, _ := strings.Cut(h.Spec.Rule.Reason, ". ")
			s.Text += fmt.Sprintf("%-5s %s.\n", h.Spec.Rule.Decision, strings.TrimSuffix(what, "."))
		}
		all = append(all, s)
	}
	return all
}
