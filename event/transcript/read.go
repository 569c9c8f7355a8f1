package transcript

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"

	"github.com/tidwall/gjson"
)

// Cursor is how far a transcript was read. It is small and comparable; its zero value is the
// beginning of any file.
type Cursor struct {
	// Offset is where reading continues: at the start of a line, unless Inside.
	Offset int64
	// Mark is a hash of the up to 512 bytes before Offset. Other bytes there mean another
	// file, or a rewritten one. Empty: not checked.
	Mark string
	// Inside: Offset is within a line that is skipped, because it is too long or began before
	// what is read.
	Inside bool

	Restarts int64 // times the file was not the one read before
}

// Limits bound one reading. A zero field means its default.
type Limits struct {
	Text  int   // how many bytes of an entry's text are kept (MaxText)
	Line  int64 // the longest line that is parsed, in bytes (16 MiB: a message with a few pasted images)
	Bytes int64 // how much one Read reads (DefaultBytes), unless a line is longer
	Back  int64 // how far before its end reading starts if the file turns out to be another one (1 MiB)
}

// DefaultBytes is the default of Limits.Bytes.
const DefaultBytes = 4 << 20

const (
	firstWindow = 64 << 10 // how far back a search from the end begins
	markSize    = 512
)

func (l Limits) orDefaults() Limits {
	return Limits{cmp.Or(l.Text, MaxText), cmp.Or(l.Line, 16<<20), cmp.Or(l.Bytes, DefaultBytes), cmp.Or(l.Back, 1<<20)}
}

// Read returns what was appended to the transcript at path since c, in the order of the file,
// and the cursor for the next call. It reads whole lines only: what follows the last line
// break is left for later. It is done when the cursor no longer moves; Limits.Bytes splits a
// long file over several calls.
//
// If the file is shorter than c says, or other bytes precede c.Offset, it is another file:
// Read counts a restart and begins at its beginning, or at the first line in its last
// Limits.Back bytes, whichever is later. So entries may come twice; their UUIDs identify them.
// (A file replaced by one of exactly c.Offset bytes is noticed when that one grows.)
func Read(path string, c Cursor, limit Limits) ([]Entry, Cursor, error) {
	if info, err := os.Stat(path); err == nil && info.Size() == c.Offset && info.Mode().IsRegular() {
		return nil, c, nil
	}
	f, size, err := open(path)
	if err != nil {
		return nil, c, err
	}
	defer f.Close()
	return readFrom(f, size, c, limit.orDefaults())
}

// Recent returns the entries of the last bound bytes of the transcript at path (64 KiB if that
// is more), and the cursor from which Read continues. Use it for a file whose past does not
// matter: its cost does not depend on the file's size. The first line is skipped if it begins
// before those bytes.
func Recent(path string, bound int64, limit Limits) ([]Entry, Cursor, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, Cursor{}, err
	}
	defer f.Close()
	return recent(f, size, max(bound, firstWindow), limit.orDefaults())
}

func open(path string) (f *os.File, size int64, err error) {
	if f, err = plainfile.Open(path, os.O_RDONLY, 0); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// recent reads the last bound bytes. It goes further back if they are all part of one line
// that is still being written, which must not be lost.
func recent(src io.ReaderAt, size, bound int64, lim Limits) ([]Entry, Cursor, error) {
	for {
		lim.Bytes = bound + 1
		entries, c, err := readFrom(src, size, tailOf(size, bound), lim)
		if err != nil || !c.Inside || bound >= size || bound > lim.Line {
			return entries, c, err
		}
		bound *= 4
	}
}

// tailOf returns a cursor at the first line that begins in the last bound bytes: one inside
// the line of the byte before them, which ends there if that byte is a line break.
func tailOf(size, bound int64) Cursor {
	if bound >= size {
		return Cursor{}
	}
	return Cursor{Offset: size - bound - 1, Inside: true}
}

// readFrom is Read for a source of that size. The cursor only moves over whole lines that were
// read, and over bytes of a skipped line. So the result depends on the file's bytes
// alone, not on when and how often it is read.
func readFrom(src io.ReaderAt, size int64, c Cursor, lim Limits) (entries []Entry, _ Cursor, err error) {
	old, mark := c.Offset, ""
	if c.Mark != "" {
		if mark, err = markAt(src, size, c.Offset); err != nil {
			return nil, c, err
		}
	}
	if c.Offset > size || c.Mark != mark {
		restarts := c.Restarts + 1
		c = tailOf(size, lim.Back)
		c.Restarts = restarts
	}
	b, err := readAt(src, c.Offset, min(lim.Bytes, size-c.Offset))
	if err == nil && !c.Inside && bytes.IndexByte(b, '\n') < 0 && lim.Line >= int64(len(b)) {
		b, err = readAt(src, c.Offset, min(lim.Line+1, size-c.Offset))
	}
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		long := int64(len(line)) > lim.Line
		if whole && !c.Inside && !long {
			if e := parse(line, lim.Text); e.Type != "" {
				entries = append(entries, e)
			}
		}
		if !whole {
			if c.Inside = c.Inside || long; c.Inside {
				c.Offset += int64(len(line))
			}
			break
		}
		c.Offset, c.Inside = c.Offset+int64(len(line))+1, false
		b = rest
	}
	if c.Offset != old {
		at, e := markAt(src, size, c.Offset)
		c.Mark, err = at, errors.Join(err, e)
	}
	return entries, c, err
}

// markAt hashes the bytes before offset, "" if there are none.
func markAt(src io.ReaderAt, size, offset int64) (string, error) {
	if offset <= 0 || offset > size {
		return "", nil
	}
	n := min(markSize, offset)
	b, err := readAt(src, offset-n, n)
	return hashOf(b), err
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

// hashOf returns the 64-bit FNV-1a hash in hexadecimal digits.
func hashOf(b []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

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
