package transcript

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/event"
)

// Limits of a Progress.
const (
	minProgress  = 10  // characters: a shorter text says nothing
	maxUndecided = 256 // texts whose kind is not decided yet
	maxPast      = 32  // recent moments, for a text whose line comes late
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
// The zero value is ready. Memory is bounded: of waiting texts, the newest 256 are kept.
type Progress struct {
	undecided []undecided
	past      []moment // oldest first
}

// undecided is a text and what is known about what followed it.
type undecided struct {
	Item
	uuid  string
	alien bool // the client's own words, as far as known
	next  moment
}

// moment is something that happened in the conversation; zero: nothing yet.
type moment struct {
	at     event.Millis
	prompt bool // it begins a turn
}

// Add adds the entries that follow those given before, in the order of the file.
func (p *Progress) Add(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if !e.Main() || e.At == 0 {
			continue
		}
		if m, ok := e.moment(); ok {
			p.happened(m, e)
		}
		if e.Type != Assistant || e.Stop == "end_turn" || utf8.RuneCountInString(strings.TrimSpace(e.Text)) < minProgress {
			continue
		}
		h := undecided{Item: Item{e.Text, e.At}, uuid: e.UUID, alien: e.Synthetic && !e.Aborted}
		if e.Stop == "tool_use" || len(e.ToolUseIDs) > 0 {
			h.next.at = e.At
		}
		for _, m := range p.past {
			h.followedBy(m)
		}
		p.undecided = append(p.undecided, h)
	}
}

// moment returns what happened when the entry was made. A prompt that was typed during a turn
// and taken into it is not a moment, since its time is when it was typed. Nor are the client's
// own notes.
func (e *Entry) moment() (moment, bool) {
	begins := e.Prompt && e.Type != Queued
	works := e.Type == Assistant && (e.Text != "" || len(e.ToolUseIDs) > 0)
	return moment{e.At, begins}, begins || works || e.ToolResult || e.Interrupt
}

func (p *Progress) happened(m moment, e *Entry) {
	for i := range p.undecided {
		h := &p.undecided[i]
		h.followedBy(m)
		if e.Interrupt && h.uuid != "" && e.ParentUUID == h.uuid {
			h.alien = false // 2.1.197 marks what Esc cut off like an API error
		}
	}
	if len(p.past) == maxPast {
		p.past = slices.Delete(p.past, 0, 1)
	}
	p.past = append(p.past, m)
}

func (h *undecided) followedBy(m moment) {
	if m.at > h.At && (h.next.at == 0 || m.at < h.next.at) {
		h.next = m
	}
}

// Take removes the texts that are decided, and returns those said during a turn, ordered by
// time.
func (p *Progress) Take() (items []Item) {
	slices.SortStableFunc(p.undecided, func(a, b undecided) int { return cmp.Compare(a.At, b.At) })
	left := p.undecided[:0]
	for _, h := range p.undecided {
		switch {
		case h.next.at == 0:
			left = append(left, h)
		case !h.alien && !h.next.prompt:
			items = append(items, h.Item)
		}
	}
	clear(p.undecided[len(left):])
	p.undecided = slices.Delete(left, 0, max(0, len(left)-maxUndecided))
	return items
}

// Key returns 16 hexadecimal digits that are equal for texts that differ only in letter case
// and space.
func Key(text string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, normal(text))
	return hex.EncodeToString(h.Sum(nil))
}

// SameText reports whether two texts are the same: equal except for letter case and space, or one
// part of the other (it may have been cut, or joined with more). An empty text equals no other.
func SameText(a, b string) bool {
	x, y := normal(a), normal(b)
	return x != "" && y != "" && (contains(x, y) || contains(y, x))
}

// contains reports whether part is text, or is in it and long enough not to be chance.
func contains(text, part string) bool {
	return text == part || utf8.RuneCountInString(part) >= minProgress && strings.Contains(text, part)
}

// normal lowers the letters and makes each run of space one space.
func normal(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
