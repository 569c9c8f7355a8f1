package web

import (
	"testing"

	"beckon/render"
	"beckon/state"
)

// Silent hooks are a fault only if a session is at work that they should report.
func TestUnheard(t *testing.T) {
	for _, c := range []struct {
		name, mode string
		row        render.Row
		want       bool
	}{
		{"idle", modePolling, render.Row{State: state.Idle, Source: state.FromRegistry}, false},
		{"at work, as a hook told", modePolling, render.Row{State: state.Working, Source: state.FromHook}, false},
		{"at work, and no hook told of a prompt", modeHooks, render.Row{State: state.Working, Source: state.FromRegistry}, true},
		{"at work after a permission was given", modeHooks, render.Row{State: state.Working, Source: state.FromRegistry, Turn: &render.Turn{}}, false},
		{"in a call that takes long", modePolling, render.Row{State: state.Working, Source: state.FromRegistry, Turn: &render.Turn{}, Tool: &render.Tool{}}, false},
		{"at work for long, and nothing told", modePolling, render.Row{State: state.Working, Source: state.FromTranscript, Turn: &render.Turn{}}, true},
	} {
		if got := unheard(&c.row, c.mode); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
