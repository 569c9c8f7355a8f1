package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/store"
)

// Said is the user's message to a session whose client runs beckon's mod.
type Said struct {
	Reply string `json:"reply,omitempty"` // a prompt from the user
	Stop  bool   `json:"stop,omitempty"`  // end the turn that runs
	At    int64  `json:"at"`              // when, in milliseconds; set by Leave if it is 0
	// Signature is the user's, if they have a PIN (package pin).
	Signature []byte `json:"signature,omitempty"`
}

// Check returns an error for a reply without text.
func (s Said) Check() error {
	switch {
	case len(s.Reply) > maxMessage:
		return fmt.Errorf("the message is longer than %d bytes", maxMessage)
	case strings.TrimSpace(s.Reply) == "" && !s.Stop:
		return errors.New("there is nothing to say")
	}
	return nil
}

// saidFor is how long a message to a session is valid.
const saidFor = 30 * time.Second

// SaidFile returns the file that keeps a message until the session's mod takes it.
func (d Dir) SaidFile(record string) string {
	return filepath.Join(string(d), "offers", "said", string(store.KeyOf(record))+".json")
}

// Leave stores s where the session's mod finds it.
func (d Dir) Leave(record string, s Said, now time.Time) error {
	if s.At == 0 {
		s.At = now.UnixMilli()
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return plainfile.Write(d.SaidFile(record), b, fileMode, false)
}

// Take takes the message to a session, once. An expired message is removed, not returned.
func (d Dir) Take(record string, now time.Time) (s Said, ok bool) {
	path := d.SaidFile(record)
	own := path + ".taken"
	if os.Rename(path, own) != nil { // only one of two takers succeeds
		return Said{}, false
	}
	b, err := plainfile.ReadFile(own)
	_ = os.Remove(own)
	if err != nil || json.Unmarshal(b, &s) != nil {
		return Said{}, false
	}
	age := now.Sub(time.UnixMilli(s.At))
	return s, age >= 0 && age < saidFor
}

// takes is how long a mod may take to see a message: it looks every two seconds.
const takes = 5 * time.Second

// Hand passes s to a session's mod, and reports whether the mod took it. A message that is not
// taken is withdrawn.
func (d Dir) Hand(record string, s Said) (taken bool, err error) {
	if err := d.Leave(record, s, time.Now()); err != nil {
		return false, fmt.Errorf("leaving word for the session's mod: %w", err)
	}
	for end := time.Now().Add(takes); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Lstat(d.SaidFile(record)); errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
	}
	return os.Remove(d.SaidFile(record)) != nil, nil
}

// ErrIdle means that there is nothing to stop.
var ErrIdle = errors.New("the session is not at work: there is nothing to stop")

// Halt requests that a session end its turn at its next call, and its subagents their work at
// theirs; a mod in its client that takes the request ends the turn at once. The request does
// not apply to what begins later, nor to the session once the user has sent another prompt.
func (d Dir) Halt(v *state.Seen, from From, by string) (atOnce bool, err error) {
	if !v.Status.State.InTurn() {
		return false, ErrIdle
	}
	record := v.Session.Record()
	b, err := json.Marshal(Stop{At: event.MillisOf(time.Now()), By: by, From: string(from)})
	if err != nil {
		return false, err
	}
	if err := plainfile.Write(d.stopFile(store.KeyOf(record)), b, fileMode, false); err != nil {
		return false, fmt.Errorf("stopping the session: %w", err)
	}
	if !v.HasMod() {
		return false, nil
	}
	return d.Hand(record, Said{Stop: true})
}

func (d Dir) stopFile(k store.Key) string {
	return filepath.Join(string(d), "offers", "stop", string(k)+".json")
}

// Stop is the user's request that a session stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who said it
	From string       `json:"from"` // and where
}

// StopOf returns the user's request that session k stop, if there is one newer than since, the
// time at which the actor that asks last began. It stays in force until then, for the session
// and for each of its subagents.
func (d Dir) StopOf(k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := plainfile.ReadFile(d.stopFile(k))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}
