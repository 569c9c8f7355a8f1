package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/store"
)

// CheckMessage returns what is wrong with a text for an agent.
func CheckMessage(text string) error {
	switch {
	case len(text) > maxMessage:
		return fmt.Errorf("the message is longer than %d bytes", maxMessage)
	case strings.TrimSpace(text) == "":
		return errors.New("there is nothing to say")
	}
	return nil
}

// ErrIdle means that there is nothing to stop.
var ErrIdle = errors.New("the session is not at work: there is nothing to stop")

// Halt requests that a session end its turn at its next call, and its subagents their work at
// theirs; a mod in its client ends the turn sooner. The request does not apply to what begins
// later, nor to the session once the user has sent another prompt.
func (d Dir) Halt(v *state.Seen, from From, by string) error {
	if !v.Status.State.InTurn() {
		return ErrIdle
	}
	b, err := json.Marshal(Stop{At: event.MillisOf(time.Now()), By: by, From: string(from)})
	if err == nil {
		err = plainfile.Write(d.StopFile(store.KeyOf(v.Session.Record())), b, fileMode, false)
	}
	if err != nil {
		return fmt.Errorf("stopping the session: %w", err)
	}
	return nil
}

// StopFile returns the file that keeps the user's request that a session stop.
func (d Dir) StopFile(k store.Key) string { return d.path("stop", string(k)+".json") }

// Stop is the user's request that a session stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who stopped it
	From string       `json:"from"` // and where
}

// StopOf returns the user's request that session k stop, if it is newer than since.
func (d Dir) StopOf(k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := plainfile.ReadFile(d.StopFile(k))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}

// Longest is how long the client waits for its hook (answerTimeout of package installer).
const Longest = 24*time.Hour - time.Minute

// away is the file with the time until which the user is away, in milliseconds; 0 until Back.
func (d Dir) away() string { return d.path("away") }

// GoAway notes that the user is away until that time; 0 means until Back.
func (d Dir) GoAway(until event.Millis) error {
	return plainfile.Write(d.away(), strconv.AppendInt(nil, int64(until), 10), fileMode, false)
}

// Back notes that the user is back, and reports whether they were away.
func (d Dir) Back() (was bool, err error) {
	err = os.Remove(d.away())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// IsAway reports whether the user is away at now, and until when; the zero time means until Back.
// Only then a hook waits for the answer to a subagent's request: meanwhile a client that runs
// subagents in the background shows no dialog for it.
func (d Dir) IsAway(now time.Time) (until time.Time, away bool) {
	b, _ := plainfile.ReadFile(d.away()) // none, or unreadable: not away
	ms, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || ms == 0 {
		return until, err == nil
	}
	until = time.UnixMilli(ms)
	return until, now.Before(until)
}
