// Package alert holds what the hook and the slow program share about notifying the user: the settings, the
// words, and the decision with the facts it needs. It reads the configuration key by key, and is not
// strict; package config is, and a test ensures that both read the same values.
package alert

import (
	"errors"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/typed"
	"beckon/state"
)

// The channels.
const (
	Terminal = "terminal" // an escape sequence through the agent's own terminal
	Desktop  = "desktop"  // a notification of the desktop
	Command  = "command"  // the user's program
	Ntfy     = "ntfy"     // a phone, by a server
	Title    = "title"    // the window's title shows the state
	Pane     = "pane"     // so does @beckon_state, an option of tmux's pane and window
	Progress = "progress" // and the terminal's sign of progress, OSC 9;4
)

// Channels lists the channels that a user can choose.
var Channels = []string{Terminal, Desktop, Command, Title, Pane, Progress, Ntfy}

// NoChannel is a channel of earlier versions: it is accepted, and does nothing.
const NoChannel = "sound"

// Settings are the user's choices, from the configuration.
type Settings struct {
	state.Rules               // notify_on and notify_done_after
	Channels    []string      // notify: none until the user chooses some
	Quiet       Hours         // notify_quiet_hours
	Command     []string      // notify_command: the program, with its arguments
	Again       time.Duration // notify_again: how long a dialog is open when the user is notified once more
	Wait        time.Duration // answer_wait: how long what a session asks can be answered from elsewhere
}

// Defaults returns the settings in force without a configuration.
func Defaults() Settings {
	rules := state.Rules{On: state.AlertKinds[:], DoneAfter: 30 * time.Second}
	return Settings{Rules: rules, Again: 15 * time.Minute, Wait: 12 * time.Hour}
}

// Has reports whether the channel is chosen.
func (s Settings) Has(channel string) bool { return slices.Contains(s.Channels, channel) }

// Away reports whether a chosen channel needs a process of its own.
func (s Settings) Away() bool { return s.Has(Desktop) || s.Has(Command) || s.Has(Ntfy) }

// Shows reports whether a pane shows the state of its session: herdr is told without being asked.
func (s Settings) Shows(t event.Terminal) bool {
	return t.Kind == "herdr" || s.Has(Progress) || s.Has(Pane) && t.Tmux.Pane != ""
}

// Read reads the settings from the configuration at path.
func Read(path string) (Settings, error) {
	s := Defaults()
	v, err := home.Values(path, "notify", "notify_on", "notify_done_after", "notify_quiet_hours", "notify_command",
		"notify_again", "answer_wait")
	if err != nil {
		return s, err
	}
	if err = span(&s.Wait, v[6].String()); !v[0].Exists() {
		return s, err
	}
	texts := func(i int) (out []string) {
		for _, x := range v[i].Array() {
			out = append(out, x.String())
		}
		return out
	}
	s.Channels, s.Command, s.Quiet = texts(0), texts(4), Hours(v[3].String())
	if v[1].Exists() {
		s.On = nil
		for _, k := range texts(1) {
			s.On = append(s.On, state.AlertKind(k))
		}
	}
	return s, errors.Join(err, span(&s.DoneAfter, v[2].String()), span(&s.Again, v[5].String()),
		CheckHours(string(s.Quiet)))
}

func span(to *time.Duration, text string) error {
	if text == "" {
		return nil
	}
	d, err := typed.Duration(text)
	if err == nil {
		*to = d
	}
	return err
}

// Hours is a part of every day, as "22:00-07:30": the end may be earlier than the beginning. An empty
// text means no hours.
type Hours string

// CheckHours returns what is wrong with a text of Hours.
func CheckHours(s string) error {
	if _, _, ok := Hours(s).minutes(); s != "" && !ok {
		return errors.New("no hours of the day")
	}
	return nil
}

// minutes returns the beginning and the end in minutes since midnight.
func (h Hours) minutes() (from, to int, ok bool) {
	begin, end, _ := strings.Cut(string(h), "-")
	a, errBegin := time.Parse("15:04", strings.TrimSpace(begin))
	b, errEnd := time.Parse("15:04", strings.TrimSpace(end))
	if to = b.Hour()*60 + b.Minute(); strings.TrimSpace(end) == "24:00" {
		to, errEnd = 24*60, nil
	}
	return a.Hour()*60 + a.Minute(), to, errBegin == nil && errEnd == nil
}

// Contain reports whether t, in its own time zone, is within the hours. If they end when they begin,
// it never is.
func (h Hours) Contain(t time.Time) bool {
	from, to, ok := h.minutes()
	m := t.Hour()*60 + t.Minute()
	if from <= to {
		return ok && from <= m && m < to
	}
	return ok && (m >= from || m < to)
}

// ConfigPath returns the path of the configuration: config.json in $XDG_CONFIG_HOME/beckon,
// else in ~/.config/beckon; empty without a home.
func ConfigPath(getenv func(string) string) string { return home.Config(getenv, "config.json") }
