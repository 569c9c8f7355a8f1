package term

import (
	"beckon/render"
	"beckon/state"
)

// Glyph returns the sign that tells a state without colour (manual, What the
// states mean).
func Glyph(s state.State) string { return lookOf(s).glyph }

// Aside is what the state of a session is called that the user has set aside; the
// formats for programs keep the older word, backburner.
const Aside = "aside"

// Word returns what a row's state is called: an idle session's reason says
// more than its state.
func Word(r *render.Row) string {
	switch {
	case r.State == state.Idle && r.Reason != "":
		return r.Reason
	case r.State == state.Backburned:
		return Aside
	}
	return string(r.State)
}
