package doctor

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event/osc"
	"beckon/render/notify"
	"beckon/render/notify/reach"
	"beckon/state/alert"
)

// notifications checks that the chosen channels can reach the user.
func (d *doctor) notifications() {
	cfg := d.Configured()
	if len(cfg.Alert.Channels) == 0 {
		return
	}
	set, before := cfg.Alert, len(d.findings)
	d.desktop(set)
	d.passthrough(set)
	if set.Has(alert.Command) {
		d.needs(len(set.Command) > 0 && cli.Found(set.Command[0]), "name a program that is there in notify_command",
			"the command %q cannot be run", strings.Join(set.Command, " "))
	}
	if set.Has(alert.Sound) {
		_, err := os.Stat(set.Sound)
		d.needs(err == nil, "name a file that is there in notify_sound", "the sound %q cannot be read", set.Sound)
	}
	if set.Has(alert.Ntfy) {
		d.phone(cfg.Reach)
	}
	if len(d.findings) == before {
		d.add(resultOK, "notify", "", "%s", strings.Join(set.Channels, ", "))
	}
}

// phone checks that the server of the channel ntfy can be reached.
func (d *doctor) phone(reach reach.Settings) {
	const advice = "beckon help notifications describes the channel ntfy"
	p := notify.Phone{Settings: reach}
	if err := reach.Ntfy.Check(); err != nil {
		d.needs(false, advice, "the channel ntfy: %v", err)
		return
	}
	if err := p.Reach(context.Background()); err != nil {
		d.needs(false, "see that the server runs and lets this machine read ntfy_answers; "+advice, "the channel ntfy: %v",
			err)
	}
	if !reach.Ntfy.Private() {
		d.add(resultWarning, "notify", "use a server with https", "what the channel ntfy sends can be read on its way")
	}
}

func (d *doctor) needs(ok bool, advice, format string, args ...any) {
	if !ok {
		d.add(resultError, "notify", advice, format, args...)
	}
}

func (d *doctor) desktop(set alert.Settings) {
	if !set.Has(alert.Desktop) || runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return
	}
	err := notify.HasDesktop(context.Background())
	if errors.Is(err, notify.ErrNoDesktop) { // as over SSH, while the agents run on the desktop
		d.add(resultWarning, "notify", "run doctor in the desktop's session",
			"the channel desktop cannot be checked from here: %v", err)
		return
	}
	d.needs(err == nil, "start the desktop's notification daemon, or take desktop out of notify",
		"the channel desktop: %v", err)
}

// passthrough checks that tmux forwards a client's sequences to the outer terminal.
func (d *doctor) passthrough(set alert.Settings) {
	if !set.Has(alert.Terminal) || set.Style == osc.Bell { // tmux handles a bell itself
		return
	}
	for _, socket := range d.tmuxSockets() {
		if kept := notify.KeptByTmux(socket); kept != nil {
			d.add(resultWarning, "notify", kept.Hint(), "the channel terminal, %s: %v", socket, kept)
		}
	}
}

// tmuxSockets lists the tmux servers of the sessions, and the one we are in.
func (d *doctor) tmuxSockets() (sockets []string) {
	if socket, _, ok := strings.Cut(d.Getenv("TMUX"), ","); ok {
		sockets = append(sockets, socket)
	}
	snap, _ := d.Reader().Look(false)
	for _, v := range snap.Seen {
		if s := v.Session.Origin.Terminal.Tmux.Socket; s != "" && !slices.Contains(sockets, s) {
			sockets = append(sockets, s)
		}
	}
	return sockets
}
