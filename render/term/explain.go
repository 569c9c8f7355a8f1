package term

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/intent"
	"beckon/render"
	"beckon/state"
)

// Explanation is a verdict with everything that led to it: the format of `show --why --json`.
type Explanation struct {
	SessionID  string           `json:"session_id"`
	State      state.State      `json:"state"`
	Reason     string           `json:"reason,omitempty"`
	Since      time.Time        `json:"since"`
	Rule       string           `json:"rule"`
	Source     state.Source     `json:"source"`
	Confidence state.Confidence `json:"confidence"`
	Facts      []fact           `json:"facts"`
	Evidence   evidence         `json:"evidence"`
	Observed   []observed       `json:"observed,omitempty"`
	Message    *message         `json:"message,omitempty"`

	session *state.Session
	seen    state.Evidence
}

// message is how the message that ended the turn was understood.
type message struct {
	At         time.Time    `json:"at"`
	Intent     state.Intent `json:"intent"`
	Confidence int          `json:"confidence"` // percent
	Rule       string       `json:"rule"`
	Says       string       `json:"says"`
}

type fact struct {
	state.Fact
	Since      time.Time `json:"since"`
	Overridden bool      `json:"overridden"`
}

type evidence struct {
	Process  string     `json:"process"`
	Registry string     `json:"registry"`
	At       *time.Time `json:"registry_at,omitempty"`
	Waiting  string     `json:"registry_waiting_for,omitempty"`
	Halt     *time.Time `json:"transcript_halt,omitempty"`
	Activity *time.Time `json:"newest_hook,omitempty"`
	Job      string     `json:"job_id,omitempty"`
}

type observed struct {
	state.Observed
	At time.Time `json:"at"`
}

// Explained returns why a session is in its state.
func Explained(v state.Seen, facts []state.Fact) Explanation {
	s, st, ev := &v.Session, v.Status, v.Evidence
	x := Explanation{
		SessionID: s.ID, State: st.State, Reason: st.Reason, Since: st.Since.Time(),
		Rule: st.Rule, Source: st.Source, Confidence: st.Confidence,
		Evidence: evidence{
			Process: presence(ev.Process), Registry: cmp.Or(ev.Registry.Status, "none"), Waiting: ev.Registry.WaitingFor,
			At: optional(ev.Registry.At), Halt: optional(ev.Transcript.At), Activity: optional(s.Activity), Job: ev.Job.ID,
		},
		session: s, seen: ev,
	}
	for _, f := range facts {
		x.Facts = append(x.Facts, fact{f, f.Since.Time(), f.Overrode})
	}
	for _, o := range s.Seeing {
		x.Observed = append(x.Observed, observed{o, o.At.Time()})
	}
	if m := s.Stop; m.Rule != "" && m.At >= s.Prompt.At {
		x.Message = &message{m.At.Time(), m.Intent, m.Confidence, m.Rule, intent.Says(m.Rule)}
	}
	return x
}

func optional(m event.Millis) *time.Time {
	if m == 0 {
		return nil
	}
	t := m.Time()
	return &t
}

func presence(p state.Presence) string {
	switch p {
	case state.Alive:
		return "alive"
	case state.Gone:
		return "gone"
	case state.Unsure:
		return "unknown: this host rebooted, or another host has the same name"
	}
	return "not known from here"
}

// Explain writes which fact decided a state, how old it is, and what it overrode.
func Explain(w io.Writer, x Explanation, now time.Time) error {
	s, ev := x.session, x.seen
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", label, clean(fmt.Sprintf(format, args...)))
	}
	ago := func(m event.Millis) string {
		if m == 0 {
			return "never"
		}
		return Age(now.Sub(m.Time())) + " ago"
	}
	line("session", "%s", s.ID)
	line("state", "%s", reasoned(x.State, x.Reason))
	line("decided by", "%s, from %s (confidence %s), %s", x.Rule, x.Source, x.Confidence, ago(event.MillisOf(x.Since)))
	for _, f := range x.Facts {
		if f.Overridden {
			line("overrode", "%s, which says %s, from %s, %s", f.Rule, reasoned(f.State, f.Reason), f.Source, ago(f.Fact.Since))
		}
	}
	if m := x.Message; m != nil {
		line("message", "%s (%d %%): %s, %s", m.Intent, m.Confidence, m.Says, ago(s.Stop.At))
	}
	process := "not known"
	if p := s.Origin.Process; p.Pid != 0 {
		process = fmt.Sprintf("%d on %s: %s", p.Pid, p.Host, x.Evidence.Process)
	}
	line("process", "%s", process)
	if x.Evidence.Job != "" {
		line("runs", "in the background, as job %s; claude attach %[1]s shows it", x.Evidence.Job)
	}
	registry := "nothing to read"
	if r := ev.Registry; r.Status != "" {
		registry = strings.TrimSuffix(r.Status+" for "+r.WaitingFor, " for ") + ", " + ago(r.At)
	}
	line("registry", "%s", registry)
	if ev.Transcript.At != 0 {
		line("transcript", "%s %s", ev.Transcript.Kind, ago(ev.Transcript.At))
	}
	line("last event", "%s, %s", cmp.Or(s.Last.Reason, "none"), ago(s.Last.At))
	for _, o := range x.Observed {
		line("observed", "%s, from %s, %s", o.What, o.Source, ago(o.Observed.At))
	}
	if a := event.AgentOf(s.Agent); a == nil || a.Name != event.ClaudeCode {
		otherAgent(s, a, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// otherAgent says what an agent other than Claude Code does not report, and which answers it
// does not accept; a is nil for an unknown one.
func otherAgent(s *state.Session, a *agents.Agent, line func(label, format string, args ...any)) {
	if a == nil || len(a.Answers) == 0 {
		line("agent", "%s: its hooks take no answer of beckon's, and no policy applies to its calls", s.Agent)
	}
	if a == nil {
		return
	}
	for i := range a.Answers {
		r := &a.Answers[i]
		line("policy", "at %s, for the agent %s: %s", r.Means, r.Event, strings.Join(r.Words(), ", "))
	}
	for _, what := range a.Cannot {
		line("cannot", "%s", what)
	}
	for _, what := range a.Silent {
		line("no hook of", "%s", what)
	}
}

func reasoned(s state.State, reason string) string {
	word := Word(&render.Row{State: s, Reason: reason})
	if reason == "" || reason == word || reason == string(s) {
		return word
	}
	return word + " (" + reason + ")"
}
