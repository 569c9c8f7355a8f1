package evidence

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"beckon/event"
)

// Transcript is what the end of a transcript says, actor by actor. The file is
// written asynchronously, so it may lag behind a hook: compare times.
type Transcript struct {
	Endings []Ending // the main conversation first when it was seen; at most 32
	Whole   bool     // the file was read from its beginning
}

// Ending is how one actor's part of a transcript ends.
type Ending struct {
	Agent     string // subagent id; empty for the main conversation
	Sidechain bool   // a subagent's: its end is not the main conversation's

	Halt     event.Millis // newest interrupt, or refusal that stops the turn
	Refused  []Refusal    // refused calls, newest first, at most 16
	Activity event.Millis // newest entry that shows work or a prompt
	Prompt   event.Millis // newest prompt, the user's or the client's

	// Halted reports whether Halt is set and no activity came after it.
	Halted bool
}

// Refusal is a tool call that the user refused.
type Refusal struct {
	UseID string
	At    event.Millis
	// Goes is set when the turn goes on: the user said what to do instead, or
	// it was a subagent's call (its agent is told to find another way).
	Goes bool
}

// Limits of reading a transcript.
const (
	// DefaultTail is how far back Tail looks when it is not told: one entry can
	// hold a whole file that was read.
	DefaultTail = 1 << 20

	firstWindow = 64 << 10 // enough for the last turns of most sessions
	maxEndings  = 32
	maxRefused  = 16
)

// Tail reads the end of the transcript at path, at most max bytes of it
// (DefaultTail when max is not positive). It begins with the last 64 KiB and
// goes further back only while those say nothing.
//
// The first line of the window is dropped when it is cut, and so is a last
// line without its line break: it is being written. Lines that are not JSON
// are skipped, and bytes that are not UTF-8 do no harm. A transcript that is
// not a regular file is an error.
func Tail(path string, max int64) (Transcript, error) {
	if max <= 0 {
		max = DefaultTail
	}
	fi, err := os.Stat(path)
	if err != nil {
		return Transcript{}, err
	}
	if !fi.Mode().IsRegular() {
		return Transcript{}, errors.New("reading transcript: not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return Transcript{}, err
	}
	defer f.Close()
	for window := min(max, firstWindow); ; window = min(max, 4*window) {
		t, err := tailWindow(f, fi.Size(), window)
		if err != nil || t.Whole || len(t.Endings) > 0 || window == max {
			return t, err
		}
	}
}

// tailWindow reads the last window bytes of a file of that size. It reads one
// byte more in front, to see whether the window begins at a line.
func tailWindow(f *os.File, size, window int64) (Transcript, error) {
	from := max(0, size-window-1)
	buf := make([]byte, size-from)
	n, err := f.ReadAt(buf, from)
	if err != nil && err != io.EOF { // EOF: it was cut short since
		return Transcript{}, err
	}
	buf = buf[:n]
	if from > 0 {
		i := bytes.IndexByte(buf, '\n')
		buf = buf[i+1:]
		if i < 0 {
			buf = nil
		}
	}
	t := parseTail(buf)
	t.Whole = from == 0
	return t, nil
}

// parseTail folds the whole lines of b. The last line counts only with its
// line break.
func parseTail(b []byte) Transcript {
	var t Transcript
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		if e := parseEntry(b[:i]); e.what != nothing {
			t.fold(e)
		}
		b = b[i+1:]
	}
	slices.SortStableFunc(t.Endings, func(a, b Ending) int {
		return strings.Compare(a.key(), b.key())
	})
	for i := range t.Endings {
		slices.Reverse(t.Endings[i].Refused)
	}
	return t
}

// Main returns the main conversation's ending, zero when none was seen.
func (t Transcript) Main() Ending { return t.Of("") }

// Of returns the ending of the subagent with that id, zero when none was seen.
// An older client's sidechain entries name no agent; they are not found here.
func (t Transcript) Of(agent string) Ending {
	for _, e := range t.Endings {
		if e.Agent == agent && e.Sidechain == (agent != "") {
			return e
		}
	}
	return Ending{}
}

// SubagentTranscript returns where the client writes the transcript of a
// subagent, beside that of its session. It is empty for an id that is no plain
// name.
func SubagentTranscript(session, agentID string) string {
	dir, ok := strings.CutSuffix(session, ".jsonl")
	if !ok || launcherID(agentID) == "" {
		return ""
	}
	return filepath.Join(dir, "subagents", "agent-"+agentID+".jsonl")
}

func (e *Ending) key() string {
	if e.Sidechain {
		return "s" + e.Agent
	}
	return "m"
}

// fold takes the next entry in the order of the file. Entries of equal times
// count in that order.
func (t *Transcript) fold(e entry) {
	a := t.ending(e)
	if a == nil {
		return
	}
	switch e.what {
	case prompted:
		a.Prompt = max(a.Prompt, e.at)
		a.work(e.at)
	case active:
		a.work(e.at)
	case refused:
		for _, id := range e.calls {
			a.refuse(Refusal{UseID: id, At: e.at, Goes: e.goes})
		}
		if e.goes {
			a.work(e.at)
		} else {
			a.halt(e.at)
		}
	case interrupted:
		a.halt(e.at)
	}
}

func (a *Ending) work(at event.Millis) {
	a.Activity = max(a.Activity, at)
	a.Halted = a.Halted && a.Activity < a.Halt
}

func (a *Ending) halt(at event.Millis) {
	a.Halt = max(a.Halt, at)
	a.Halted = a.Halt >= a.Activity
}

func (a *Ending) refuse(r Refusal) {
	if len(a.Refused) == maxRefused {
		a.Refused = slices.Delete(a.Refused, 0, 1)
	}
	a.Refused = append(a.Refused, r)
}

func (t *Transcript) ending(e entry) *Ending {
	for i := range t.Endings {
		if a := &t.Endings[i]; a.Agent == e.agent && a.Sidechain == e.side {
			return a
		}
	}
	if len(t.Endings) == maxEndings {
		if e.side {
			return nil
		}
		t.Endings = t.Endings[:maxEndings-1] // the main conversation has its place
	}
	t.Endings = append(t.Endings, Ending{Agent: e.agent, Sidechain: e.side})
	return &t.Endings[len(t.Endings)-1]
}

// what a line of the transcript is, for our purpose.
type what uint8

const (
	nothing     what = iota // says nothing about activity
	active                  // the agent's words, a tool's result
	prompted                // a prompt: the next turn
	interrupted             // Esc
	refused                 // a refused tool call
)

// entry is one line of a transcript.
type entry struct {
	what  what
	agent string
	side  bool
	at    event.Millis
	calls []string // refused calls
	goes  bool     // the turn goes on all the same
}

// raw is what parseEntry looks at in a line.
type raw struct {
	kind, interruptedID, denial, source, model string
	meta, aborted, compacted                   bool
	origin, content                            gjson.Result
}

// parseEntry reads one line. Entries without a time, and the client's own
// bookkeeping (attachments, snapshots, requests, system lines), are nothing:
// they follow an interrupt as well as they follow work.
func parseEntry(line []byte) entry {
	if !gjson.ValidBytes(line) {
		return entry{}
	}
	var e entry
	var r raw
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		e.set(k.Str, v)
		r.set(k.Str, v)
		return true
	})
	if e.at == 0 || r.meta || r.compacted {
		return entry{}
	}
	switch r.kind {
	case "assistant":
		e.what = r.assistant()
	case "user":
		r.user(&e)
	}
	return e
}

func (e *entry) set(key string, v gjson.Result) {
	switch key {
	case "timestamp":
		e.at = stamp(v)
	case "isSidechain":
		e.side = v.Bool()
	case "agentId":
		e.agent = text(v)
	}
}

func (r *raw) set(key string, v gjson.Result) {
	switch key {
	case "type":
		r.kind = v.Str
	case "interruptedMessageId":
		r.interruptedID = v.Str
	case "toolDenialKind":
		r.denial = v.Str
	case "promptSource":
		r.source = v.Str
	case "origin":
		r.origin = v
	case "isMeta":
		r.meta = v.Bool()
	case "isCompactSummary":
		r.compacted = v.Bool()
	case "isAbortedMidStream":
		r.aborted = v.Bool()
	case "message":
		v.ForEach(func(k, v gjson.Result) bool {
			switch k.Str {
			case "model":
				r.model = v.Str
			case "content":
				r.content = v
			}
			return true
		})
	}
}

// assistant tells the agent's own words from what the client puts in its
// mouth: the text it had when it was interrupted, an API error.
func (r *raw) assistant() what {
	if r.aborted || r.model == "<synthetic>" {
		return nothing
	}
	return active
}

// user reads an entry of the user's side: a prompt, a tool's result, a marker,
// or the bookkeeping of a command typed with / or !.
func (r *raw) user(e *entry) {
	prompt := r.source != "" || r.origin.Exists() && r.origin.Type != gjson.Null
	switch {
	case !prompt && r.interrupt():
		e.what = interrupted
	case r.content.IsArray():
		r.blocks(e)
	case r.content.Type == gjson.String && !bookkeeping(r.content.Str):
		e.what = prompted
	}
}

// The client's markers, measured on 2.1.197 and 2.1.329 (CLIENT.md).
const (
	markInterrupt = "[Request interrupted by user]"
	markForTool   = "[Request interrupted by user for tool use]"
	markRefused   = "The user doesn't want to proceed with this tool use"
	markDenied    = "Permission for this tool use was denied. The tool use was rejected" // to a subagent
	markStops     = "STOP what you are doing"                                            // absent when the user said what to do instead
)

// interrupt reports whether the entry is the client's marker: an array of one
// text block with exactly its words, or an entry that names the message it cut
// off. A person who types these words makes a string, not an array.
func (r *raw) interrupt() bool {
	if r.interruptedID != "" {
		return true
	}
	if !r.content.IsArray() {
		return false
	}
	n, hit := 0, false
	r.content.ForEach(func(_, b gjson.Result) bool {
		n++
		t := b.Get("text").Str
		hit = b.Get("type").Str == "text" && (t == markInterrupt || t == markForTool)
		return n < 2
	})
	return n == 1 && hit
}

// blocks reads an array of content: tool results, or a prompt with its
// attachments.
func (r *raw) blocks(e *entry) {
	r.content.ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").Str {
		case "tool_result":
			r.result(e, b)
		case "text", "image", "document":
			if e.what == nothing && r.denial == "" {
				e.what = prompted
			}
		}
		return true
	})
}

// result reads one tool result. A refusal outweighs the results beside it.
func (r *raw) result(e *entry, b gjson.Result) {
	said := ""
	if b.Get("is_error").Bool() {
		said = firstText(b.Get("content"))
	}
	switch {
	case strings.HasPrefix(said, markRefused) || strings.HasPrefix(said, markDenied):
		e.goes = !strings.Contains(said, markStops) && (e.goes || e.what != refused)
		e.what = refused
		e.calls = append(e.calls, text(b.Get("tool_use_id")))
	case r.denial == "interrupted" || r.denial == "cancelled":
	case e.what != refused:
		e.what = active
	}
}

// firstText is a content's text, whether it is a string or an array of blocks.
func firstText(c gjson.Result) string {
	if c.IsArray() {
		return c.Get("0.text").Str
	}
	return c.Str
}

// bookkeeping reports whether a user's entry only records a command that the
// client ran by itself. If the agent answers it, the answer is activity.
func bookkeeping(s string) bool {
	for _, p := range [...]string{"<command-", "<local-command-", "<bash-"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// stamp reads a timestamp: ISO 8601 as the client writes it, or a number of
// seconds or milliseconds since 1970. ParseInLocation, since Parse would read
// /etc/localtime for a time with an offset (CASE 23).
func stamp(v gjson.Result) event.Millis {
	if v.Type == gjson.Number {
		switch {
		case v.Num >= 1e11 && v.Num <= maxInteger:
			return event.Millis(v.Num)
		case v.Num >= 1 && v.Num < 1e11:
			return event.Millis(v.Num * 1000)
		}
		return 0
	}
	t, err := time.ParseInLocation(time.RFC3339Nano, v.Str, time.UTC)
	if err != nil || t.Unix() <= 0 {
		return 0
	}
	return event.Millis(t.UnixMilli())
}
