package state

import (
	"reflect"
	"slices"

	"beckon/event"
	"beckon/event/jsonenc"
)

// maxSize is the limit of a session's JSON when Apply returns it, in bytes. The file may have
// 64 KiB; the rest is room for the numbers that the store sets afterwards.
const maxSize = 64<<10 - 512

// bound drops what exceeds the limits, the least useful first: the oldest subagents and calls
// that nobody waits for. If the session is still too large, as hostile text can make it, bound
// cuts descriptions, then calls and messages, and in the end every text.
func bound(s *Session) {
	for len(s.Actors) > maxActors {
		i := leastUseful(s.Actors, func(a Actor) (bool, event.Millis) {
			return a.ID == "" || a.waits(), a.Active
		})
		s.Actors = slices.Delete(s.Actors, i, i+1)
	}
	for openCalls(s) > maxCalls {
		dropCall(s)
	}
	s.Seeing = keepLast(s.Seeing, maxSeeing)
	if atMost(s) <= maxSize {
		return
	}
	buf := make([]byte, 0, 2*maxSize)
	for _, trim := range [...]func(*Session){trimTasks, trimCalls, trimClosed, trimMessage, cutAll(64), cutAll(16)} {
		if buf = AppendJSON(buf[:0], s); len(buf) <= maxSize {
			return
		}
		trim(s)
	}
}

// leastUseful returns the index of the oldest item that keep does not want, or of the oldest
// of all if keep wants every one. The first item is never chosen while keep wants it.
func leastUseful[T any](list []T, keep func(T) (bool, event.Millis)) int {
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
	for range s.calls() {
		n++
	}
	return n
}

// dropCall drops the least useful call of the actor with the most calls.
func dropCall(s *Session) {
	most := 0
	for i := range s.Actors {
		if len(s.Actors[i].Calls) > len(s.Actors[most].Calls) {
			most = i
		}
	}
	a := &s.Actors[most]
	i := leastUseful(a.Calls, func(c Call) (bool, event.Millis) { return c.waiting(), c.At })
	a.Calls = slices.Delete(a.Calls, i, i+1)
}

// atMost returns an upper bound of the bytes of s as JSON without encoding it: JSON writes at
// most six bytes for one.
func atMost(s *Session) int {
	const member = 48 // a name, quotes and the longest number
	n := 0
	jsonenc.Each(s, func(v reflect.Value) {
		if !v.IsZero() {
			n += member
		}
		if v.Kind() == reflect.String {
			n += 6 * v.Len()
		}
	})
	return n
}

func trimTasks(s *Session) {
	s.Stop.Background = slices.Clone(s.Stop.Background[:min(len(s.Stop.Background), maxActors)])
	for i := range s.Stop.Background {
		t := &s.Stop.Background[i]
		t.Description = event.Cut(t.Description, 40)
	}
}

func trimCalls(s *Session) {
	for _, c := range s.calls() {
		c.Summary = event.Cut(c.Summary, 40)
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
		s.Stop.Background[i].Description = ""
	}
	for _, c := range s.calls() {
		c.Summary, c.Ask = "", nil
	}
}

// cutAll returns a function that cuts every text of a session to n bytes, except its id: no
// agent has ids that long.
func cutAll(n int) func(*Session) {
	return func(s *Session) {
		id := s.ID
		s.Stop.Background = s.Stop.Background[:min(len(s.Stop.Background), 8)]
		jsonenc.Each(s, func(v reflect.Value) {
			if v.Kind() == reflect.String {
				v.SetString(event.Cut(v.String(), n))
			}
		})
		s.ID = id
	}
}
