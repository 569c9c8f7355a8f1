package hook

import (
	"fmt"
	"path/filepath"
	"testing"

	"beckon/event/policy/run"
	"beckon/event/policy/wire"
)

// A post from elsewhere never chooses the directory in which commands run, whatever the
// server's own environment lacks.
func TestPostedFromElsewhere(t *testing.T) {
	u := newUser(t, "", "")
	payload := fmt.Appendf(nil, `{"session_id":"s","cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":"x"}`, u.dir)
	for _, home := range []string{u.dir, "relative", ""} {
		s := &Served{Store: u.store(), Starter: run.Starter{}, Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
		f, err := s.invocation(wire.Posted{Foreign: true}, payload)
		if err != nil || !filepath.IsAbs(f.ev.Dir) {
			t.Errorf("with the home %q commands run in %q, %v", home, f.ev.Dir, err)
		}
	}
}
