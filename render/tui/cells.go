package tui

import (
	"cmp"
	"path/filepath"
	"strings"

	"beckon/render"
	"beckon/render/term"

	"github.com/charmbracelet/x/ansi"
)

// name is the user's name for a row, else its project, else what was asked of it.
func name(r *render.Row) string {
	if p := clean(r.Label()); p != "" && p != "/" && p != "." {
		return p
	}
	return cmp.Or(clean(r.Title), r.SessionID)
}

// branch is the branch, and the work tree where its name is not repository or branch.
func branch(r *render.Row) string {
	if r.Git == nil {
		return ""
	}
	b, tree := clean(r.Git.Branch), clean(filepath.Base(r.Git.Worktree))
	if r.Git.Worktree == "" || tree == r.Project || tree == r.Git.Repo || tree == b {
		return b
	}
	return strings.TrimSpace(b + " @" + tree)
}

// badges returns what runs in addition to a session's turn.
func badges(r *render.Row, width int) string {
	return strings.Join(term.Badges(r, width < shortWidth), " ")
}

// contextUsed returns how full the model's context is, "" if unknown.
func contextUsed(r *render.Row) string {
	if r.Context == nil {
		return ""
	}
	return term.Percent(r.Context.UsedPercentage)
}

// what returns what a row does or wants, without repeating the title.
func what(r *render.Row, titled bool) string {
	w, title := clean(r.What()), clean(r.Title)
	if titled && w == title {
		return ""
	}
	return w
}

func (m *model) hostName(r *render.Row) string {
	if !m.several {
		return ""
	}
	h := clean(r.Host)
	if age := m.stale(r); age > 0 {
		h = term.Age(age) + " old: " + h // in front, since the end of a long name is cut
	}
	return h
}

// clean makes foreign text safe to draw in one line.
func clean(s string) string { return render.OneLine(s) }

// wrap breaks text into lines of at most width columns.
func wrap(s string, width int) []string {
	var out []string
	for _, l := range render.Lines(s) {
		out = append(out, strings.Split(ansi.Wrap(l, max(1, width), ""), "\n")...)
	}
	if out == nil {
		return []string{""}
	}
	return out
}
