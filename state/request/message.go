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
	"beckon/event/jsonc"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/event/typed"
	"beckon/state"
	"beckon/state/store"
)

// Message is the user's message to a session whose client runs beckon's mod.
type Message struct {
	Reply string `json:"reply,omitempty"` // a prompt from the user
	Stop  bool   `json:"stop,omitempty"`  // end the turn that runs
	At    int64  `json:"at"`              // when, in milliseconds; set by Leave if it is 0
	// Signature is the user's, if they have a PIN (package pin).
	Signature []byte `json:"signature,omitempty"`
}

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

// messageFor is how long a message to a session is valid.
const messageFor = 30 * time.Second

// MessageFile returns the file that keeps a message until the session's mod takes it.
func (d Dir) MessageFile(record string) string {
	return d.path("said", string(store.KeyOf(record))+".json")
}

// Leave stores m where the session's mod finds it.
func (d Dir) Leave(record string, m Message, now time.Time) error {
	if m.At == 0 {
		m.At = now.UnixMilli()
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return plainfile.Write(d.MessageFile(record), b, fileMode, false)
}

// Take takes the message to a session, once; the zero Message if there is none. It leaves out one
// that has expired, and a reply that the user's PIN does not sign: err says so.
func (d Dir) Take(record string, now time.Time) (m Message, err error) {
	path := d.MessageFile(record)
	own := path + ".taken"
	if os.Rename(path, own) != nil { // only one of two takers succeeds
		return Message{}, nil
	}
	b, err := plainfile.ReadFile(own)
	_ = os.Remove(own)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return Message{}, err
	}
	if age := now.Sub(time.UnixMilli(m.At)); age < 0 || age >= messageFor {
		return Message{}, nil
	}
	if m.Reply != "" {
		if err = d.verify(m.signed(record), m.Signature); err != nil {
			m.Reply = ""
		}
	}
	return m, err
}

// takes is how long a mod may take to see a message: it looks every two seconds.
const takes = 5 * time.Second

// Reply makes text the next prompt of a session whose client has the mod, signed if the user has
// a PIN, and reports whether the mod took it.
func (d Dir) Reply(record, text string, unlock Unlock) (taken bool, err error) {
	m := Message{Reply: text, At: time.Now().UnixMilli()}
	if err := CheckMessage(text); err != nil {
		return false, err
	}
	if d.HasPIN() {
		key, err := unlock()
		if err != nil {
			return false, err
		}
		key.SignMessage(record, &m)
	}
	return d.Hand(record, m)
}

// Hand passes m to a session's mod, and reports whether the mod took it. A message that is not
// taken is withdrawn.
func (d Dir) Hand(record string, m Message) (taken bool, err error) {
	if err := d.Leave(record, m, time.Now()); err != nil {
		return false, fmt.Errorf("leaving word for the session's mod: %w", err)
	}
	if until(takes, 20*time.Millisecond, func() bool {
		_, err := os.Lstat(d.MessageFile(record))
		return errors.Is(err, fs.ErrNotExist)
	}) {
		return true, nil
	}
	return os.Remove(d.MessageFile(record)) != nil, nil
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
	return d.Hand(record, Message{Stop: true})
}

func (d Dir) stopFile(k store.Key) string {
	return d.path("stop", string(k)+".json")
}

// Stop is the user's request that a session stop.
type Stop struct {
	At   event.Millis `json:"at"`
	By   string       `json:"by"`   // who stopped it
	From string       `json:"from"` // and where
}

// StopOf returns the user's request that session k stop, if there is one newer than since, the
// time at which the actor that asks last began.
func (d Dir) StopOf(k store.Key, since event.Millis) (s Stop, ok bool) {
	b, err := plainfile.ReadFile(d.stopFile(k))
	if err != nil || !jsonenc.Decode(string(b), &s) {
		return Stop{}, false
	}
	return s, s.At > since
}

// When a hook waits for the answer to a subagent's request. Meanwhile a client that runs subagents
// in the background shows no dialog for it.
const (
	Off    = "off"    // never
	Away   = "away"   // while the user is away
	Always = "always" // ever
)

// Settings are the user's choices, from the configuration.
type Settings struct {
	Wait      time.Duration // answer_wait: how long a request stays open
	Subagents string        // answer_subagents: Off, Away or Always
}

// Defaults returns the settings in force without a configuration.
func Defaults() Settings { return Settings{Wait: 12 * time.Hour, Subagents: Away} }

// ReadSettings reads the settings from the configuration at path.
func ReadSettings(path string) (Settings, error) {
	s := Defaults()
	v, err := jsonc.Get(path, "answer_wait", "answer_subagents")
	if err != nil {
		return s, err
	}
	if text := v[0].String(); text != "" {
		wait, err := typed.Duration(text)
		if err != nil {
			return s, err
		}
		s.Wait = min(wait, longest)
	}
	if text := v[1].String(); text == Off || text == Away || text == Always {
		s.Subagents = text
	}
	return s, nil
}

// longest is how long a request can stay open: the client waits no longer for its hook
// (answerTimeout of package installer).
const longest = 24*time.Hour - time.Minute

// away is the file with the time until which the user is away, in milliseconds; 0 until they are
// back.
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

// IsAway reports whether the user is away at now, and until when; the zero time means until
// Back.
func (d Dir) IsAway(now time.Time) (until time.Time, away bool) {
	b, err := plainfile.ReadFile(d.away())
	if err != nil {
		return until, false
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || ms == 0 {
		return until, err == nil
	}
	until = time.UnixMilli(ms)
	return until, now.Before(until)
}

// WaitsForSubagents reports whether a hook is to wait for the answer to a subagent's request at now.
func (d Dir) WaitsForSubagents(s Settings, now time.Time) bool {
	_, away := d.IsAway(now)
	return s.Subagents == Always || s.Subagents == Away && away
}
