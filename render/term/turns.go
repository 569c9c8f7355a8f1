package term

import (
	"cmp"
	"io"
	"strings"
	"time"

	"beckon/event/intent"
	"beckon/render"
	"beckon/state"
)

// Turns writes one line per turn: when (in zone), which project if of is set, who, what. The
// text takes the remaining width.
func Turns(w io.Writer, lines []render.TurnLine, of bool, zone *time.Location, st Style) error {
	var b strings.Builder
	project := columnOf(len(lines), 20, func(i int) string { return clean(lines[i].Project) })
	day := ""
	for i := range lines {
		t := &lines[i]
		at := t.Timestamp.In(zone)
		if d := at.Format(time.DateOnly); d != day {
			day = d
			b.WriteString(st.Paint("1", d) + "\n")
		}
		head := "  " + at.Format("15:04:05") + "  "
		if of {
			head += Fit(clean(t.Project), project, false) + "  "
		}
		look, plain := turnLook(t), ""
		if look.sgr == "1" || look.sgr == "2" { // colours are not readable on every background
			plain = look.sgr
		}
		text := cmp.Or(t.Line(), "("+string(t.Intent)+")")
		if room := st.Width - Width(head) - 2; st.Width > 0 {
			text = truncate(text, max(room, 8), "…")
		}
		b.WriteString(head + st.Paint(look.sgr, look.glyph) + " " + st.Paint(plain, text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// turnLook draws a turn: > the user, ? a question, ! a permission, x an error, - the end of a
// turn, . progress.
func turnLook(t *render.TurnLine) look {
	switch {
	case t.Actor == state.SpeakerUser:
		return look{">", "1"}
	case t.Rule == string(state.WaitPermission):
		return lookOf(state.Permission)
	case t.Rule == state.TurnFailure:
		return lookOf(state.Failed)
	case t.Intent == intent.IntentQuestion:
		return lookOf(state.Question)
	case t.Intent == intent.IntentProgress:
		return look{".", "2"}
	}
	return look{"-", "33"}
}
