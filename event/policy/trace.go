package policy

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"beckon/event/policy/handler"
	"beckon/event/redact"

	"github.com/tidwall/gjson"
)

// The trace is a file of lines, set aside as trace.jsonl.1 when it is full.
const (
	traceFile = "trace.jsonl"
	maxTrace  = 4 << 20
	// maxText is how much of each text a line keeps, in bytes.
	maxText = 512
)

// Entry is one line of the trace: what was decided about one event, and by
// whom. Texts are redacted and cut.
type Entry struct {
	At        time.Time        `json:"at"`
	Event     string           `json:"event"`
	ID        string           `json:"id"`
	Session   string           `json:"session_id,omitempty"`
	Prompt    string           `json:"prompt_id,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	AgentID   string           `json:"agent_id,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	Subject   string           `json:"subject,omitempty"` // the command, file or prompt
	Decision  handler.Decision `json:"decision"`          // "" is silence
	Reason    string           `json:"reason,omitempty"`
	Rewritten string           `json:"rewritten,omitempty"` // the final input
	Us        int64            `json:"us"`
	Hooks     []TracedHook     `json:"hooks"`
	Notes     []string         `json:"notes,omitempty"`
	Version   string           `json:"version,omitempty"` // of the client
	ExitCode  int              `json:"exit,omitempty"`
	Bytes     int              `json:"bytes"` // of the answer
}

// TracedHook is one hook in an Entry.
type TracedHook struct {
	Hook     string           `json:"hook"`
	Type     Type             `json:"type"`
	Decision handler.Decision `json:"decision,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Error    string           `json:"error,omitempty"`
	Skipped  string           `json:"skipped,omitempty"`
	Observed bool             `json:"observed,omitempty"` // what it said was not heard
	Rewrote  string           `json:"rewrote,omitempty"`
	Output   string           `json:"output,omitempty"`
	ExitCode int              `json:"exit,omitempty"`
	TimedOut bool             `json:"timed_out,omitempty"`
	Attempts int              `json:"attempts,omitempty"`
	Metadata json.RawMessage  `json:"metadata,omitempty"`
	Us       int64            `json:"us"`
}

// EntryOf makes the trace line of what was decided about ev.
func EntryOf(ev Event, r Result) Entry {
	get := func(name string) string { return shortened(gjson.GetBytes(ev.Payload, name).String()) }
	e := Entry{At: ev.At.UTC(), Event: string(ev.Kind), ID: shortened(ev.ID), Session: get("session_id"), Prompt: get("prompt_id"),
		ToolUseID: get("tool_use_id"), AgentID: get("agent_id"), Tool: get("tool_name"),
		Subject: kept(SubjectOf(ev.Payload)), Decision: r.Verdict.Decision, Reason: kept(r.Verdict.Reason),
		Rewritten: kept(string(r.Verdict.Input)), Us: r.Took.Microseconds(), Version: shortened(ev.Version),
		ExitCode: r.Answer.ExitCode, Bytes: len(r.Answer.Stdout)}
	for _, n := range append(r.Notes, r.Warnings...) {
		e.Notes = append(e.Notes, kept(n))
	}
	for _, h := range r.Results {
		if h.Spoke() {
			e.Hooks = append(e.Hooks, traced(h))
		}
	}
	return e
}

// Spoke reports whether a hook belongs into the trace: all do but rules that
// do not hold, which are most of what happens.
func (r HookResult) Spoke() bool {
	return r.Hook.Type != TypeRule || r.Outcome.Decision != handler.Silence || r.Failed != nil
}

// Traceable reports whether there is anything to keep.
func (r Result) Traceable() bool {
	return len(r.Warnings) > 0 || slices.ContainsFunc(r.Results, HookResult.Spoke)
}

func traced(r HookResult) TracedHook {
	o := r.Outcome
	t := TracedHook{Hook: r.Hook.Name(), Type: r.Hook.Type, Decision: o.Decision, Reason: kept(o.Reason), Skipped: r.Skipped, Observed: r.Hook.Observe,
		Rewrote: kept(string(r.Rewrote)), Output: kept(o.Output), ExitCode: o.ExitCode, TimedOut: o.TimedOut,
		Attempts: o.Attempts, Us: o.Took.Microseconds()}
	if r.Failed != nil {
		t.Error = kept(r.Failed.Error())
	}
	if o.Metadata != nil {
		if b, err := json.Marshal(o.Metadata); err == nil && len(b) <= 4*maxText {
			if clean := redact.Text(string(b)); json.Valid([]byte(clean)) {
				t.Metadata = json.RawMessage(clean)
			}
		}
	}
	return t
}

// SubjectOf is what an event is about, in a line.
func SubjectOf(payload []byte) string {
	for _, path := range []string{"tool_input.command", "tool_input.file_path", "tool_input.notebook_path", "tool_input.url", "tool_input.path", "prompt", "message"} {
		if v := gjson.GetBytes(payload, path); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return gjson.GetBytes(payload, "tool_input").Raw
}

// kept is a text as the trace keeps it.
func kept(s string) string {
	return shortened(redact.Text(s))
}

// shortened is a name as the trace keeps it: what is posted chooses its own.
func shortened(s string) string {
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
	path := d.path(traceFile)
	if info, err := os.Stat(path); err == nil && info.Size() > maxTrace {
		_ = os.Rename(path, path+".1")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(string(d), dirMode); err == nil {
			f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n')) // one write: lines of two processes do not mix
	return errors.Join(err, f.Close())
}

// Entries reads the trace, oldest first; lines that are none are passed over.
// Each entry is put to keep, and the newest n that it keeps are returned.
func (d Dir) Entries(n int, keep func(Entry) bool) ([]Entry, error) {
	var out []Entry
	for _, name := range []string{traceFile + ".1", traceFile} {
		f, err := os.Open(d.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e Entry
			if json.Unmarshal(lines.Bytes(), &e) == nil && e.Event != "" && keep(e) {
				out = append(out, e)
			}
			if len(out) > 2*n {
				out = append(out[:0], out[len(out)-n:]...)
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, err
		}
	}
	if len(out) > n {
		out = out[len(out)-n:]
	}
	return out, nil
}
