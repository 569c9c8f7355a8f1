package history

import (
	"cmp"
	"context"
	"errors"
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
	sweepBytes = 64 << 10 // how far back from its end a new transcript is read
	youngBytes = 4 << 20  // the same for a session that began after the Sweeper
)

// Sweep stores what the agent of s said between calls, from the end of its transcript. One that cannot be
// read, and a session that another process has locked, are no errors.
func Sweep(st *store.Store, s *state.Session) error {
	return (&reading{}).sweep(st, s, sweepBytes)
}

// Sweeper is Sweep for a program that keeps running: it reads nothing of a transcript twice, and misses
// nothing between two sweeps. It begins with the last 64 KiB of a transcript, or the last 4 MiB for a session
// that began after the Sweeper was made. It is not safe for concurrent use.
type Sweeper struct {
	st       *store.Store
	made     event.Millis
	readings map[store.Key]*reading
}

// NewSweeper returns a Sweeper for the sessions in st.
func NewSweeper(st *store.Store) *Sweeper {
	return &Sweeper{st: st, made: event.MillisOf(time.Now()), readings: map[store.Key]*reading{}}
}

// Sweep sweeps sessions, and forgets what it knows of others if they are all that there are. It
// returns early when ctx ends, and joins all errors.
func (w *Sweeper) Sweep(ctx context.Context, sessions []state.Session, all bool) error {
	var errs []error
	known := w.readings
	if all {
		w.readings = make(map[store.Key]*reading, len(sessions))
	}
	for i := range sessions {
		s := &sessions[i]
		k := store.KeyOf(s.Record())
		r := cmp.Or(known[k], &reading{})
		w.readings[k] = r
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

// reading is how far a transcript was read.
type reading struct {
	path     string // empty: not begun
	next     int64  // byte of it; negative, from its end, until it could be read
	progress transcript.Progress
}

// sweep reads on, the first time from back bytes before the end, and stores what is new to the session.
func (r *reading) sweep(st *store.Store, s *state.Session, back int64) error {
	if s.Transcript == "" || s.Seq == 0 {
		return nil
	}
	if r.path != s.Transcript {
		*r = reading{path: s.Transcript, next: -back}
	}
	turns := r.read(s)
	if len(turns) == 0 {
		return nil
	}
	_, err := st.Fold(store.KeyOf(s.Record()), store.Update{Turns: turns, Wait: time.Millisecond})
	if err != nil {
		*r = reading{} // the next time begins anew
	}
	if errors.Is(err, store.ErrBusy) {
		return nil
	}
	return err
}

// read makes turns of what was appended to the transcript, up to its end, and is complete and newer than what
// s has. A transcript that cannot be read is gone, or was never written.
func (r *reading) read(s *state.Session) (turns []state.Turn) {
	for moved := true; moved; {
		entries, next, err := transcript.Read(r.path, r.next, state.MaxTurn)
		if next < r.next {
			r.progress = transcript.Progress{} // of a file that is gone
		}
		moved = err == nil && next != r.next
		r.next = next
		r.progress.Add(entries)
		for _, item := range r.progress.Take() {
			turn := state.Turn{
				Actor: state.SpeakerAgent, Intent: intent.IntentProgress, Confidence: 100, Rule: state.TurnProgress,
				Text: strings.TrimSpace(item.Text), At: item.At, Source: state.TimeTranscript,
			}
			if item.At > s.Progress && item.At >= s.Created {
				turns = append(turns, turn)
			}
		}
	}
	return turns
}
