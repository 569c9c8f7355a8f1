package state

import (
	"slices"

	"beckon/event"
)

// maxWeight is how many bytes of text the lists of a session may hold. JSON
// escaping makes at most six bytes of one, so a session with its own fields
// stays under 64 KiB (DESIGN.md section 5).
const maxWeight = 6 << 10

// bound drops what is over the limits, the least telling first: the oldest
// subagents and calls that nobody waits for, then descriptions.
func bound(s *Session) {
	for len(s.Actors) > maxActors {
		i := leastTelling(s.Actors, func(a Actor) (bool, event.Millis) {
			return a.ID == "" || slices.ContainsFunc(a.Calls, func(c Call) bool { return c.waiting() }), a.Active
		})
		s.Actors = slices.Delete(s.Actors, i, i+1)
	}
	for openCalls(s) > maxCalls {
		dropCall(s)
	}
	s.Seeing = keepLast(s.Seeing, 16)
	for _, trim := range [...]func(*Session){trimTasks, trimCalls, trimClosed, trimMessage} {
		if weight(s) <= maxWeight {
			return
		}
		trim(s)
	}
}

// leastTelling returns the index of the oldest item that need not be kept,
// or of the oldest of all when every one should be; the first item stays.
func leastTelling[T any](list []T, keep func(T) (bool, event.Millis)) int {
	best, bestKept, bestAt := len(list)-1, true, event.Millis(1<<62)
	for i := range list {
		kept, at := keep(list[i])
		if i == 0 && kept {
			continue
		}
		if (bestKept && !kept) || (kept == bestKept && at < bestAt) {
			best, bestKept, bestAt = i, kept, at
		}
	}
	return best
}

func openCalls(s *Session) (n int) {
	for i := range s.Actors {
		n += len(s.Actors[i].Calls)
	}
	return n
}

// dropCall forgets one call of the actor that has most.
func dropCall(s *Session) {
	most := 0
	for i := range s.Actors {
		if len(s.Actors[i].Calls) > len(s.Actors[most].Calls) {
			most = i
		}
	}
	a := &s.Actors[most]
	i := leastTelling(a.Calls, func(c Call) (bool, event.Millis) { return c.waiting(), c.At })
	a.Calls = slices.Delete(slices.Clone(a.Calls), i, i+1)
}

// weight adds up the text in the lists and long fields of s.
func weight(s *Session) (n int) {
	n = len(s.Stop.Message) + len(s.Prompt.Text) + len(s.Failure.Detail)
	for _, t := range s.Stop.Background {
		n += len(t.ID) + len(t.Type) + len(t.Status) + len(t.Description)
	}
	for _, a := range s.Actors {
		n += len(a.ID) + len(a.Type)
		for _, c := range a.Calls {
			n += len(c.UseID) + len(c.Name) + len(c.Hash) + len(c.Summary)
		}
	}
	for _, c := range s.Closed {
		n += len(c.UseID) + len(c.Actor) + len(c.Hash)
	}
	for _, id := range s.Todos.Open {
		n += len(id)
	}
	return n
}

func trimTasks(s *Session) {
	s.Stop.Background = slices.Clone(s.Stop.Background)
	if len(s.Stop.Background) > maxActors {
		s.Stop.Background = s.Stop.Background[:maxActors]
	}
	for i := range s.Stop.Background {
		t := &s.Stop.Background[i]
		t.Description = event.Cut(t.Description, 40)
	}
}

func trimCalls(s *Session) {
	for i := range s.Actors {
		for j := range s.Actors[i].Calls {
			c := &s.Actors[i].Calls[j]
			c.Summary, c.Name = event.Cut(c.Summary, 40), event.Cut(c.Name, 40)
		}
	}
}

func trimClosed(s *Session) {
	s.Closed = keepLast(s.Closed, 4)
	s.Todos.Over += max(0, len(s.Todos.Open)-8)
	s.Todos.Open = s.Todos.Open[:min(len(s.Todos.Open), 8)]
}

func trimMessage(s *Session) {
	s.Stop.Message = event.CutTail(s.Stop.Message, 1024)
	for i := range s.Stop.Background {
		t := &s.Stop.Background[i]
		t.Description = ""
	}
	for i := range s.Actors {
		for j := range s.Actors[i].Calls {
			s.Actors[i].Calls[j].Summary = ""
		}
	}
}
