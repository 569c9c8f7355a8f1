package jump

import (
	"context"

	"beckon/event"
	"beckon/render"
	"beckon/state/evidence"
)

// Here returns the session in the pane beckon was called in, and whether there is one. A
// command that tmux itself runs (a key binding, a popup) is in no pane: it stands for the one
// in front of the client used last.
func (j *Jumper) Here(ctx context.Context, rows []render.Row) (string, bool) {
	t := evidence.Terminal(j.Getenv)
	if t.Kind == "tmux" && t.Tmux.Pane == "" {
		m := &move{Jumper: j, ctx: ctx, row: &render.Row{}}
		if s, err := m.askTmux(t.Tmux.Socket); err == nil {
			if c := m.caller(s); c != nil {
				t.Tmux.Pane = c.active
			}
		}
	}
	var best *render.Row
	for i := range rows {
		r := &rows[i]
		if r.Remote == nil && SamePane(r.Pane, t) && (best == nil || r.UpdatedAt.After(best.UpdatedAt)) {
			best = r
		}
	}
	if best == nil {
		return "", false
	}
	return best.Record(), true
}

// SamePane reports whether a and b are the same pane of a terminal. Panes
// without an id are never the same.
func SamePane(a, b event.Terminal) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind == "tmux" {
		return a.Tmux.Pane != "" && a.Tmux.Pane == b.Tmux.Pane && sameServer(a.Tmux, b.Tmux)
	}
	return a.ID != "" && a.ID == b.ID
}

// Windows returns the grouping for render.Queue: the tmux window of each row, which only its
// server knows, else what the row's terminal says.
func (j *Jumper) Windows(ctx context.Context, rows []render.Row) func(*render.Row) string {
	servers := map[string]*server{}
	for i := range rows {
		socket := rows[i].Pane.Tmux.Socket
		if _, ok := servers[socket]; ok || rows[i].Pane.Kind != "tmux" || rows[i].Remote != nil {
			continue
		}
		m := &move{Jumper: j, ctx: ctx, row: &rows[i]}
		servers[socket], _ = m.askTmux(socket)
	}
	return func(r *render.Row) string {
		if s := servers[r.Pane.Tmux.Socket]; s != nil && r.Pane.Kind == "tmux" {
			if p := s.find(r.Pane.Tmux.Pane, nil); p != nil {
				return "tmux:" + s.socket + ":" + p.window
			}
		}
		return r.Window()
	}
}
