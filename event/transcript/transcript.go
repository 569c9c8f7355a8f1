// Package transcript reads what Claude Code writes into a session's transcript: a file of JSON
// lines that it appends to. It extracts what hooks do not report: the texts between tool calls
// (Progress), and the order of events.
//
// It guarantees: a half-written line is neither skipped nor lost; a file that was truncated is
// noticed; a read takes at most 4 MiB, or a line; a line that is not JSON is skipped, and bytes
// that are not UTF-8 become U+FFFD.
//
// Measured with versions 2.1.197 and 2.1.329, which the samples in testdata come from: the
// file is only ever appended to, by /compact, rewinding and --resume too; /clear begins
// another file. But it is written asynchronously, so
//
//   - it may lag behind the hook that reports the same thing, and
//   - its lines are not in the order of the events: a turn's answer may precede
//     its prompt. Compare times, never places.
//
// Version 2.1.329 writes lines of 64 KB (the prompt it sends) between and after the ones that
// matter. A subagent has a file of its own, next to its session's:
// SESSION/subagents/agent-ID.jsonl, in which every entry is a sidechain's.
package transcript

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/redact"

	"github.com/tidwall/gjson"
)

// Entry types.
const (
	User      = "user"      // a prompt, a tool's result, a marker or a note of the client's
	Assistant = "assistant" // the agent's words or calls
	Queued    = "queued"    // a prompt typed while a turn ran and taken into it
)

// Entry is one relevant line of a transcript; all others (attachments, snapshots, requests,
// the client's own records) are skipped.
type Entry struct {
	Type string
	// Text holds the text blocks, joined by a blank line: the tail of the agent's text, the
	// head of the user's, at most as many bytes as were asked for. Thinking, tool calls and results are not
	// text.
	Text string
	At   event.Millis // the entry's own timestamp; 0 if it has none

	UUID       string
	ParentUUID string
	AgentID    string // of the subagent, in newer clients' sidechains
	Sidechain  bool   // of a subagent's conversation

	ToolResult bool     // contains the result of at least one call
	Cancelled  bool     // the client ended these calls itself, as Esc does with parallel calls
	ToolUseIDs []string // calls made (assistant) or answered (user)

	Prompt    bool // a person's own words
	Note      bool // the client's words as the user's: a summary, a command it ran by itself
	Interrupt bool // the marker of Esc or of a refusal
	// Synthetic: the client's words as the agent's, such as an API error; 2.1.197 also marks
	// the text that Esc cut off this way.
	Synthetic bool
	Aborted   bool // Esc cut the text off (2.1.329)

	// Stop is why the agent's message ended, usually "end_turn" or "tool_use"; empty if the
	// client did not say.
	Stop string
}

// Main reports whether the entry belongs to the main conversation.
func (e *Entry) Main() bool { return !e.Sidechain && e.AgentID == "" }

// Limits of an Entry.
const (
	// MaxText is how many bytes of an entry's text a state needs.
	MaxText = event.MaxMessage

	maxCalls = 64 // ids of calls stored for one entry
)

// line is a line's members, and those of its message.
type line struct {
	all, message map[string]gjson.Result
}

// interruptMarks are the client's marks of Esc and of a refusal.
var interruptMarks = []string{"[Request interrupted by user]", "[Request interrupted by user for tool use]"}

// parse parses one line. An irrelevant one, or one that is not a JSON
// object, gives the zero Entry's Type. The result depends on its bytes alone. Zero bytes around
// it, which a crash of the machine may leave, do no harm. The entry shares no memory with b.
func parse(b []byte, maxText int) (e Entry) {
	b = bytes.Trim(b, "\x00 \t\r\n")
	// Most bytes of a transcript are in lines of other types, which need no further parsing.
	relevant := func(kind string) bool { return bytes.Contains(b, []byte(kind)) }
	if !slices.ContainsFunc([]string{`"user"`, `"assistant"`, `"queued_command"`}, relevant) {
		return e
	}
	b, err := event.Check(b)
	if err != nil || b[0] != '{' {
		return e
	}
	l := line{all: gjson.ParseBytes(b).Map()}
	l.message = l.all["message"].Map()
	kind, denial := l.all["type"].Str, l.all["toolDenialKind"].Str
	if kind == "message" { // Droid's and pi's
		kind = l.message["role"].Str
	}
	said := Entry{
		At:         millisOf(l.all["timestamp"]),
		UUID:       id(l.all["uuid"]),
		ParentUUID: id(l.all["parentUuid"]),
		AgentID:    id(l.all["agentId"]),
		Sidechain:  l.all["isSidechain"].Bool(),
		Aborted:    l.all["isAbortedMidStream"].Bool(),
		Synthetic:  l.all["isApiErrorMessage"].Bool(),
		Interrupt:  l.all["interruptedMessageId"].Type == gjson.String,
		Cancelled:  denial == "interrupted" || denial == "cancelled",
	}
	switch kind {
	case User:
		l.user(&said, maxText)
	case Assistant:
		l.assistant(&said, maxText)
	case "attachment":
		l.queued(&said, maxText)
	}
	return said
}

func (l *line) assistant(e *Entry, maxText int) {
	e.Type = Assistant
	e.Synthetic = e.Synthetic || l.message["model"].Str == "<synthetic>"
	e.Stop = id(l.message["stop_reason"])
	texts := contents(l.message["content"], func(kind string, b gjson.Result) {
		if kind == "tool_use" {
			e.call(b.Get("id"))
		}
	})
	e.Text = event.CutTail(redact.Text(strings.Join(texts, "\n\n")), maxText) // half a key is not recognized
}

func (l *line) user(e *Entry, maxText int) {
	e.Type = User
	others := 0
	texts := contents(l.message["content"], func(kind string, b gjson.Result) {
		others++
		if kind == "tool_result" {
			e.ToolResult = true
			e.call(b.Get("tool_use_id"))
		}
	})
	if l.message["content"].IsArray() { // a person who types the marker's words produces a string
		e.Interrupt = e.Interrupt || others == 0 && len(texts) == 1 && slices.Contains(interruptMarks, texts[0])
		texts = slices.DeleteFunc(texts, func(s string) bool { // which the client adds to a prompt
			return strings.HasPrefix(s, "<system-reminder>") || strings.HasPrefix(s, "<ide_")
		})
	}
	// A prompt, possibly a program's blocks, is never a marker, whatever it says.
	e.Interrupt = e.Interrupt && l.all["promptSource"].Str == "" && l.all["origin"].Type == gjson.Null
	e.Text = event.Cut(redact.Text(strings.Join(texts, "\n\n")), maxText)
	l.classify(e, l.all["origin"])
}

func (e *Entry) call(useID gjson.Result) {
	if len(e.ToolUseIDs) < maxCalls {
		e.ToolUseIDs = append(e.ToolUseIDs, id(useID))
	}
}

// classify distinguishes a person's prompt from what the client writes as the user.
func (l *line) classify(e *Entry, origin gjson.Result) {
	is := func(key string) bool { return l.all[key].Bool() }
	meta := is("isMeta") || is("isCompactSummary") || is("isVisibleInTranscriptOnly") || l.message["visibility"].Exists()
	e.Note = !e.Interrupt && (meta || event.FromClient(e.Text))
	by := origin.Get("kind") // older clients do not say
	clients := l.all["promptSource"].Str == "system" || by.Exists() && by.Str != "human"
	if clients || e.Note || e.Interrupt || e.ToolResult || e.Sidechain || e.Text == "" {
		return
	}
	e.Text, e.Prompt = commandLine(e.Text), true
}

// queued reads the attachment that a prompt typed during a turn becomes. Its time is when it
// was typed.
func (l *line) queued(e *Entry, maxText int) {
	a := l.all["attachment"]
	if a.Get("type").Str != "queued_command" || a.Get("commandMode").Str != "prompt" {
		return
	}
	e.Type = Queued
	texts := contents(a.Get("prompt"), func(string, gjson.Result) {})
	e.Text = event.Cut(redact.Text(strings.Join(texts, "\n\n")), maxText)
	l.classify(e, a.Get("origin"))
}

// contents returns the texts of a message's content, a string or an array of blocks. It passes
// blocks that are not text to other.
func contents(content gjson.Result, other func(kind string, b gjson.Result)) (texts []string) {
	if content.Type == gjson.String {
		return []string{unquote(content, -1)}
	}
	if !content.IsArray() {
		return nil
	}
	content.ForEach(func(_, b gjson.Result) bool {
		if kind := b.Get("type").Str; kind != "text" {
			other(kind, b)
		} else if t := unquote(b.Get("text"), -1); t != "" {
			texts = append(texts, t)
		}
		return true
	})
	return texts
}

// commandLine converts the record of a command that prompts the agent (a skill, a command
// file) back into what was typed. Commands that the client runs by itself begin with the name
// instead and are notes.
func commandLine(s string) string {
	if !strings.HasPrefix(s, "<command-message>") {
		return s
	}
	name, args := between(s, "<command-name>", "</command-name>"), between(s, "<command-args>", "</command-args>")
	return strings.TrimSpace(name + " " + args)
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return strings.TrimSpace(s)
}

func id(v gjson.Result) string { return unquote(v, event.MaxID) }

// unquote copies a string value, at most max bytes of it (all if negative), so that an entry
// does not retain its line.
func unquote(v gjson.Result, max int) string { return jsonenc.Unquote(v.Raw, max) }

// millisOf parses a timestamp. It uses ParseInLocation, because Parse would read /etc/localtime
// for an offset.
func millisOf(v gjson.Result) event.Millis {
	t, err := time.ParseInLocation(time.RFC3339Nano, v.Str, time.UTC)
	if err != nil || t.Unix() < 0 {
		return 0
	}
	return event.MillisOf(t)
}
