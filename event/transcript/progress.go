package transcript

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event"
)

// Thresholds of CASES part II section 5, in characters.
const (
	MinProgress = 10 // a shorter text says nothing
	minSentence = 20 // a shorter sentence is no sign that two texts are the same
	sameEnough  = 2  // sentences that two near-duplicates share
)

// Item is something that the agent said on the way.
type Item struct {
	Text    string
	At      event.Millis // the entry's own; its source is "jsonl"
	UUID    string
	Key     string // Key of Text, to tell what was captured before
	Aborted bool   // Esc cut it off: no hook tells of it
}

// Progress returns the texts of the main conversation that have at least
// MinProgress characters, in the order of their times, without those that say
// the same as final (SameText) or as an earlier one (equal Key). final may be
// empty, or the tail of the final text.
func Progress(entries []Entry, final string) []Item {
	var items []Item
	last := reduce(final)
	for _, e := range byTime(entries) {
		if e.Type != Assistant || !e.Main() || utf8.RuneCountInString(strings.TrimSpace(e.Text)) < MinProgress {
			continue
		}
		cutOff := e.Aborted || e.Synthetic && interrupted(entries, e.UUID)
		if e.Synthetic && !cutOff {
			continue
		}
		item := Item{Text: e.Text, At: e.At, UUID: e.UUID, Key: Key(e.Text), Aborted: cutOff}
		known := slices.ContainsFunc(items, func(i Item) bool { return i.Key == item.Key })
		if !known && !last.same(reduce(e.Text)) {
			items = append(items, item)
		}
	}
	return items
}

// interrupted reports whether Esc cut off the entry of that id: 2.1.197 marks
// what the agent had said as its own words, as it does an API error.
func interrupted(entries []Entry, uuid string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Interrupt && uuid != "" && e.ParentUUID == uuid })
}

// Key returns 16 hexadecimal digits that are equal for texts that differ in
// letter case and space only.
func Key(text string) string { return hexOf(fnv([]byte(normal(text)))) }

// SameText reports whether two texts say the same: equal but for letter case
// and space, one part of the other (it may have been cut, or have been joined
// with more), or with two sentences of at least 20 characters in common. An
// empty text is the same as no other.
func SameText(a, b string) bool { return reduce(a).same(reduce(b)) }

// reduced is a text as it is compared.
type reduced struct {
	text      string
	sentences []string
}

func reduce(s string) reduced {
	r := reduced{text: normal(s)}
	for _, p := range sentences(s) {
		if p = normal(p); utf8.RuneCountInString(p) >= minSentence {
			r.sentences = append(r.sentences, p)
		}
	}
	slices.Sort(r.sentences)
	r.sentences = slices.Compact(r.sentences)
	return r
}

func (r reduced) same(o reduced) bool {
	if r.text == "" || o.text == "" {
		return false
	}
	return contains(r.text, o.text) || contains(o.text, r.text) || r.shared(o) >= sameEnough
}

// contains reports whether part is text, or is in it and long enough to be
// more than chance.
func contains(text, part string) bool {
	return text == part || utf8.RuneCountInString(part) >= MinProgress && strings.Contains(text, part)
}

func (r reduced) shared(o reduced) (n int) {
	for _, s := range r.sentences {
		if _, ok := slices.BinarySearch(o.sentences, s); ok {
			n++
		}
	}
	return n
}

// normal lowers the letters and makes each run of space one space.
func normal(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// sentences splits at line breaks and behind full stops, question and
// exclamation marks that end a word.
func sentences(s string) []string {
	var all []string
	start, ended := 0, false
	for i, c := range s {
		if c == '\n' || ended && unicode.IsSpace(c) || strings.ContainsRune("。！？", c) {
			end := i + utf8.RuneLen(c)
			all = append(all, s[start:end])
			start = end
		}
		ended = c == '.' || c == '?' || c == '!'
	}
	return append(all, s[start:])
}
