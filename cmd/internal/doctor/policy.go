package doctor

import (
	"errors"

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
		d.add(levelNote, "policy", "", "%v", err)
		return
	}
	loaded := policy.Load(s)
	for _, f := range loaded.Files {
		switch notice := f.Notice(); {
		case notice == "":
			d.add(levelOK, "policy", "", "%s: %s in force", f.Path, term.Plural(len(f.Config.Hooks), "hook"))
		case f.Status == policy.Untrusted || f.Status == policy.Changed:
			d.add(levelNote, "policy", "beckon policy trust", "%s", render.OneLine(notice))
		case f.Status == policy.Vanished || errors.Is(f.Err, trust.ErrEmpty):
			d.add(levelFault, "policy", "beckon policy accept, if it is meant", "%s", render.OneLine(notice))
		case f.Level == config.Project: // another version of beckon trusted it
			d.add(levelFault, "policy", "put it right, then: beckon policy trust", "%s", render.OneLine(notice))
		default:
			d.add(levelFault, "policy", "put it right: beckon policy check says where the mistake is", "%s", render.OneLine(notice))
		}
	}
	for _, c := range s.State.Copies(trust.Good) {
		if c.Path != s.Global && c.Text != "" {
			d.add(levelNote, "policy", "a session's settings can set XDG_CONFIG_HOME; beckon cannot prevent that",
				"%s was in force in sessions of another environment, and is not in this one", c.Path)
		}
	}
	if s.Global != "" && answer.Shared(s.Global) {
		d.add(levelFault, "policy", "chmod 600", "others may write to %s, and so choose what runs as you", s.Global)
	}
}
