package alert

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/state"
)

// Limits of the texts, in bytes.
const (
	maxTitle = 80
	maxBody  = 200
)

// Words returns the notification of an alert, free of control characters: who, and what.
func Words(s *state.Session, e state.Alert) (title, body string) {
	return event.OneLine(label(s)+" "+Verb(e.Kind), maxTitle), event.OneLine(about(s, e), maxBody)
}

// Verb says what happened to a session.
func Verb(k state.AlertKind) string {
	words := map[state.AlertKind]string{
		state.AlertPermission: "needs a permission",
		state.AlertQuestion:   "asks",
		state.AlertFailed:     "failed",
		state.AlertRefused:    "is done, with calls refused",
		state.AlertBack:       "is back",
	}
	return cmp.Or(words[k], "is done")
}

func about(s *state.Session, e state.Alert) string {
	switch e.Kind {
	case state.AlertPermission:
		return cmp.Or(e.Call.Summary, e.Call.Name, s.Prompt.Text)
	case state.AlertQuestion:
		if a := e.Call.Ask; a != nil && len(a.Questions) > 0 && a.Questions[0].Text != "" {
			return a.Questions[0].Text
		}
		if e.Dialog {
			return cmp.Or(e.Call.Summary, s.Prompt.Text)
		}
		return cmp.Or(s.Stop.Question, s.Prompt.Text)
	case state.AlertFailed:
		return strings.ReplaceAll(s.Failure.Reason, "_", " ")
	case state.AlertRefused:
		if d := s.Denied; len(d.Calls) > 0 {
			newest := d.Calls[len(d.Calls)-1]
			return strconv.Itoa(d.Count) + " refused: " + cmp.Or(newest.Summary, newest.Tool) + " (" + newest.Reason + ")"
		}
	}
	return cmp.Or(e.Call.Summary, state.LastLine(s.Stop.Message), s.Prompt.Text)
}

// label returns the session's name for people: the user's name for it, else its project.
func label(s *state.Session) string { return cmp.Or(s.Name, Project(s)) }

// Project returns the name of the session's repository, else of its directory.
func Project(s *state.Session) string {
	if s.Origin.Git.Repo != "" {
		return s.Origin.Git.Repo
	}
	dir := strings.ReplaceAll(cmp.Or(s.Origin.Project, s.Cwd), `\`, "/")
	if dir == "" {
		return cmp.Or(s.Agent, "a session")
	}
	return path.Base(dir)
}

// Headline returns the window's title for a state: what, and who.
func Headline(s *state.Session, st state.State) string { return string(st) + " - " + label(s) }
