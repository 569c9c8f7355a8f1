// Package history returns what was said in sessions: turns in the order in which they happened
// (Turns, Search), with the progress that only transcripts have (Sweep, Sweeper). It stores
// nothing itself: what it finds goes into the session's journal. Package state defines what
// turns mean.
package history

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/store"
)

// Turns returns what was said in the session k, oldest first by the turns' own times. Progress
// that repeats the end of its turn, or earlier progress of that turn, is left out.
func Turns(st *store.Store, k store.Key) ([]store.Turn, error) {
	var all []store.Turn
	err := st.Turns(k, 0, func(t store.Turn) { all = append(all, t) })
	return inOrder(all), err
}

// inOrder sorts turns by time, gives those that were read late their task, and drops progress
// that is said elsewhere.
func inOrder(all []store.Turn) []store.Turn {
	slices.SortStableFunc(all, func(a, b store.Turn) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
	})
	command := int64(0)
	for i := range all {
		command = cmp.Or(all[i].Command, command)
		all[i].Command = command
	}
	out := all[:0]
	said := map[string]bool{} // progress in the turn under way
	for i, t := range all {
		if t.Rule != state.TurnProgress {
			clear(said)
		} else if key := transcript.Key(t.Text); said[key] || repeated(t, all[i+1:]) {
			continue
		} else {
			said[key] = true
		}
		out = append(out, t)
	}
	return out
}

// repeated reports whether, in later, the agent repeats t in what it next says to the user.
func repeated(t store.Turn, later []store.Turn) bool {
	i := slices.IndexFunc(later, func(l store.Turn) bool { return l.Rule != state.TurnProgress })
	return i >= 0 && later[i].Actor == state.SpeakerAgent && transcript.SameText(later[i].Text, t.Text)
}

// Query selects the turns for Search.
type Query struct {
	Words []string // all of them must be in the turn's text, in any letter case
	Since event.Millis
	Limit int // the newest so many; 0 means all
	// Progress, if not nil, receives how many of all sessions have been searched.
	Progress func(done, total int64)
}

// Hit is a turn that was found.
type Hit struct {
	Key store.Key
	store.Turn
}

// Search returns the turns of sessions that match, oldest first.
func Search(st *store.Store, keys []store.Key, q Query) ([]Hit, error) {
	words := make([]string, len(q.Words))
	for i, w := range q.Words {
		words[i] = strings.ToLower(w)
	}
	var hits []Hit
	for i, k := range keys {
		if q.Progress != nil {
			q.Progress(int64(i), int64(len(keys)))
		}
		turns, err := Turns(st, k)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			if t.At < q.Since {
				continue
			}
			text := strings.ToLower(t.Text)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				hits = append(hits, Hit{k, t})
			}
		}
	}
	if q.Progress != nil {
		q.Progress(1, 1)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.At, b.At) })
	if q.Limit > 0 && len(hits) > q.Limit {
		hits = hits[len(hits)-q.Limit:]
	}
	return hits, nil
}
