package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"beckon/event/plainfile"
	"beckon/event/policy/wire"
	"beckon/event/redact"
)

// The trace is a file of lines, renamed to trace.jsonl.1 when it is full.
const (
	traceFile = "trace.jsonl"
	maxTrace  = 4 << 20
	maxText   = 512 // bytes of each text
)

// Entry is one line of the trace: the decision on one event, and its hooks. Texts are redacted and cut.
type Entry struct {
	At        time.Time     `json:"at"`
	Event     string        `json:"event"`
	ID        string        `json:"id"`
	Session   string        `json:"session_id,omitempty"`
	Prompt    string        `json:"prompt_id,omitempty"`
	ToolUseID string        `json:"tool_use_id,omitempty"`
	AgentID   string        `json:"agent_id,omitempty"`
	Tool      string        `json:"tool,omitempty"`
	Subject   string        `json:"subject,omitempty"` // the command, file or prompt
	Allowed   bool          `json:"allowed"`
	Decision  wire.Decision `json:"decision"` // "" is silence
	Reason    string        `json:"reason,omitempty"`
	Rewritten string        `json:"rewritten,omitempty"` // the final input
	Us        int64         `json:"us"`
	Hooks     []TracedHook  `json:"hooks"`
	Notes     []string      `json:"notes,omitempty"`
	ExitCode  int           `json:"exit,omitempty"`
	Bytes     int           `json:"bytes"` // of the answer
}

// TracedHook is one hook in an Entry.
type TracedHook struct {
	Hook     string          `json:"hookId"`
	Success  bool            `json:"success"` // it ran and answered
	Type     string          `json:"type"`
	Decision wire.Decision   `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Error    string          `json:"error,omitempty"`
	Skipped  string          `json:"skipped,omitempty"`
	Observed bool            `json:"observed,omitempty"` // its answer did not count
	Rewrote  string          `json:"rewrote,omitempty"`
	Output   string          `json:"output,omitempty"`
	ExitCode int             `json:"exit,omitempty"`
	TimedOut bool            `json:"timed_out,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Us       int64           `json:"us"`
}

// Kept returns a text in the form that the trace stores.
func Kept(s string) string { return Short(redact.Text(s)) }

// Short returns a name in the form that the trace stores: senders of posts choose their own.
func Short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// Trace adds a line.
func (d Dir) Trace(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return plainfile.AppendLine(d.Path(traceFile), line, maxTrace)
}

// Entries returns the newest n entries, oldest first; lines that do not parse are skipped.
func (d Dir) Entries(n int) (out []Entry, err error) {
	for _, name := range []string{traceFile + ".1", traceFile} {
		data, err := plainfile.ReadFile(d.Path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			var e Entry
			if json.Unmarshal(line, &e) == nil && e.Event != "" {
				out = append(out, e)
			}
		}
	}
	return out[max(0, len(out)-n):], nil
}
