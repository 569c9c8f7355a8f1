package render

import (
	"strings"
	"time"

	"beckon/event/intent"
	"beckon/state"
	"beckon/state/store"
)

// TurnLine is one turn in the format of `history --json`, `show --json` and the HTTP
// interface.
type TurnLine struct {
	TurnID     string           `json:"turn_id"`
	CommandID  string           `json:"command_id,omitempty"` // the task it belongs to
	SessionID  string           `json:"session_id"`
	Part       string           `json:"part,omitempty"`     // of the session, as in a row
	AgentID    string           `json:"agent_id,omitempty"` // the session's seat
	ProjectID  string           `json:"project_id,omitempty"`
	Project    string           `json:"project,omitempty"`
	Actor      state.Speaker    `json:"actor"`
	Intent     state.Intent     `json:"intent"`
	Confidence float64          `json:"confidence"` // 0 to 1
	Rule       string           `json:"rule,omitempty"`
	Text       string           `json:"text,omitempty"`
	Timestamp  time.Time        `json:"timestamp"`
	TimeSource state.TimeSource `json:"timestamp_source"`
	Task       state.TaskState  `json:"task,omitempty"` // the task's state afterwards
	Refused    string           `json:"refused,omitempty"`
}

// TurnLineOf converts t, a turn of the session s.
func TurnLineOf(s *state.Session, t store.Turn) TurnLine {
	k := store.KeyOf(s.Record())
	return TurnLine{TurnID: t.ID(k), CommandID: t.CommandID(k), SessionID: s.ID, Part: s.Part, AgentID: s.Seat,
		ProjectID: s.ProjectID, Project: project(s), Actor: t.Actor, Intent: t.Intent,
		Confidence: float64(t.Confidence) / 100,
		Rule:       t.Rule, Text: t.Text, Timestamp: t.At.Time(), TimeSource: t.Source, Task: t.Task, Refused: t.Refused}
}

// TurnLines converts turns of the session s.
func TurnLines(s *state.Session, turns []store.Turn) []TurnLine {
	lines := make([]TurnLine, len(turns))
	for i, t := range turns {
		lines[i] = TurnLineOf(s, t)
	}
	return lines
}

// Line returns a turn's text in one line for people: the last line of the agent's, which says
// what it wants, and the first of a prompt.
func (t *TurnLine) Line() string {
	if t.Rule == state.TurnFailure {
		kind, detail, found := strings.Cut(t.Text, ":")
		if kind = strings.ReplaceAll(kind, "_", " "); found {
			kind += ":" + detail
		}
		return OneLine(kind)
	}
	if t.Actor == state.SpeakerAgent && t.Intent != intent.IntentProgress {
		return OneLine(state.LastLine(t.Text))
	}
	return OneLine(t.Text)
}
