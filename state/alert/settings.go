// Package alert holds what the hook and the slow program share about notifying
// the user: the settings, the words, and the decision with its facts read.
//
// The hook links it, so it reads the configuration key by key, and only when there
// is an edge. It is not strict: that is package config's, which a
// test holds to the same values.
package alert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/duration"
	"beckon/event/home"
	"beckon/event/jsonc"
	"beckon/event/osc"
	"beckon/state"
)

// The channels.
const (
	Terminal = "terminal" // a sequence through the agent's own terminal
	Desktop  = "desktop"  // a notification of the desktop
	Command  = "command"  // a program of the user's
	Sound    = "sound"    // a file of the user's
	Ntfy     = "ntfy"     // a phone, by a server
	Title    = "title"    // the window's title tells the state
)

// Channels lists the channels that can be chosen.
var Channels = []string{Terminal, Desktop, Command, Sound, Title, Ntfy}

// Settings are the user's choices, from the configuration.
type Settings struct {
	Channels  []string         // notify: none is chosen until the user does
	On        []state.EdgeKind // notify_on
	DoneAfter time.Duration    // notify_done_after: how long a turn must be before its end is worth a notification
	Limit     time.Duration    // notify_limit: at most one of a kind and session in this time
	Quiet     Hours            // notify_quiet_hours
	Command   []string         // notify_command: the program, with its arguments
	Sound     string           // notify_sound: the file
	Style     osc.Style        // notify_terminal: empty chooses by the terminal
}

// Defaults returns the settings in force without a configuration.
func Defaults() Settings {
	return Settings{On: state.EdgeKinds[:], DoneAfter: 30 * time.Second, Limit: 5 * time.Second}
}

// keys are the configuration's names of the settings, in the order of the fields.
var keys = []string{"notify", "notify_on", "notify_done_after", "notify_limit", "notify_quiet_hours", "notify_command", "notify_sound", "notify_terminal"}

// Auto is the value of notify_terminal that chooses by the terminal.
const Auto = "auto"

// Has reports whether the channel is chosen.
func (s Settings) Has(channel string) bool { return slices.Contains(s.Channels, channel) }

// Away reports whether a channel is chosen that needs a process of its own.
func (s Settings) Away() bool { return s.Has(Desktop) || s.Has(Command) || s.Has(Sound) || s.Has(Ntfy) }

// Read reads the settings from the configuration at path.
func Read(path string) (Settings, error) {
	s := Defaults()
	v, err := jsonc.Get(path, keys...)
	if err != nil || !v[0].Exists() {
		return s, err
	}
	texts := func(i int) (out []string) {
		for _, x := range v[i].Array() {
			out = append(out, x.String())
		}
		return out
	}
	s.Channels, s.Command, s.Sound = texts(0), texts(5), v[6].String()
	if v[1].Exists() {
		s.On = nil
		for _, k := range texts(1) {
			s.On = append(s.On, state.EdgeKind(k))
		}
	}
	if style := v[7].String(); style != Auto {
		s.Style = osc.Style(style)
	}
	return s, errors.Join(
		span(&s.DoneAfter, v[2].String()), span(&s.Limit, v[3].String()), s.Quiet.UnmarshalText([]byte(v[4].String())))
}

func span(to *time.Duration, text string) error {
	if text == "" {
		return nil
	}
	d, err := duration.Parse(text)
	if err == nil {
		*to = d
	}
	return err
}

// Rules returns the settings as the decision wants them.
func (s Settings) Rules() state.Rules {
	return state.Rules{On: s.On, DoneAfter: event.Millis(s.DoneAfter.Milliseconds()), Limit: event.Millis(s.Limit.Milliseconds())}
}

// Hours is a part of every day, in minutes since midnight; From may be later
// than To. The zero value is no time at all.
type Hours struct{ From, To int }

var errHours = errors.New(`hours look like "22:00-07:30"`)

// UnmarshalText reads "22:00-07:30"; nothing means no hours.
func (h *Hours) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = Hours{}
		return nil
	}
	from, to, ok := strings.Cut(string(text), "-")
	a, okA := minutes(from)
	b, okB := minutes(to)
	if strings.TrimSpace(to) == "24:00" {
		b, okB = 24*60, true
	}
	if !ok || !okA || !okB {
		return errHours
	}
	*h = Hours{a, b}
	return nil
}

// minutes reads "07:30".
func minutes(s string) (int, bool) {
	t, err := time.Parse("15:04", strings.TrimSpace(s))
	return t.Hour()*60 + t.Minute(), err == nil
}

// MarshalText writes the hours as they are read.
func (h Hours) MarshalText() ([]byte, error) {
	if h == (Hours{}) {
		return nil, nil
	}
	return fmt.Appendf(nil, "%02d:%02d-%02d:%02d", h.From/60, h.From%60, h.To/60, h.To%60), nil
}

// Hold reports whether t, in its own time zone, is in the hours.
func (h Hours) Hold(t time.Time) bool {
	m := t.Hour()*60 + t.Minute()
	if h.From <= h.To {
		return h.From <= m && m < h.To
	}
	return m >= h.From || m < h.To
}

// ConfigPath returns where the configuration is: config.json in
// $XDG_CONFIG_HOME/beckon, else in ~/.config/beckon; empty without a home.
func ConfigPath(getenv func(string) string) string { return home.Config(getenv, "config.json") }
