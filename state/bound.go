package state

import (
	"reflect"
	"slices"

	"beckon/event"
	"beckon/event/jsonenc"
)

// maxSize is how many bytes a session may have when Apply hands it out. The
// file may have 64 KiB; the rest is room for the numbers
// that the store sets afterwards.
const maxSize = 64<<10 - 512

// bound drops what is over the limits, the least telling first: the oldest
// subagents and calls that nobody waits for, then descriptions, and of a
// session full of hostile text whatever it takes.
func bound(s *Session) {
	for len(s.Actors) > maxActors {
		i := leastUseful(s.Actors, func(a Actor) (bool, event.Millis) {
			return a.ID == "" || slices.ContainsFunc(a.Calls, func(c Call) bool { return c.waiting() }), a.Active
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

// leastUseful returns the index of the oldest item that need not be kept,
// or of the oldest of all when every one should be; the first item stays.
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
	i := leastUseful(a.Calls, func(c Call) (bool, event.Millis) { return c.waiting(), c.At })
	a.Calls = slices.Delete(a.Calls, i, i+1)
}

// atMost returns a number of bytes that s surely does not exceed, without the
// cost of writing it: JSON makes at most six bytes of one.
func atMost(s *Session) int {
	const (
		fixed = 5 << 10 // the session's own members, all numbers at their longest
		item  = 240     // the same of one item of a list
	)
	items := len(s.Stop.Background) + len(s.Actors) + openCalls(s) + len(s.Closed) + len(s.Recent) + len(s.Seeing) + len(s.Todos.Open)
	return fixed + item*items + 6*(headText(s)+listText(s))
}

// headText adds up the text of s outside its lists.
func headText(s *Session) int {
	return lengths(s.ID, s.Agent, s.Seat, s.ProjectID, s.Cwd, s.Transcript, s.Model, s.Name, s.Mode, s.Effort,
		s.Start.Reason, s.Start.Detail, s.End.Reason, s.End.Detail, s.Lost.Reason, s.Lost.Detail, s.Last.Reason, s.Last.Detail, s.Raised.Reason, s.Raised.Detail,
		s.Failure.Reason, s.Failure.Detail, s.Prompt.ID, s.Prompt.Text, s.Stop.Message, string(s.Stop.Intent), s.Stop.Rule, s.Stop.Question, s.Compact.Reason, string(s.Task.State)) + originText(&s.Origin)
}

func originText(o *event.Origin) int {
	p, t, g := &o.Process, &o.Terminal, &o.Git
	return lengths(o.Host, o.Entry, o.Launcher, o.Project, o.Seat, o.ProjectID,
		p.Host, p.Boot, p.NS, p.Start, t.Kind, t.ID, t.Outer, t.Tmux.Socket, t.Tmux.Pane, t.Tmux.Session,
		g.Branch, g.Head, g.Repo, g.Worktree, g.Common)
}

// listText adds up the text in the lists of s.
func listText(s *Session) (n int) {
	for i := range s.Stop.Background {
		t := &s.Stop.Background[i]
		n += lengths(t.ID, t.Type, t.Status, t.Description)
	}
	for i := range s.Actors {
		a := &s.Actors[i]
		n += lengths(a.ID, a.Type, a.How)
		for j := range a.Calls {
			c := &a.Calls[j]
			n += lengths(c.UseID, c.Name, c.Hash, c.Summary, string(c.Kind)) + askText(c.Ask)
		}
	}
	for i := range s.Closed {
		c := &s.Closed[i]
		n += lengths(c.UseID, c.Actor, c.Hash)
	}
	for i := range s.Recent {
		n += lengths(s.Recent[i].Sig, s.Recent[i].Via)
	}
	for i := range s.Seeing {
		o := &s.Seeing[i]
		n += lengths(string(o.Source), string(o.What), o.Detail)
	}
	return n + lengths(s.Todos.Open...)
}

// askText is the text of a question, with room for the names of its members.
func askText(a *event.Ask) (n int) {
	if a == nil {
		return 0
	}
	for _, q := range a.Questions {
		n += 20 + lengths(q.Header, q.Text)
		for _, o := range q.Options {
			n += 20 + lengths(o.Label, o.Description)
		}
	}
	return n + 20 + lengths(a.Plan) + lengths(a.Form...) + lengths(a.Suggestions...)
}

func lengths(texts ...string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
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
	for i := range s.Actors {
		for j := range s.Actors[i].Calls {
			c := &s.Actors[i].Calls[j]
			c.Summary = event.Cut(c.Summary, 40)
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
		s.Stop.Background[i].Description = ""
	}
	for i := range s.Actors {
		for j := range s.Actors[i].Calls {
			s.Actors[i].Calls[j].Summary = ""
			s.Actors[i].Calls[j].Ask = nil
		}
	}
}

// cutAll cuts every text of a session to n bytes, its id excepted. Ids that
// long are nobody's.
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
