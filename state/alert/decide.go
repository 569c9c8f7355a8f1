package alert

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// Case is an alert and what is needed to decide whether to notify the user of it.
type Case struct {
	Alert   state.Alert
	Session *state.Session
	Still   bool // the client has just reported that nobody has typed for six seconds
}

// lately is how old the alert of a session may be, in milliseconds, that was not there at the last look:
// an older one was seen before.
const lately = 60_000

// Seer finds new alerts for a program that looks repeatedly. What stands at its first look is not new.
type Seer struct {
	began event.Millis                // of the first look
	stood map[string]state.AlertState // by record; nil before the first look
}

// Look returns the alerts in seen that are new.
func (s *Seer) Look(seen []state.Seen, now event.Millis) (list []Case) {
	stood := make(map[string]state.AlertState, len(seen))
	for i := range seen {
		v := &seen[i]
		id := v.Session.Record()
		stood[id] = state.AlertStateOf(v.Session, v.Evidence, now)
		was, known := s.stood[id]
		a, is := state.AlertOf(was, stood[id])
		// A session that was not there may only have come back.
		if is && s.stood != nil && (known || a.Dialog || a.At >= max(s.began, now-lately)) {
			list = append(list, Case{Alert: a, Session: &v.Session})
		}
	}
	if s.stood == nil {
		s.began = now
	}
	s.stood = stood
	return list
}

// Focus says whether the user looks at a terminal's pane.
type Focus func(t event.Terminal, now time.Time) state.Focus

// Decide reads what the decision needs, makes it, and claims the alert for the caller if the user is to be
// notified. If another process has claimed it, the decision becomes a refusal; if that cannot be
// determined (a full disk) it stands. focus, nil if nothing can tell, is asked last: it costs a process.
func (s Settings) Decide(st *store.Store, c Case, focus Focus, now time.Time) state.Decision {
	h := s.hearing(st, c, now)
	d := state.Decide(c.Alert, s.Rules, h)
	if d.Verdict == state.Notify {
		if h.Focus = state.FocusUnknown; focus != nil {
			h.Focus = focus(c.Session.Origin.Terminal, now)
		}
		d = state.Decide(c.Alert, s.Rules, h)
	}
	if d.Verdict != state.Notify {
		return d
	}
	switch first, err := st.Claim(store.KeyOf(c.Session.Record()), c.Alert.ID()); {
	case err != nil:
		return state.Decision{Verdict: state.Notify, Reason: "nobody can say whether you were notified: " + err.Error()}
	case !first:
		return state.Decision{Verdict: state.Never, Reason: state.ReasonNotified}
	}
	return d
}

// Remind decides on notifying once more of a dialog.
func (s Settings) Remind(c Case, focus Focus, now time.Time) state.Decision {
	h := state.Hearing{
		Now: event.MillisOf(now), Focus: focus(c.Session.Origin.Terminal, now), Still: true, Quiet: s.Silent(now),
	}
	d := state.Decide(c.Alert, s.Rules, h)
	if d.Verdict == state.Notify {
		d.Reason = state.ReasonAgain
	}
	return d
}

// Foresee decides as if the user looked elsewhere: what it refuses is never allowed later.
func (s Settings) Foresee(st *store.Store, c Case, now time.Time) state.Decision {
	return state.Decide(c.Alert, s.Rules, s.hearing(st, c, now))
}

// ByClient reports whether the terminal of a session is notified through its client, by what a hook gives
// it. Only Claude Code takes that; in tmux it may get no further.
func (s Settings) ByClient(v *state.Session) bool {
	return s.Has(Terminal) && v.Native() && v.Origin.Terminal.Kind != "tmux"
}

// hearing returns what is known if the user looks elsewhere.
func (s Settings) hearing(st *store.Store, c Case, now time.Time) state.Hearing {
	h := state.Hearing{Now: event.MillisOf(now), Focus: state.FocusElsewhere, Still: c.Still, Quiet: s.Silent(now)}
	for id, at := range st.Claims(store.KeyOf(c.Session.Record())) {
		h.Notified = h.Notified || id == c.Alert.ID()
		if kind, _, _ := strings.Cut(id, "-"); kind == string(c.Alert.Kind) {
			h.NotifiedAt = max(h.NotifiedAt, at)
		}
	}
	return h
}

// Decided returns the log line of a decision.
func (c Case) Decided(d state.Decision, by, channels string, now time.Time) store.Decided {
	return store.Decided{
		At: event.MillisOf(now), Session: c.Session.Record(), Kind: c.Alert.Kind, AlertAt: c.Alert.At,
		Verdict: d.Verdict, Reason: d.Reason, By: by, Channels: channels,
	}
}

// Silent reports whether now is in the quiet hours.
func (s Settings) Silent(now time.Time) bool {
	return s.Quiet != "" && s.Quiet.Contain(now.Local()) // local time reads a file, so only if needed
}

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
		text := s.Stop.Question
		if e.Dialog {
			text = e.Call.Summary
		}
		if a := e.Call.Ask; a != nil && len(a.Questions) > 0 {
			text = cmp.Or(a.Questions[0].Text, text)
		}
		return cmp.Or(text, s.Prompt.Text)
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

// Project returns the session's project, or what stands for it.
func Project(s *state.Session) string { return cmp.Or(s.ProjectName(), s.Agent, "a session") }

// Headline returns the window's title for a state: what, and who.
func Headline(s *state.Session, st state.State) string { return string(st) + " - " + label(s) }
