package transcript

import (
	"bytes"
	"slices"
	"strings"

	"beckon/event"

	"github.com/tidwall/gjson"
)

// How far back LastHalt looks: it begins with 64 KiB, which contain the last turns of most
// sessions, but a single entry can contain a whole file.
const maxBack = 1 << 20

// lookBack calls look with the last entries of the transcript at path, more each time, until
// it has found what it looks for.
func lookBack(path string, limit Limits, look func([]Entry) (found bool)) error {
	for back := int64(firstWindow); ; back *= 4 {
		entries, c, err := Recent(path, back, limit)
		if err != nil || look(entries) || back >= maxBack || back >= c.Offset {
			return err
		}
	}
}

// LastHalt returns Halt of the transcript at path, from at most its last MiB. It begins with
// 64 KiB and goes further back only while it finds nothing. Errors are those of Recent.
func LastHalt(path string) (halt event.Millis, err error) {
	err = lookBack(path, Limits{}, func(entries []Entry) (found bool) {
		halt, found = Halt(entries)
		return found
	})
	return halt, err
}

// Halt returns when Esc or a refusal stopped the main conversation, 0 if it was not stopped or
// went on since. found reports whether the entries are conclusive: a halt, a prompt, the
// agent's words or calls, a result.
//
// A refusal that stops the turn is followed by a marker, as Esc is; after one with which the
// user said what to do instead, the turn goes on. The client's notes and what Esc cut off do
// not show work, because they may follow a halt. Entries of equal times count in the order of
// the file.
func Halt(entries []Entry) (halt event.Millis, found bool) {
	var work event.Millis
	halted := false
	for i := range entries {
		e := &entries[i]
		switch {
		case !e.Main() || e.At == 0:
			continue
		case e.Interrupt:
			halt = max(halt, e.At)
			halted = halt >= work
		case e.works():
			work = max(work, e.At)
			halted = halted && work < halt
		default:
			continue
		}
		found = true
	}
	if !halted {
		halt = 0
	}
	return halt, found
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
// otherwise the zero Item. It looks as far back as LastHalt does. Errors are those of Recent.
func LastWords(path string, limit Limits) (last Item, err error) {
	err = lookBack(path, limit, func(entries []Entry) (found bool) {
		last, found = lastWords(entries)
		return found
	})
	return last, err
}

// lastWords returns the last words in entries, and whether the entries are conclusive.
func lastWords(entries []Entry) (last Item, found bool) {
	for i := range entries {
		e := &entries[i]
		switch begins := e.Prompt && e.Type != Queued; {
		case !e.Main():
			continue
		case begins, e.ToolResult, e.Interrupt, e.Synthetic, e.Aborted, e.Type == Assistant && len(e.ToolUseIDs) > 0:
			last = Item{}
		case e.Type == Assistant && e.Text != "":
			last = Item{e.Text, e.At}
		default:
			continue
		}
		found = true
	}
	return last, found
}

// Call reports whether the transcript at path contains the call of that id, and its result. It
// looks as far back as LastHalt; for an older call made is false. Errors are those of Recent.
func Call(path, id string) (made, answered bool, err error) {
	err = lookBack(path, Limits{}, func(entries []Entry) bool {
		for i := range entries {
			e := &entries[i]
			if slices.Contains(e.ToolUseIDs, id) {
				made = made || e.Type == Assistant
				answered = answered || e.ToolResult
			}
		}
		return made
	})
	return made, answered, err
}

// planTool is the call with which the agent asks to approve a plan. The client writes the
// whole plan into it, even if the agent wrote a file.
const planTool = "ExitPlanMode"

// Plan returns the whole plan that the agent last asked to approve, "" if there is none as far
// back as LastHalt looks. Errors are those of Recent.
func Plan(path string) (string, error) {
	f, size, err := open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for back := int64(firstWindow); ; back *= 4 {
		b := make([]byte, min(back, size))
		n, err := readAt(f, b, size-int64(len(b)))
		if err != nil {
			return "", err
		}
		if plan := lastPlan(b[:n]); plan != "" || back >= min(size, maxBack) {
			return plan, nil
		}
	}
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
