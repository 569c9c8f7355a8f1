package transcript

import (
	"bytes"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"

	"github.com/tidwall/gjson"
)

const (
	chunk   = 4 << 20  // how much one read reads, unless a line is longer
	maxLine = 16 << 20 // the longest line that is parsed: a message with a few pasted images
	back    = 1 << 20  // how far before its end a file that became shorter is read
)

// Read returns the entries that follow the first from bytes of the transcript at path, in the
// order of the file, and from for the next call. A negative from is counted from the file's end.
// text is how many bytes of an entry's text are
// kept. Read reads whole lines only: what follows the last line break is left for later. All is
// read when from no longer changes. A line of which from skips the beginning is skipped whole,
// since the rest of a JSON object is none.
//
// If the file is shorter than from it is another one: Read begins in its last MiB, and returns a
// smaller from.
func Read(path string, from int64, text int) ([]Entry, int64, error) {
	b, next, err := lines(path, from)
	return parsed(b, text), next, err
}

func parsed(b []byte, text int) (entries []Entry) {
	for line := range bytes.Lines(b) {
		if e := parse(line, text); e.Type != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// lines returns the whole lines that Read parses.
func lines(path string, from int64) (b []byte, next int64, err error) {
	f, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, from, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, from, err
	}
	return linesAt(f, info.Size(), from, chunk)
}

// linesAt returns the whole lines among most bytes, and one that does not end in them. It goes further
// back from the end if all it reads is one line that is still being written, which must not be lost.
// The result depends on the file's bytes alone, not on when and how often it is read.
func linesAt(src io.ReaderAt, size, from, most int64) (b []byte, next int64, err error) {
	start := from
	switch {
	case from < 0:
		start = max(0, size+from)
	case from > size:
		start = max(0, size-back)
	}
	b, err = readAt(src, start, min(max(most, -from), size-start))
	if err == nil && bytes.IndexByte(b, '\n') < 0 {
		switch {
		case from < 0 && start > 0:
			return linesAt(src, size, 4*from, most)
		case start+int64(len(b)) < size:
			b, err = readAt(src, start, min(maxLine, size-start))
		}
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if len(b) >= maxLine && end == 0 {
		end = len(b) // part of a line that is too long
	}
	return b[:end], start + int64(end), err
}

// readAt reads up to n bytes; the end of the file is not an error.
func readAt(src io.ReaderAt, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	k, err := src.ReadAt(b, off)
	if err == io.EOF {
		err = nil
	}
	return b[:k], err
}

// tail is how many bytes from its end a transcript is read for what the states need to know. They
// contain the last turns of nearly all sessions.
const tail = 256 << 10

// LastHalt returns when Esc or a refusal stopped the main conversation, 0 if it was not stopped
// or went on since, by the last 256 KiB of the transcript at path. Errors are those of Read.
func LastHalt(path string) (event.Millis, error) {
	entries, _, err := Read(path, -tail, MaxText)
	return lastHalt(entries), err
}

// lastHalt is LastHalt for entries.
//
// A refusal that stops the turn is followed by a marker, as Esc is; after one with which the
// user said what to do instead, the turn goes on. The client's notes and what Esc cut off do
// not show work, because they may follow a halt. Entries of equal times count in the order of
// the file.
func lastHalt(entries []Entry) (halt event.Millis) {
	var work event.Millis
	halted := false
	for i := range entries {
		e := &entries[i]
		switch {
		case !e.Main() || e.At == 0:
		case e.Interrupt:
			halt = max(halt, e.At)
			halted = halt >= work
		case e.works():
			work = max(work, e.At)
			halted = halted && work < halt
		}
	}
	if !halted {
		return 0
	}
	return halt
}

// works reports whether the entry shows that the turn goes on, or another begins.
func (e *Entry) works() bool {
	switch e.Type {
	case Assistant:
		return !e.Synthetic && !e.Aborted
	case User:
		return !e.Note && !e.Cancelled && (e.ToolResult || e.Text != "")
	}
	return false
}

// LastWords returns what the agent said last in the main conversation, at most that many bytes of
// it, if nothing followed it: no call, no result, no prompt and no Esc. That is the final message
// of a finished turn; otherwise the zero Item. It reads as much as LastHalt does. Errors are those
// of Read.
func LastWords(path string, most int) (last Item, err error) {
	if filepath.Base(path) == copilotFile {
		return copilotWords(path), nil
	}
	entries, _, err := Read(path, -tail, most)
	for i := range entries {
		e := &entries[i]
		switch begins := e.Prompt && e.Type != Queued; {
		case !e.Main():
		case begins, e.ToolResult, e.Interrupt, e.Synthetic, e.Aborted, e.Type == Assistant && len(e.ToolUseIDs) > 0:
			last = Item{}
		case e.Type == Assistant && e.Text != "":
			last = Item{e.Text, e.At}
		}
	}
	return last, err
}

// Call reports whether the transcript at path contains the call of that id, and its result. It
// reads as much as LastHalt does; for an older call made is false. Errors are those of Read.
func Call(path, id string) (made, answered bool, err error) {
	entries, _, err := Read(path, -tail, MaxText)
	for i := range entries {
		e := &entries[i]
		if slices.Contains(e.ToolUseIDs, id) {
			made = made || e.Type == Assistant
			answered = answered || e.ToolResult
		}
	}
	return made, answered, err
}

// Decided reports whether the result of the call of that id is in the transcript at path, and whether
// a hook refused the call: that has a line of its own next to the result's. It reads as much as
// LastHalt does.
func Decided(path, id string) (byHook, known bool) {
	b, _, _ := lines(path, -tail) // what can be read of it
	for v := range backwards(b, id) {
		a := v.Get("attachment")
		byHook = byHook || a.Get("type").Str == "hook_permission_decision" && a.Get("toolUseID").Str == id
		for _, block := range v.Get("message.content").Array() {
			known = known || block.Get("type").Str == "tool_result" && block.Get("tool_use_id").Str == id
		}
	}
	return byHook, known || byHook
}

// planTool is the call with which the agent asks to approve a plan. The client writes the
// whole plan into it, even if the agent wrote a file.
const planTool = "ExitPlanMode"

// maxPlan is how much Plan reads: a plan may be long.
const maxPlan = 1 << 20

// Plan returns the whole plan that the agent last asked to approve, "" if there is none in the
// last MiB of the transcript at path. Errors are those of Read.
func Plan(path string) (string, error) {
	b, _, err := lines(path, -maxPlan)
	for v := range backwards(b, `"`+planTool+`"`) {
		plan := v.Get(`message.content.#(name=="` + planTool + `").input.plan`)
		if v.Get("type").Str == Assistant && plan.Type == gjson.String {
			return strings.ToValidUTF8(plan.Str, "\uFFFD"), err
		}
	}
	return "", err
}

// backwards ranges over the whole lines that contain a word, from the last.
func backwards(b []byte, word string) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		for i := bytes.LastIndex(b, []byte(word)); i >= 0; i = bytes.LastIndex(b, []byte(word)) {
			start := bytes.LastIndexByte(b[:i], '\n') + 1
			line, _, _ := bytes.Cut(b[start:], []byte("\n"))
			if gjson.ValidBytes(line) && !yield(gjson.ParseBytes(line)) {
				return
			}
			b = b[:start]
		}
	}
}
