package transcript

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/event"
)

// Limits of a Progress.
const (
	minProgress = 10  // characters: a shorter text says nothing
	maxMoments  = 256 // of which the newest are kept
)

// Item is something that the agent said during a turn.
type Item struct {
	Text string
	At   event.Millis // the entry's own; its source is "jsonl"
}

// Progress finds in the entries of a transcript what the agent said during its turns, in the
// main conversation: the texts of at least minProgress characters after which the turn went
// on. Final texts are left to the Stop that reports them: those that are marked as final, and,
// since not every client marks them, those followed by a prompt, by the entries' times. A text
// waits until it is known what followed. So the result does not depend on how often, and in
// what pieces, the transcript was read.
//
// The zero value is ready. Memory is bounded: the newest 256 moments are kept.
type Progress struct {
	moments []moment
}

// moment is something that happened in the conversation.
type moment struct {
	Item   // a text that waits, and the time
	uuid   string
	prompt bool // it begins a turn
	calls  bool // the turn went on with a call
	alien  bool // the client's own words, as far as known
}

// Add adds the entries that follow those given before, in the order of the file. A prompt that was
// typed during a turn and taken into it is no moment, since its time is when it was typed. Nor are
// the client's own notes.
func (p *Progress) Add(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		m := moment{Item: Item{At: e.At}, uuid: e.UUID, prompt: e.Prompt && e.Type != Queued}
		works := e.Type == Assistant && (e.Text != "" || len(e.ToolUseIDs) > 0)
		if !e.Main() || e.At == 0 || !m.prompt && !works && !e.ToolResult && !e.Interrupt {
			continue
		}
		if works && e.Stop != "end_turn" && utf8.RuneCountInString(strings.TrimSpace(e.Text)) >= minProgress {
			m.Text, m.alien = e.Text, e.Synthetic && !e.Aborted
			m.calls = e.Stop == "tool_use" || len(e.ToolUseIDs) > 0
		}
		if cut := func(h moment) bool { return h.uuid != "" && h.uuid == e.ParentUUID }; e.Interrupt {
			if j := slices.IndexFunc(p.moments, cut); j >= 0 {
				p.moments[j].alien = false // 2.1.197 marks what Esc cut off like an API error
			}
		}
		p.moments = append(p.moments, m)
	}
}

// Take removes the texts that are decided, and returns those said during a turn, ordered by
// time.
func (p *Progress) Take() (items []Item) {
	slices.SortStableFunc(p.moments, func(a, b moment) int { return cmp.Compare(a.At, b.At) })
	next := 0
	for i := range p.moments {
		m := &p.moments[i]
		for next < len(p.moments) && p.moments[next].At <= m.At {
			next++
		}
		if m.Text == "" || next == len(p.moments) && !m.calls {
			continue
		}
		if !m.alien && (m.calls || !p.moments[next].prompt) {
			items = append(items, m.Item)
		}
		m.Text = ""
	}
	p.moments = slices.Delete(p.moments, 0, max(0, len(p.moments)-maxMoments))
	return items
}

// SameText reports whether two texts are the same: equal except for letter case and space, or one
// part of the other (it may have been cut, or joined with more). An empty text equals no other.
func SameText(a, b string) bool {
	x, y := Normal(a), Normal(b)
	return x != "" && y != "" && (contains(x, y) || contains(y, x))
}

// contains reports whether part is text, or is in it and long enough not to be chance.
func contains(text, part string) bool {
	return text == part || utf8.RuneCountInString(part) >= minProgress && strings.Contains(text, part)
}

// Normal lowers the letters and makes each run of space one space.
func Normal(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
