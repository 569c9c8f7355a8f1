package transcript

import (
	"bytes"
	"slices"
	"strings"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// tail is how many bytes from its end a transcript is read for what the states need to know. They
// contain the last turns of nearly all sessions.
const tail = 256 << 10

// LastHalt returns when Esc or a refusal stopped the main conversation, 0 if it was not stopped
// or went on since, by the last 256 KiB of the transcript at path. Errors are those of Recent.
func LastHalt(path string) (event.Millis, error) {
	entries, _, err := Recent(path, tail, Limits{})
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

// LastWords returns what the agent said last in the main conversation, if nothing followed it:
// no call, no result, no prompt and no Esc. That is the final message of a finished turn;
// otherwise the zero Item. It reads as much as LastHalt does. Errors are those of Recent.
func LastWords(path string, limit Limits) (last Item, err error) {
	entries, _, err := Recent(path, tail, limit)
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
// reads as much as LastHalt does; for an older call made is false. Errors are those of Recent.
func Call(path, id string) (made, answered bool, err error) {
	entries, _, err := Recent(path, tail, Limits{})
	for i := range entries {
		e := &entries[i]
		if slices.Contains(e.ToolUseIDs, id) {
			made = made || e.Type == Assistant
			answered = answered || e.ToolResult
		}
	}
	return made, answered, err
}

// planTool is the call with which the agent asks to approve a plan. The client writes the
// whole plan into it, even if the agent wrote a file.
const planTool = "ExitPlanMode"

// maxPlan is how much Plan reads: a plan may be long.
const maxPlan = 1 << 20

// Plan returns the whole plan that the agent last asked to approve, "" if there is none in the
// last MiB of the transcript at path. Errors are those of Recent.
func Plan(path string) (string, error) {
	f, size, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	n := min(maxPlan, size)
	b, err := readAt(f, size-n, n)
	return lastPlan(b), err
}

// lastPlan searches the lines of b from the end. One that begins before b is not valid JSON
// and is skipped.
func lastPlan(b []byte) string {
	for len(b) > 0 {
		b = bytes.TrimRight(b, "\n")
		line := b[bytes.LastIndexByte(b, '\n')+1:]
		b = b[:len(b)-len(line)]
		if !bytes.Contains(line, []byte(`"`+planTool+`"`)) || !gjson.ValidBytes(line) {
			continue
		}
		v := gjson.ParseBytes(line)
		plan := v.Get(`message.content.#(name=="` + planTool + `").input.plan`)
		if v.Get("type").Str == Assistant && plan.Type == gjson.String {
			return strings.ToValidUTF8(plan.Str, "\uFFFD")
		}
	}
	return ""
}
