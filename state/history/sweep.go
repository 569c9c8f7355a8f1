package history

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/intent"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/store"
)

// Limits of a sweep.
const (
	// sweepBytes is how far back from its end a new transcript is read.
	sweepBytes = 64 << 10
	// youngBytes is the limit for a session that began since the Sweeper did.
	youngBytes = transcript.DefaultBytes
	maxUnsaved = 256 // turns that wait for a session's lock
)

// Sweep notes what the agent of s said between calls, from its transcript: at most
// its last 64 KiB are read, however long it is. A session without a transcript that
// can be read says nothing, and that is no error; nor is one that somebody else
// holds.
func Sweep(st *store.Store, s *state.Session) error {
	return (&reading{}).sweep(st, s, sweepBytes)
}

// Sweeper does what Sweep does, for a program that stays: what was read of a
// transcript is not read again, and nothing between two sweeps is missed,
// however much it is. It begins with the last 64 KiB of a transcript;
// of a session that began after it was made, with the last 4 MiB. It must not
// be used from two goroutines at once.
type Sweeper struct {
	st       *store.Store
	made     event.Millis
	readings map[store.Key]*reading
}

// NewSweeper returns a Sweeper of the sessions in st.
func NewSweeper(st *store.Store) *Sweeper {
	return &Sweeper{st: st, made: event.MillisOf(time.Now()), readings: map[store.Key]*reading{}}
}

// Sweep sweeps sessions, which are all that there are: what it knows of others
// is forgotten. It returns early when ctx ends, and all errors together.
func (w *Sweeper) Sweep(ctx context.Context, sessions []state.Session) error {
	there := make(map[store.Key]bool, len(sessions))
	for i := range sessions {
		there[store.KeyOf(sessions[i].Record())] = true
	}
	maps.DeleteFunc(w.readings, func(k store.Key, _ *reading) bool { return !there[k] })
	return w.Some(ctx, sessions)
}

// Some is Sweep of some sessions: nothing is forgotten.
func (w *Sweeper) Some(ctx context.Context, sessions []state.Session) error {
	var errs []error
	for i := range sessions {
		s := &sessions[i]
		k := store.KeyOf(s.Record())
		r := w.readings[k]
		if r == nil {
			r = &reading{}
			w.readings[k] = r
		}
		back := int64(sweepBytes)
		if s.Created >= w.made {
			back = youngBytes
		}
		if ctx.Err() == nil {
			errs = append(errs, r.sweep(w.st, s, back))
		}
	}
	return errors.Join(errs...)
}

// reading is how far a transcript was read, and what is not noted yet.
type reading struct {
	path     string // empty: not begun
	cursor   transcript.Cursor
	progress transcript.Progress
	unsaved  []state.Turn
}

// sweep reads on, from back bytes before the end the first time, and notes what
// is new to the session.
func (r *reading) sweep(st *store.Store, s *state.Session, back int64) error {
	if s.Transcript == "" || s.Seq == 0 {
		return nil
	}
	if r.path != s.Transcript {
		*r = reading{unsaved: r.unsaved}
	}
	r.read(s, back)
	if len(r.unsaved) == 0 {
		return nil
	}
	err := st.Said(store.KeyOf(s.Record()), r.unsaved)
	gone := errors.Is(err, fs.ErrNotExist)
	if err == nil || gone {
		r.unsaved = nil
	} else {
		r.unsaved = r.unsaved[max(0, len(r.unsaved)-maxUnsaved):] // next time
	}
	if gone || errors.Is(err, store.ErrBusy) {
		return nil
	}
	return err
}

// read takes in what the transcript has gained, up to its end. One that cannot
// be read is gone, or was never written.
func (r *reading) read(s *state.Session, back int64) {
	limits := transcript.Limits{Text: state.MaxTurn}
	if r.path == "" {
		entries, c, err := transcript.Recent(s.Transcript, back, limits)
		if err != nil {
			return
		}
		r.path, r.cursor = s.Transcript, c
		r.take(entries, s)
	}
	for moved := true; moved; {
		entries, c, err := transcript.Read(r.path, r.cursor, limits)
		if c.Restarts != r.cursor.Restarts {
			r.progress = transcript.Progress{} // of a file that is no more
		}
		moved = err == nil && c != r.cursor
		r.cursor = c
		r.take(entries, s)
	}
}

// take makes turns of what is decided of the entries and newer than what s knows.
func (r *reading) take(entries []transcript.Entry, s *state.Session) {
	r.progress.Add(entries)
	for _, item := range r.progress.Take() {
		if item.At > s.Progress && item.At >= s.Created {
			r.unsaved = append(r.unsaved, state.Turn{Actor: state.SpeakerAgent, Intent: intent.IntentProgress, Confidence: 100,
				Rule: state.TurnProgress, Text: strings.TrimSpace(item.Text), At: item.At, Source: state.TimeTranscript})
		}
	}
}
