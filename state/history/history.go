// Package history returns what was said in sessions: turns in the order in which they happened (Turns),
// with the progress that only transcripts have (Sweep, Sweeper). It stores nothing itself: what it finds
// goes into the session's history. Package state defines what turns mean.
package history

import (
	"cmp"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/stats"
	"beckon/state/store"
)

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
		} else if key := transcript.Normal(t.Text); said[key] || repeated(t, all[i+1:]) {
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

// Query selects turns.
type Query struct {
	Key   store.Key // of this session; empty for all
	Words []string  // all of them must be in the turn's text, in any letter case
	Since event.Millis
}

// Turns returns the turns that match, oldest first by their own times. Progress that repeats the end of its
// turn, or earlier progress of that turn, is left out.
func Turns(st *store.Store, q Query) (found []store.Turn, err error) {
	all := map[store.Key][]store.Turn{}
	err = st.Lines(store.Select{Key: q.Key, Since: q.Since, Kind: "turn"}, func(l *store.Line) {
		if l.Turn != nil {
			all[l.Key] = append(all[l.Key], store.Turn{Key: l.Key, Seq: l.Seq, Turn: *l.Turn})
		}
	})
	for _, turns := range all {
		for _, t := range inOrder(turns) {
			text := strings.ToLower(t.Text)
			lacks := func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }
			if t.At >= q.Since && !slices.ContainsFunc(q.Words, lacks) {
				found = append(found, t)
			}
		}
	}
	slices.SortFunc(found, func(a, b store.Turn) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	return found, err
}

// Count adds to t what history counts from the day of since on, and the time of seen sessions that
// has not ended by now.
func Count(st *store.Store, t *stats.Totals, since event.Millis, seen []state.Seen, now event.Millis) error {
	err := st.Counts(store.Select{Since: since}, func(k store.Key, at event.Millis, n *stats.Count) {
		t.Add(string(k), at, n)
	})
	for i := range seen {
		n := stats.Open(&seen[i].Session, now)
		t.Add(string(store.KeyOf(seen[i].Session.Record())), now, &n)
	}
	return err
}
