package term

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/intent"
	"beckon/render"
	"beckon/state"
)

var presences = map[state.Presence]string{state.Alive: "alive", state.Gone: "gone"}

// Explain says which fact decided a state, how old it is, and what it overrode.
func Explain(v state.Seen, verdicts []state.Status, now time.Time) string {
	s, st, ev := &v.Session, v.Status, v.Evidence
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
	line("state", "%s", reasoned(st.State, st.Reason))
	line("decided by", "%s, from %s (confidence %s), %s", st.Rule, st.Source, st.Confidence, ago(st.Since))
	for _, o := range verdicts[1:] {
		line("overrode", "%s, which says %s, from %s, %s", o.Rule, reasoned(o.State, o.Reason), o.Source, ago(o.Since))
	}
	if m := s.Stop; m.Rule != "" && m.At >= s.Prompt.At {
		line("message", "%s (%d %%): %s, %s", m.Intent, m.Confidence, intent.Says(m.Rule), ago(m.At))
	}
	process := "not known"
	if p := s.Origin.Process; p.Pid != 0 {
		process = fmt.Sprintf("%d on %s: %s", p.Pid, p.Host, cmp.Or(presences[ev.Process], "not known from here"))
	}
	line("process", "%s", process)
	if id := ev.Registry.Background(); id != "" {
		line("runs", "in the background, as job %s; claude attach %[1]s shows it", id)
	}
	registry := "nothing to read"
	if r := ev.Registry; r.Status != "" {
		registry = strings.TrimSuffix(r.Status+" for "+r.WaitingFor, " for ") + ", " + ago(r.At)
	}
	line("registry", "%s", registry)
	if ev.Halted != 0 {
		line("transcript", "interrupt %s", ago(ev.Halted))
	}
	line("last event", "%s, %s", cmp.Or(s.Last.Reason, "none"), ago(s.Last.At))
	for _, o := range s.Seeing {
		line("observed", "%s, from %s, %s", o.What, o.Source, ago(o.At))
	}
	if a := event.AgentOf(s.Agent); s.Agent != event.ClaudeCode && (a == nil || len(a.Answers) == 0) {
		line("agent", "%s: its hooks take no answer of beckon's, and no policy applies to its calls", s.Agent)
	}
	return b.String()
}

func reasoned(s state.State, reason string) string {
	word := Word(&render.Row{State: s, Reason: reason})
	if reason == "" || reason == word || reason == string(s) {
		return word
	}
	return word + " (" + reason + ")"
}
