package term

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/render"
	"beckon/state"
)

// Detail is something about a session, with what it is; without that it continues the one
// before.
type Detail struct{ Label, Text string }

// Asked returns everything that is asked, with the answers to choose from; q may be nil.
func Asked(q *render.Question) (list []Detail) {
	if q == nil {
		return nil
	}
	add := func(label, text string) {
		if text != "" {
			list = append(list, Detail{label, text})
		}
	}
	all := append([]event.Question{{Text: q.Text, Header: q.Header, Multi: q.Multi, Options: q.Options}}, q.More...)
	for _, one := range all {
		add("question", strings.TrimPrefix(one.Header+": "+one.Text, ": "))
		mark := "( ) "
		if one.Multi {
			mark = "[ ] "
		}
		for _, o := range one.Options {
			add("", strings.TrimSuffix(mark+o.Label+" - "+o.Description, " - "))
		}
	}
	label := "plan"
	for _, l := range render.Lines(q.Plan) {
		add(label, l)
		label = ""
	}
	for _, f := range q.Form {
		add("field", f)
	}
	for _, o := range q.Suggestions {
		add("offers", o)
	}
	return list
}

// Facts returns what a row says of its session beyond its state and its texts.
func Facts(r *render.Row) (list []Detail) {
	add := func(label, text string) {
		if text = clean(text); text != "" {
			list = append(list, Detail{label, text})
		}
	}
	add("agent", r.Agent+" "+r.Version+" "+r.Model)
	add("name", r.Name)
	unnamed := *r
	unnamed.Name = ""
	add("project", where(&unnamed).String())
	add("directory", r.Cwd)
	add("mode", r.Mode)
	if r.Context != nil {
		add("context", strings.TrimSuffix(Used(r)+" used, "+spent(r.CostUSD), ", -"))
	} else if r.CostUSD > 0 {
		add("cost", dollars(r.CostUSD))
	}
	if r.Job != nil {
		add("job", r.Job.Name)
	}
	add("terminal", Place(r))
	if r.Process != nil {
		add("process", strconv.Itoa(r.Process.Pid)+" on "+r.Host)
	} else {
		add("host", r.Host)
	}
	for _, a := range r.Subagents {
		add("subagent", a.Type+" "+a.AgentID+": "+string(a.State))
	}
	add("besides", strings.Join(Badges(r), ", "))
	for i := range r.Refusals {
		add("refused", r.Refusals[i].Line())
	}
	return list
}

// Place says which pane a session is in, "" if that is not known.
func Place(r *render.Row) string {
	switch {
	case r.Job != nil:
		return "in the background: claude attach " + r.Job.ID
	case r.Tmux != nil:
		return "tmux " + r.Tmux.Session + " " + r.Tmux.Pane + " (" + r.Tmux.Socket + ")"
	case r.Terminal != nil:
		return r.Terminal.Kind + " " + r.Terminal.ID
	}
	return ""
}

// Badges returns a session's label, and what runs in addition to its turn.
func Badges(r *render.Row) (list []string) {
	if r.Label != "" {
		list = append(list, "#"+r.Label)
	}
	add := func(n int, one string) {
		if n > 0 {
			list = append(list, Plural(n, one))
		}
	}
	b := cmp.Or(r.Background, &render.Background{})
	add(max(len(r.Subagents), b.Agents), "subagent")
	add(b.Shells, "shell")
	add(b.Crons, "schedule")
	if r.Refused > 0 && r.State != state.Idle { // there it is in the state's name
		list = append(list, strconv.Itoa(r.Refused)+" refused")
	}
	return list
}

// Show returns what is known about one session.
func Show(r *render.Row, s *state.Session, st Style) string {
	l := lookOf(r.State)
	list := []Detail{
		{"session", r.SessionID},
		{"state", st.Paint(l.sgr, l.glyph+" "+clean(reasoned(r.State, r.Reason))) + " for " + Age(st.Now.Sub(r.Since))},
	}
	list = append(list, Facts(r)...)
	if r.Title != "" {
		list = append(list, Detail{"asked", r.Title})
	}
	if r.What() != r.Title {
		list = append(list, Detail{"now", r.What()})
	}
	list = append(append(list, Asked(r.Question)...), Detail{"counts", fmt.Sprintf("%s, %s, %s",
		Plural(int(s.Counts.Turns), "turn"), Plural(int(s.Counts.Tools), "tool call"),
		Plural(int(s.Counts.Permissions), "permission"))})
	var b strings.Builder
	for _, d := range list {
		if d.Label != "state" { // it has colours
			d.Text = render.Clean(d.Text)
		}
		fmt.Fprintf(&b, "%-10s %s\n", d.Label, d.Text)
	}
	return b.String()
}

// Said returns the whole final message of a session.
func Said(message string, st Style) string {
	lines := render.Lines(message)
	if len(lines) == 0 {
		return ""
	}
	return "\n" + st.Paint("2", "it said last") + "\n  " + strings.Join(lines, "\n  ") + "\n"
}
