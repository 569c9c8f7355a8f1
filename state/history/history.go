// Package history returns what was said in sessions: turns in the order in which they happened (Turns,
// Search), with the progress that only transcripts have (Sweep, Sweeper). It stores nothing itself: what it
// finds goes into the session's history. Package state defines what turns mean.
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

// Turns returns what was said in session s, oldest first by the turns' own times. Progress that
// repeats the end of its turn, or earlier progress of that turn, is left out.
func Turns(st *store.Store, s *state.Session) ([]store.Turn, error) {
	all := map[store.Key][]store.Turn{}
	err := read(st, store.Select{Key: store.KeyOf(s.Record()), Since: s.Created}, all)
	return inOrder(all[store.KeyOf(s.Record())]), err
}

// read adds the turns that are selected.
func read(st *store.Store, sel store.Select, all map[store.Key][]store.Turn) error {
	sel.Kind = "turn"
	return st.Lines(sel, func(l *store.Line) {
		if l.Turn != nil {
			all[l.Key] = append(all[l.Key], store.Turn{Seq: l.Seq, Turn: *l.Turn})
		}
	})
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

// Query selects the turns for Search.
type Query struct {
	Key   store.Key // of this session; empty for all
	Words []string  // all of them must be in the turn's text, in any letter case
	Since event.Millis
}

// Hit is a turn that was found.
type Hit struct {
	Key store.Key
	store.Turn
}

// Search returns the turns that match, oldest first.
func Search(st *store.Store, q Query) ([]Hit, error) {
	words := make([]string, len(q.Words))
	for i, w := range q.Words {
		words[i] = strings.ToLower(w)
	}
	all := map[store.Key][]store.Turn{}
	if err := read(st, store.Select{Key: q.Key, Since: q.Since}, all); err != nil {
		return nil, err
	}
	var hits []Hit
	for k, turns := range all {
		for _, t := range inOrder(turns) {
			text := strings.ToLower(t.Text)
			if t.At >= q.Since && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				hits = append(hits, Hit{k, t})
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	return hits, nil
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
