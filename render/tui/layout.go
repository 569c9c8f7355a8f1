package tui

import (
	"cmp"
	"path/filepath"
	"strings"

	"beckon/render"
	"beckon/render/term"

	"github.com/charmbracelet/x/ansi"
)

type layout struct {
	head, body, foot int // lines of the title, the list and the last line
	list             int // columns of the list
	side             bool
	peekWidth        int
	peekHeight       int
}

// Sizes from which the screen shows more.
const (
	sideWidth  = 120 // the peek panel stands beside the list
	shortWidth = 72  // the words of keys are whole
	airyHeight = 12  // a blank line under the title
	footHeight = 6   // a last line with keys
)

func (m *model) layout() layout {
	l := layout{head: 1, foot: 1, list: m.width}
	if m.height >= airyHeight {
		l.head = 2
	}
	if m.height < footHeight {
		l.foot = 0
	}
	l.body = max(1, m.height-l.head-l.foot)
	if !m.peek || m.help {
		return l
	}
	if l.side = m.width >= sideWidth; l.side {
		l.peekWidth = min(m.width*9/20, 90)
		l.peekHeight = l.body
		l.list = m.width - l.peekWidth
		return l
	}
	l.peekWidth = m.width
	// It gets what the list leaves, at least half; a request should be visible as a whole.
	l.peekHeight = min(l.body-min(3, l.body), max(l.body/2, 8, l.body-len(m.entries)-1))
	if m.asked(m.current(), false) != nil {
		l.peekHeight = max(l.peekHeight, l.body-5)
	}
	l.body -= l.peekHeight
	return l
}

// columns are the widths of a row's cells; 0 means hidden.
type columns struct {
	word, age, name, branch, title, what, badge, context, host int
}

const gap = 2

// measure returns the widths of a list's cells: what the session does gets what the others leave.
func (m *model) measure(width int) columns {
	var want columns
	for i := range m.rows {
		r := &m.rows[i]
		widen(&want.word, m.word(r))
		widen(&want.name, name(r))
		widen(&want.branch, branch(r))
		widen(&want.badge, badges(r))
		widen(&want.host, m.hostName(r))
		widen(&want.title, clean(r.Title))
		widen(&want.context, term.Used(r))
	}
	// Name and branch share a part of the line, and the branch shrinks first.
	const leastName = 8
	where := max(2*leastName, width*3/10)
	c := columns{age: 4, name: min(want.name, where-min(want.branch, leastName))}
	left := width - 6 - c.age - c.name - 2*gap
	take := func(field *int, want, least, atMost int) {
		if n := min(want, atMost); n > 0 && left-n-gap >= least {
			*field = n
			left -= n + gap
		}
	}
	take(&c.word, want.word, 34, 17)
	take(&c.branch, want.branch, 26, max(leastName, where-c.name))
	take(&c.badge, want.badge, 18, 24)
	take(&c.context, want.context, 26, 4)
	take(&c.host, want.host, 30, max(6, width/10))
	if width >= sideWidth {
		take(&c.title, want.title, 48, width/4)
	}
	c.what = max(0, left)
	return c
}

// widen makes a column as wide as a text, which has at most as many columns as bytes.
func widen(column *int, text string) {
	if len(text) > *column {
		*column = max(*column, term.Width(text))
	}
}

func (m *model) word(r *render.Row) string {
	w := term.Word(r)
	if r.Unseen && (r.NeedsYou || m.opt.Queue.Mode.Keeps()) {
		w += " (new)"
	}
	return w
}

// name is the user's name for a row, else its project, else what was asked of it.
func name(r *render.Row) string {
	if p := clean(r.ShownName()); p != "" && p != "/" && p != "." {
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

func badges(r *render.Row) string { return strings.Join(term.Badges(r), " ") }

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

func clean(s string) string { return render.OneLine(s) }

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
