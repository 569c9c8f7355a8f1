package term

import (
	"beckon/render"
	"beckon/state"
)

// Glyph returns the sign that tells a state without colour (manual, What the
// states mean).
func Glyph(s state.State) string { return lookOf(s).glyph }

// Word returns what a row's state is called: an idle session's reason says
// more than its state.
func Word(r *render.Row) string {
	if r.State == state.Idle && r.Reason != "" {
		return r.Reason
	}
	return string(r.State)
}
