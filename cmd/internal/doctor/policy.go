package doctor

import (
	"errors"
	"os"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/policies"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/render"
	"beckon/render/term"
)

// policies reports problems with the policy files, and an environment that names other files
// than earlier sessions had.
func (d *doctor) policies() {
	s, err := policies.Sources(d.App)
	if err != nil {
		d.add(resultWarning, "policy", "", "%v", err)
		return
	}
	loaded := policy.Load(s)
	for _, f := range loaded.Files {
		switch notice := f.Notice(); {
		case notice == "":
			d.add(resultOK, "policy", "", "%s: %s in force", f.Path, term.Plural(len(f.Config.Hooks), "hook"))
		case f.Status == policy.Untrusted || f.Status == policy.Changed:
			d.add(resultWarning, "policy", "beckon policy trust", "%s", render.OneLine(notice))
		case f.Status == policy.Vanished || errors.Is(f.Err, trust.ErrEmpty):
			d.add(resultError, "policy", "beckon policy accept, if it is meant", "%s", render.OneLine(notice))
		case f.Level == config.Project: // another version of beckon trusted it
			d.add(resultError, "policy", "put it right, then: beckon policy trust", "%s", render.OneLine(notice))
		default:
			d.add(resultError, "policy", "put it right: beckon policy check says where the mistake is", "%s",
				render.OneLine(notice))
		}
	}
	for _, c := range s.State.Copies(trust.Good) {
		if c.Path != s.Global && c.Text != "" {
			d.add(resultWarning, "policy", "a session's settings can set XDG_CONFIG_HOME; beckon cannot prevent that",
				"%s was in force in sessions of another environment, and is not in this one", c.Path)
		}
	}
	if s.Global != "" && answer.Shared(s.Global) {
		d.add(resultError, "policy", "chmod 600 "+s.Global, "others may write to %s, and so choose what runs as you",
			s.Global)
		d.newest().repair = func() error { return os.Chmod(s.Global, 0o600) }
	}
}
