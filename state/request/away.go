package request

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonc"
	"beckon/event/plainfile"
	"beckon/event/typed"
)

// When a subagent's request is held. While a hook holds it, a client that runs subagents in
// the background shows no dialog for it.
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

// keys are the settings' names in the configuration, in the order of the fields.
var keys = []string{"answer_wait", "answer_subagents"}

// ReadSettings reads the settings from the configuration at path.
func ReadSettings(path string) (Settings, error) {
	s := Defaults()
	v, err := jsonc.Get(path, keys...)
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

// Holds reports whether a subagent's request is to be held at now.
func (d Dir) Holds(s Settings, now time.Time) bool {
	_, away := d.IsAway(now)
	return s.Subagents == Always || s.Subagents == Away && away
}
