package transcript

import "beckon/event"

// Halt reports when Esc or a refusal stopped the main conversation, 0 when it
// was not stopped or went on since. found reports whether the entries say anything of
// it: a halt, a prompt, the agent's words or calls, a result.
//
// A refusal that stops the turn is followed by a marker, as Esc is; behind one
// with which the user said what to do instead, the turn goes on. The client's
// notes and what Esc cut off show no work: they follow a halt as well as they
// follow work. Entries of equal times count in the order of the file.
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

// works reports whether the entry shows that the turn goes on, or another
// begins.
func (e *Entry) works() bool {
	switch e.Type {
	case Assistant:
		return !e.Synthetic && !e.Aborted
	case User:
		return !e.Note && !e.Cancelled && (e.ToolResult || e.Text != "")
	}
	return false
}

// How far back LastHalt looks: each look begins with 64 KiB, which hold the
// last turns of most sessions, and a single entry can hold a whole file.
const maxBack = 1 << 20

// LastHalt returns Halt of the transcript at path, from at most its last MiB. It
// begins with 64 KiB and goes further back only while it finds nothing. Errors are
// those of Recent.
func LastHalt(path string) (halt event.Millis, err error) {
	err = lookBack(path, Limits{}, func(entries []Entry) (found bool) {
		halt, found = Halt(entries)
		return found
	})
	return halt, err
}

// lookBack gives look the last entries of the transcript at path, more and more of
// them until it has found what it looks for.
func lookBack(path string, limit Limits, look func([]Entry) (found bool)) error {
	for back := int64(firstWindow); ; back *= 4 {
		entries, c, err := Recent(path, back, limit)
		if err != nil || look(entries) || back >= maxBack || back >= c.Offset {
			return err
		}
	}
}
