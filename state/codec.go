package state

import (
	"errors"
	"reflect"
	"slices"

	"beckon/event"
	"beckon/event/jsonenc"
)

// ErrNotSession is returned for data that is not a session file.
var ErrNotSession = errors.New("not a session file")

// ErrNewerSchema is returned for a session file that a newer version wrote. Such a file is left untouched.
var ErrNewerSchema = errors.New("session file of a newer version")

// AppendJSON appends s as one line of JSON, without a newline, of less than 64 KiB.
func AppendJSON(dst []byte, s *Session) []byte {
	b := jsonenc.Append(dst, s)
	for most := 256; len(b)-len(dst)-len(s.Late) > maxSize && most > 8; most /= 4 {
		b = jsonenc.Append(dst, s.shortened(most))
	}
	return b
}

// DecodeJSON decodes into s what AppendJSON or encoding/json wrote. It ignores unknown fields and
// returns ErrNewerSchema for a newer schema. On an error s is zero.
func (s *Session) DecodeJSON(data []byte) error {
	*s = Session{}
	err := ErrNotSession
	if jsonenc.Decode(string(data), s) {
		err = s.Check()
	}
	if err != nil {
		*s = Session{}
	}
	return err
}

// Check returns ErrNewerSchema for a session that a newer version wrote, and ErrNotSession for
// one without a version.
func (s *Session) Check() error {
	switch {
	case s.Schema > Schema:
		return ErrNewerSchema
	case s.Schema <= 0:
		return ErrNotSession
	}
	return nil
}

// maxSize is the limit of a session's JSON, in bytes. The file may have 64 KiB; the rest is room
// for what the store adds.
const maxSize = 64<<10 - 512

// bound drops what exceeds the limits, the least useful first: the oldest subagents and calls
// that nobody waits for.
func bound(s *Session) {
	stopped := 0
	for i := range s.Actors {
		if !s.Actors[i].running() {
			stopped++
		}
	}
	for ; len(s.Actors) > maxActors || stopped > maxStopped; stopped-- {
		i := leastUseful(s.Actors, func(a Actor) (bool, event.Millis) {
			at := a.Active
			if a.running() { // after all that have stopped
				at += 1 << 60
			}
			return a.ID == "" || a.waits(), at
		})
		s.Actors = slices.Delete(s.Actors, i, i+1)
	}
	n := 0
	for range s.Calls() {
		n++
	}
	for ; n > maxCalls; n-- {
		most := 0 // the actor with the most calls
		for i := range s.Actors {
			if len(s.Actors[i].Calls) > len(s.Actors[most].Calls) {
				most = i
			}
		}
		a := &s.Actors[most]
		i := leastUseful(a.Calls, func(c Call) (bool, event.Millis) { return c.waiting(), c.At })
		a.Calls = slices.Delete(a.Calls, i, i+1)
	}
	s.Seeing = keepLast(s.Seeing, maxSeeing)
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

// shortened returns a copy of s with lists cut short and every text but the id cut to most bytes:
// only hostile text makes a session too large.
func (s *Session) shortened(most int) *Session {
	short := clone(*s)
	short.Stop.Background = slices.Clone(s.Stop.Background[:min(len(s.Stop.Background), 8)])
	short.Closed = keepLast(short.Closed, 4)
	for _, c := range short.Calls() {
		c.Ask = nil
	}
	jsonenc.Each(&short, func(v reflect.Value) {
		if v.Kind() == reflect.String {
			v.SetString(event.Cut(v.String(), most))
		}
	})
	short.ID, short.Late = s.ID, s.Late
	return &short
}
