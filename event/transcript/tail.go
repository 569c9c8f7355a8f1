package transcript

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/event"
)

// DefaultBound is how far back FinalText and LastPrompt look when they are not
// told: over a few of the 64 KB lines that version 2.1.329 puts in between.
const DefaultBound = 1 << 20

// FinalText returns what the agent said after its last tool result, and when:
// the texts joined by a blank line, of which the last MaxText bytes are kept
// (the tail says what is wanted). It is empty when the newest thing told is
// something else.
//
// It reads at most the last bound bytes (DefaultBound when not positive),
// beginning with 64 KiB and going further back only while it has not seen
// where the answer begins. "After" is by the entries' times. The client's own
// records that follow an answer (a compaction, a command it ran) do not hide
// it. Of a session's transcript the main conversation counts; of a subagent's,
// the subagent's.
//
// The transcript may lag behind a Stop: if the time is not after the prompt's,
// this is an earlier turn's answer.
func FinalText(path string, bound int64) (string, event.Millis, error) {
	f, size, err := open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return finalText(f, size, bound)
}

func finalText(src io.ReaderAt, size, bound int64) (text string, at event.Millis, err error) {
	err = lookBack(src, size, bound, func(entries []Entry) (found bool) {
		text, at, found = lastAnswer(conversation(entries))
		return found || len(text) > MaxText-utf8.UTFMax
	})
	return text, at, err
}

// LastPrompt returns the newest prompt that a person wrote and when, at most
// its first MaxText bytes, from the last bound bytes as FinalText reads them.
// If those hold only the client's record of it, which may be cut, the time is
// 0. It is empty when there is none.
func LastPrompt(path string, bound int64) (string, event.Millis, error) {
	f, size, err := open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return lastPrompt(f, size, bound)
}

func lastPrompt(src io.ReaderAt, size, bound int64) (text string, at event.Millis, err error) {
	err = lookBack(src, size, bound, func(entries []Entry) bool {
		text, at = "", 0
		for _, e := range entries {
			switch {
			case e.Prompt && e.At >= at, e.Type == Recorded && at == 0:
				text, at = e.Text, e.At
			}
		}
		return text != ""
	})
	return text, at, err
}

// lookBack shows the entries of a growing window at the file's end to enough,
// until that is content or the window is bound.
func lookBack(src io.ReaderAt, size, bound int64, enough func([]Entry) bool) error {
	if bound <= 0 {
		bound = DefaultBound
	}
	lim := Limits{}.orDefaults()
	for window := min(bound, firstWindow); ; window = min(bound, 4*window) {
		lim.Bytes = window + 1
		entries, _, err := readFrom(src, size, tailOf(size, window), lim)
		if err != nil || enough(entries) || window >= min(bound, size) {
			return err
		}
	}
}

// conversation returns the entries of the main conversation, or all of a
// subagent's own transcript, by time; entries of equal times keep their order.
func conversation(entries []Entry) []Entry {
	entries = byTime(entries)
	if slices.ContainsFunc(entries, func(e Entry) bool { return e.Main() && e.Type != Recorded }) {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return !e.Main() })
	}
	return entries
}

func byTime(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
	return entries
}

// lastAnswer walks back to what the agent answered. found reports whether it
// saw where the answer begins: behind a result, a prompt or a marker.
func lastAnswer(entries []Entry) (text string, at event.Millis, found bool) {
	var texts []string
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Type == Assistant && e.Text != "" && !e.Synthetic:
			texts = append(texts, e.Text)
			at = max(at, e.At)
		case e.Type == User && (e.Text != "" || e.ToolResult) && (!e.Note || len(texts) > 0):
			return joined(texts), at, true
		}
	}
	return joined(texts), at, false
}

// joined joins texts that are given last first.
func joined(texts []string) string {
	slices.Reverse(texts)
	return event.CutTail(strings.Join(texts, "\n\n"), MaxText)
}
