package transcript

import (
	"bytes"
	"cmp"
	"iter"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// What agents other than Claude Code report outside of hooks: in their session files, and in the
// title of their terminal. Unknown, changed or truncated data gives the zero Reading, never a
// guess. The formats are those of codex 0.169.0, copilot 1.0.102, gemini 0.61.0 and droid 0.215.0.

// Reading is what an agent's own files or title say about a session: one of the Status
// constants, and since when.
type Reading struct {
	Status string
	At     event.Millis
	Detail string // of a failure
}

// The statuses of a reading.
const (
	Idle    = "idle"
	Busy    = "busy"
	Waiting = "waiting" // asks for a permission
	Asking  = "asking"  // a question is open
	Failed  = "failed"
)

// copilotFile is the name of Copilot's file of a session.
const copilotFile = "events.jsonl"

// PathOf returns the file of a session; transcript is the path that its hooks reported.
func PathOf(agent, session, transcript, home string, getenv func(string) string) string {
	if agent != "copilot" || transcript != "" {
		return transcript
	}
	if session == "" || session != filepath.Base(session) {
		return ""
	}
	return filepath.Join(event.AgentOf(agent).Dir(home, getenv), "session-state", session, copilotFile)
}

// StatusOf reads a session's file, if the agent writes one.
func StatusOf(agent, path string) Reading {
	read := map[string]func([]byte) Reading{"codex": codex, "copilot": copilot, "gemini": gemini, "droid": droid}[agent]
	if read == nil {
		return Reading{}
	}
	text, _, _ := lines(path, -tail) // one that cannot be read says nothing
	return read(text)
}

// each ranges over the lines that are a JSON object, with their times.
func each(text []byte) iter.Seq2[event.Millis, gjson.Result] {
	return func(yield func(event.Millis, gjson.Result) bool) {
		for line := range bytes.Lines(text) {
			v := gjson.ParseBytes(line)
			if v.IsObject() && gjson.ValidBytes(line) && !yield(millisOf(v.Get("timestamp")), v) {
				return
			}
		}
	}
}

// cut shortens a text to what a fact may hold.
func cut(s string) string { return event.Cut(strings.ToValidUTF8(s, "\ufffd"), event.MaxText) }

// codex reads a rollout: the starts and ends of turns. An open approval is not written.
func codex(text []byte) (r Reading) {
	for at, v := range each(text) {
		p := v.Get("payload")
		switch v.Get("type").Str + " " + p.Get("type").Str {
		case "event_msg task_started":
			r = Reading{Status: Busy, At: at}
		case "event_msg turn_aborted":
			r = Reading{Status: Idle, At: at}
		case "event_msg task_complete":
			r = Reading{Status: Idle, At: at}
			if e := p.Get("error"); e.IsObject() {
				words := e.Get("message").Str
				if gjson.Valid(words) { // an API's response
					words = cmp.Or(gjson.Get(words, "error.message").Str, words)
				}
				r.Status, r.Detail = Failed, cut(words)
			}
		}
	}
	return r
}

// copilot reads a session's events, which are complete. The end of a turn, and the end of what
// it interrupted, come in either order: only a start is work again.
func copilot(text []byte) Reading {
	var r, before Reading
	open, over := map[string]bool{}, false
	for at, v := range each(text) {
		data, child := v.Get("data"), v.Get("agentId").Str != ""
		now := func(status string) { r = Reading{Status: status, At: at} }
		goesOn := func() {
			if len(open) == 0 && !over {
				now(Busy)
			}
		}
		switch v.Get("type").Str {
		case "user.message", "assistant.turn_start":
			over = false
			if !child { // others may wait while a subagent starts
				clear(open)
			}
			goesOn()
		case "tool.execution_start": // of a subagent's call, after the user was asked about it
			over = false
			goesOn()
			if data.Get("toolName").Str == "ask_user" {
				now(Asking)
			}
		case "tool.execution_complete", "human_response.recorded":
			goesOn()
		case "permission.requested":
			over = false
			open[data.Get("requestId").Str] = true
			now(Waiting)
		case "permission.completed":
			delete(open, data.Get("requestId").Str)
			goesOn()
		case "session.compaction_start":
			before = r
			now(Busy)
		case "session.compaction_complete":
			if before.Status != Busy && r.Status == Busy {
				now(Idle)
			}
		case "session.error":
			r = Reading{Status: Failed, At: at, Detail: cut(data.Get("message").Str)}
			over = over || !child
		case "abort":
			clear(open)
			now(Idle)
			over = true
		case "hook.start":
			if data.Get("hookType").Str == "agentStop" && !child {
				now(Idle)
				over = true
			}
		}
	}
	return r
}

// gemini reads a chat for the ends of turns that no hook reports. Its other entries come
// before the hooks and add nothing. Interrupted calls are written after what interrupted them.
func gemini(text []byte) (r Reading) {
	for at, v := range each(text) {
		words := v.Get("content").Str
		switch v.Get("type").Str {
		case "user":
			r = Reading{}
		case "gemini":
			if r.Status == Failed && !v.Get("toolCalls").Exists() { // it could go on
				r = Reading{}
			}
		case "error":
			r = Reading{Status: Failed, At: at, Detail: cut(words)}
		case "info":
			if words == "Request cancelled." {
				r = Reading{Status: Idle, At: at}
			}
		}
	}
	return r
}

// droid reads a session's messages for how its turns end: what it shows to the user alone is an
// error. The outcome follows the Stop and has no time.
func droid(text []byte) (r Reading) {
	for at, v := range each(text) {
		m := v.Get("message")
		words := m.Get("content.0.text").Str
		switch reason := v.Get("reason").Str; {
		case v.Get("type").Str == "agent_turn_outcome" && reason == "cancelled":
			r.Status = Idle
		case m.Get("hookEventName").Exists():
			r.At = at
		case m.Get("visibility").Str == "user_only" && words != "":
			r = Reading{Status: Failed, At: at, Detail: cut(words)}
		case m.Get("content.0.is_error").Bool() && strings.HasSuffix(m.Get("content.0.content").Str, "cancelled by user"):
			r = Reading{Status: Idle, At: at}
		case m.Exists():
			r = Reading{At: at}
		}
	}
	return r
}

// maxReviewer is how much of a rollout's end is searched for its newest turn's settings.
const maxReviewer = 4 << 20

// Reviewed reports whether a session's newest turn asks nobody: Codex leaves the decision on
// its requests to a reviewer of its own, by approvals_reviewer in its configuration.
func Reviewed(agent, path string) bool {
	if agent != "codex" {
		return false
	}
	text, _, _ := lines(path, -maxReviewer)
	for v := range backwards(text, `"turn_context"`) {
		if v.Get("type").Str == "turn_context" {
			reviewer := v.Get("payload.approvals_reviewer").Str
			return reviewer == "auto_review" || reviewer == "guardian_subagent" // its older name
		}
	}
	return false
}

// Breaks reports whether the agent's hooks report a turn that the user interrupted, or that failed,
// like any other, so that only its file distinguishes them.
func Breaks(agent string) bool { return agent == "gemini" || agent == "droid" }

// Titles reports whether the agent's terminal titles show its status.
func Titles(agent string) bool { return agent == "codex" || agent == "gemini" }

// TitleStatus returns the status that a terminal's title shows, "" for none. dir is the
// session's directory.
func TitleStatus(agent, title, dir string) string {
	title = strings.TrimSpace(title)
	first, size := utf8.DecodeRuneInString(title)
	switch agent {
	case "codex":
		spins := first >= 0x2800 && first <= 0x28ff // in Braille dots
		if spins {
			title = strings.TrimSpace(title[size:])
		}
		// Since 0.171.0 the session's title is before the directory.
		here := strings.HasSuffix(" | "+title, " | "+filepath.Base(dir))
		switch {
		case strings.HasPrefix(title, "[ ! ] Action Required"), strings.HasPrefix(title, "[ . ] Action Required"):
			return Waiting // it blinks
		case here && spins:
			return Busy
		case here:
			return Idle
		}
	case "gemini":
		switch first {
		case '✋':
			return Waiting
		case '✦':
			return Busy
		case '◇':
			return Idle
		}
	}
	return ""
}

// copilotWords returns Copilot's last words: the end of its turn does not contain them.
func copilotWords(path string) (last Item) {
	text, _, _ := lines(path, -tail)
	for at, v := range each(text) {
		if s := v.Get("data.content").Str; s != "" && v.Get("type").Str == "assistant.message" {
			last = Item{strings.ToValidUTF8(s, "\ufffd"), at}
		}
	}
	return last
}
