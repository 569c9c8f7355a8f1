// Package history tells what was said in sessions: turns, in the order in
// which they happened, with the progress that only the transcript tells.
package history

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/intent"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/store"
)

// Turns returns what was said in the session k, oldest first by the turns' own
// times. Progress that says the same as the end of its turn is left out: a
// reader may have caught the final text before the Stop came.
func Turns(st *store.Store, k store.Key) ([]store.Turn, error) {
	var all []store.Turn
	err := st.Turns(k, 0, func(t store.Turn) { all = append(all, t) })
	return inOrder(all), err
}

// inOrder sorts turns by time, gives those that were read late their task and
// drops the progress that the end of its turn repeats.
func inOrder(all []store.Turn) []store.Turn {
	slices.SortStableFunc(all, func(a, b store.Turn) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
	})
	command := int64(0)
	for i := range all {
		if all[i].Command == 0 {
			all[i].Command = command
		}
		command = all[i].Command
	}
	out := all[:0]
	for i, t := range all {
		if t.Rule != state.TurnProgress || !repeated(t, all[i+1:]) {
			out = append(out, t)
		}
	}
	return out
}

// repeated reports whether what the agent says next to the user, in later, is
// what t says.
func repeated(t store.Turn, later []store.Turn) bool {
	i := slices.IndexFunc(later, func(l store.Turn) bool { return l.Rule != state.TurnProgress })
	return i >= 0 && later[i].Actor == state.SpeakerAgent && transcript.SameText(later[i].Text, t.Text)
}

// sweepBytes is how far back from its end a transcript is read for progress.
const sweepBytes = 64 << 10

// Sweep notes what the agent of s said on the way, as its transcript tells: at
// most its last 64 KiB are read, however long it is. A session without a
// transcript that can be read says nothing, and that is no error; nor is one
// that somebody else holds.
func Sweep(st *store.Store, s *state.Session) error {
	if s.Transcript == "" || s.Seq == 0 {
		return nil
	}
	entries, _, err := transcript.Recent(s.Transcript, sweepBytes, transcript.Limits{Text: state.MaxTurn})
	if err != nil {
		return nil // gone, or never written
	}
	err = st.Said(store.KeyOf(s.ID), progress(entries, s))
	if errors.Is(err, store.ErrBusy) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// progress makes turns of the entries that are newer than what s knows. The
// newest words are left for the Stop that may be about to bring them, or to the
// next sweep.
func progress(entries []transcript.Entry, s *state.Session) (turns []state.Turn) {
	heard := max(s.Stop.At, s.Activity, s.Main().Ended)
	for _, item := range transcript.Progress(entries, s.Stop.Message) {
		if item.At <= s.Progress || item.At < s.Created || item.At > heard || ends(entries, item.At) {
			continue
		}
		turns = append(turns, state.Turn{Actor: state.SpeakerAgent, Intent: intent.IntentProgress, Confidence: 100,
			Rule: state.TurnProgress, Text: strings.TrimSpace(item.Text), At: item.At, Source: state.TimeTranscript})
	}
	return turns
}

// ends reports whether what was said at t ended its turn: the next that happens
// is a prompt. Its Stop has told it.
func ends(entries []transcript.Entry, t event.Millis) bool {
	var next *transcript.Entry
	for i := range entries {
		e := &entries[i]
		happens := e.Prompt || e.ToolResult || e.Type == transcript.Assistant && (e.Text != "" || len(e.ToolUseIDs) > 0)
		if e.Main() && happens && e.At > t && (next == nil || e.At < next.At) {
			next = e
		}
	}
	return next != nil && next.Prompt
}

// Query says which turns Search wants.
type Query struct {
	Words []string // all of them are in the turn's text, in any letter case
	Since event.Millis
	Limit int // the newest so many; 0 means all
}

// Hit is one turn that was found.
type Hit struct {
	Key store.Key
	store.Turn
}

// Search looks through the turns of the sessions keys and returns what fits,
// oldest first.
func Search(st *store.Store, keys []store.Key, q Query) ([]Hit, error) {
	words := make([]string, len(q.Words))
	for i, w := range q.Words {
		words[i] = strings.ToLower(w)
	}
	var hits []Hit
	for _, k := range keys {
		turns, err := Turns(st, k)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			if t.At >= q.Since && hasAll(strings.ToLower(t.Text), words) {
				hits = append(hits, Hit{k, t})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.At, b.At) })
	if q.Limit > 0 && len(hits) > q.Limit {
		hits = hits[len(hits)-q.Limit:]
	}
	return hits, nil
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
