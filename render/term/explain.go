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

// Explanation is a verdict with everything that led to it.
type Explanation struct {
	Seen  state.Seen
	Facts []state.Fact
	Now   time.Time
}

// explanationJSON is the format of `explain --json`.
type explanationJSON struct {
	SessionID  string           `json:"session_id"`
	State      state.State      `json:"state"`
	Reason     string           `json:"reason,omitempty"`
	Since      time.Time        `json:"since"`
	Rule       string           `json:"rule"`
	Source     state.Source     `json:"source"`
	Confidence state.Confidence `json:"confidence"`
	Facts      []factJSON       `json:"facts"`
	Evidence   evidenceJSON     `json:"evidence"`
	Observed   []observedJSON   `json:"observed,omitempty"`
	Message    *messageJSON     `json:"message,omitempty"`
}

// messageJSON is how the message that ended the turn was understood.
type messageJSON struct {
	At         time.Time    `json:"at"`
	Intent     state.Intent `json:"intent"`
	Confidence int          `json:"confidence"` // percent
	Rule       string       `json:"rule"`
	Says       string       `json:"says"`
}

func messageOf(s *state.Session) *messageJSON {
	m := s.Stop
	if m.Rule == "" || m.At < s.Prompt.At {
		return nil
	}
	return &messageJSON{m.At.Time(), m.Intent, m.Confidence, m.Rule, intent.Says(m.Rule)}
}

type factJSON struct {
	Rule     string       `json:"rule"`
	State    state.State  `json:"state"`
	Reason   string       `json:"reason,omitempty"`
	Since    time.Time    `json:"since"`
	Source   state.Source `json:"source"`
	Detail   string       `json:"detail,omitempty"`
	Decided  bool         `json:"decided"`
	Overrode bool         `json:"overridden"`
}

type evidenceJSON struct {
	Process  string     `json:"process"`
	Registry string     `json:"registry"`
	At       *time.Time `json:"registry_at,omitempty"`
	Waiting  string     `json:"registry_waiting_for,omitempty"`
	Halt     *time.Time `json:"transcript_halt,omitempty"`
	Activity *time.Time `json:"newest_hook,omitempty"`
	Job      string     `json:"job_id,omitempty"`
}

type observedJSON struct {
	Source state.Source `json:"source"`
	What   state.Seeing `json:"what"`
	At     time.Time    `json:"at"`
	Detail string       `json:"detail,omitempty"`
}

// JSON returns the content of `explain --json`.
func (x Explanation) JSON() any {
	s, st, ev := x.Seen.Session, x.Seen.Status, x.Seen.Evidence
	out := explanationJSON{SessionID: s.ID, State: st.State, Reason: st.Reason, Since: st.Since.Time(), Rule: st.Rule,
		Source: st.Source, Confidence: st.Confidence,
		Evidence: evidenceJSON{Process: presence(ev.Process), Registry: cmp.Or(ev.Registry.Status, "none"),
			Waiting: ev.Registry.WaitingFor,
			At:      optional(ev.Registry.At), Halt: optional(ev.Transcript.At), Activity: optional(s.Activity), Job: ev.Job.ID}}
	out.Message = messageOf(&s)
	for _, f := range x.Facts {
		out.Facts = append(out.Facts,
			factJSON{f.Rule, f.State, f.Reason, f.Since.Time(), f.Source, f.Detail, f.Decided, f.Overrode})
	}
	for _, o := range s.Seeing {
		out.Observed = append(out.Observed, observedJSON{o.Source, o.What, o.At.Time(), o.Detail})
	}
	return out
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
		return "not known: this host has started since, or it is another one of its name"
	}
	return "not known from here"
}

// Explain writes which fact decided a state, how old it is, and what it overrode.
func Explain(w io.Writer, x Explanation) error {
	s, st, ev := x.Seen.Session, x.Seen.Status, x.Seen.Evidence
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", label, clean(fmt.Sprintf(format, args...)))
	}
	ago := func(m event.Millis) string {
		if m == 0 {
			return "never"
		}
		return Age(x.Now.Sub(m.Time())) + " ago"
	}
	line("session", "%s", s.ID)
	line("state", "%s", reasoned(st.State, st.Reason))
	line("decided by", "%s, from %s (confidence %s), %s", st.Rule, st.Source, st.Confidence, ago(st.Since))
	for _, f := range x.Facts {
		if f.Overrode {
			line("overrode", "%s, which says %s, from %s, %s", f.Rule, reasoned(f.State, f.Reason), f.Source, ago(f.Since))
		}
	}
	if m := messageOf(&s); m != nil {
		line("message", "%s (%d %%): %s, %s", m.Intent, m.Confidence, m.Says, ago(s.Stop.At))
	}
	process := "not known"
	if p := s.Origin.Process; p.Pid != 0 {
		process = fmt.Sprintf("%d on %s: %s", p.Pid, p.Host, presence(ev.Process))
	}
	line("process", "%s", process)
	if ev.Job.ID != "" {
		line("runs", "in the background, as job %s; claude attach %s shows it", ev.Job.ID, ev.Job.ID)
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
	for _, o := range s.Seeing {
		line("observed", "%s, from %s, %s", o.What, o.Source, ago(o.At))
	}
	if a := event.AgentOf(s.Agent); a == nil || a.Name != event.ClaudeCode {
		otherAgent(&s, a, line)
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
