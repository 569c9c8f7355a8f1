package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/policies"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/notify"
	"beckon/render/term"
	"beckon/state/alert"
)

func (d *doctor) configuration() {
	for _, err := range cli.Each(d.CheckConfig()) {
		d.add(fail, "config", typed.HintOf(err), "%v", err)
	}
}

// stateDir checks that the state directory can be written to, and not by others.
func (d *doctor) stateDir() {
	dir := d.Store.Dir
	switch err := d.Store.Writable(); {
	case err != nil:
		d.add(fail, "state", cli.StateAdvice, "%v", err)
	case hook.Shared(dir):
		d.add(fail, "state", cli.StateAdvice, "%s is not yours alone: others can change what is in it", dir).
			repair = func() error { return os.Chmod(dir, 0o700) }
	default:
		d.add(ok, "state", "", "%s", dir)
	}
}

// files reports state files that could not be read, and a file system without locks.
func (d *doctor) files() {
	if err := d.Store.LockProblem(); err != nil {
		d.add(warn, "locks", "put BECKON_STATE_DIR on a local disk", "files in %s cannot be locked (%v): "+
			"two hooks of one session at the same moment may lose one event", d.Store.Dir, err)
	}
	if n := d.Store.Lost(time.Now().AddDate(0, 0, -7)); n > 0 {
		d.add(warn, "events", d.Store.LogFile()+" says why", "%s lost in the last week", term.Plural(n, "event"))
	}
	if files, err := d.Store.Aside(); err == nil && len(files) > 0 {
		d.add(warn, "files", "beckon doctor --repair removes what was set aside",
			"%s could not be read, and the session began anew: %s", term.Plural(len(files), "state file"),
			filepath.Dir(files[0])).repair = d.Store.ClearAside
	}
}

// notifications checks that the chosen channels can reach the user.
func (d *doctor) notifications() {
	cfg := d.Configured()
	set, before := cfg.Alert, len(d.findings)
	if len(set.Channels) == 0 {
		return
	}
	if set.Has(alert.Desktop) {
		err := notify.HasDesktop(context.Background())
		if errors.Is(err, notify.ErrNoDesktop) { // as over SSH, while the agents run on the desktop
			d.add(warn, "notify", "run doctor in the desktop's session",
				"the channel desktop cannot be checked from here: %v", err)
		} else if err != nil {
			d.add(fail, "notify", "start the desktop's notification daemon, or take desktop out of notify",
				"the channel desktop: %v", err)
		}
	}
	if set.Has(alert.Terminal) {
		for _, socket := range d.tmuxSockets() {
			if kept := notify.KeptByTmux(socket); kept != nil {
				d.add(warn, "notify", typed.HintOf(kept), "the channel terminal, %s: %v", socket, kept)
			}
		}
	}
	if set.Has(alert.Command) && (len(set.Command) == 0 || !cli.Found(set.Command[0])) {
		d.add(fail, "notify", "name a program that is there in notify_command", "the command %q cannot be run",
			strings.Join(set.Command, " "))
	}
	if set.Has(alert.NoChannel) {
		d.add(warn, "notify", "let notify_command play it", "there is no channel %q any more", alert.NoChannel)
	}
	if set.Has(alert.Ntfy) {
		d.phone(notify.Phone{Reach: cfg.Reach})
	}
	if len(d.findings) == before {
		d.add(ok, "notify", "", "%s", strings.Join(set.Channels, ", "))
	}
}

// phone checks that the server of the channel ntfy can be reached.
func (d *doctor) phone(p notify.Phone) {
	if err := p.Check(context.Background()); err != nil {
		d.add(fail, "notify",
			"see that the server runs and lets this machine read ntfy_answers; beckon help notifications",
			"the channel ntfy: %v", err)
	} else if !p.Private() {
		d.add(warn, "notify", "use a server with https", "what the channel ntfy sends can be read on its way")
	}
}

// tmuxSockets lists the tmux servers of the sessions, and the one we are in.
func (d *doctor) tmuxSockets() (sockets []string) {
	if socket, _, ok := strings.Cut(d.Getenv("TMUX"), ","); ok {
		sockets = append(sockets, socket)
	}
	for _, v := range d.seen {
		if s := v.Session.Origin.Terminal.Tmux.Socket; s != "" && !slices.Contains(sockets, s) {
			sockets = append(sockets, s)
		}
	}
	return sockets
}

// policies reports problems with the policy files.
func (d *doctor) policies() {
	s, err := policies.Sources(d.App)
	if err != nil {
		d.add(warn, "policy", "", "%v", err)
		return
	}
	for _, f := range policy.Load(s).Files {
		notice := render.OneLine(f.Notice())
		switch {
		case notice == "":
			d.add(ok, "policy", "", "%s: %s in force", f.Path, term.Plural(len(f.Hooks), "hook"))
		case f.Status == policy.Untrusted || f.Status == policy.Changed:
			d.add(warn, "policy", "beckon policy trust", "%s", notice)
		case f.Status == policy.Vanished || errors.Is(f.Err, trust.ErrEmpty):
			d.add(fail, "policy", "put it back; if it is to say nothing, write {} into it", "%s", notice)
		case f.Level == config.Project: // another version of beckon trusted it
			d.add(fail, "policy", "put it right, then: beckon policy trust", "%s", notice)
		default:
			d.add(fail, "policy", "put it right: beckon policy check says where the mistake is", "%s", notice)
		}
	}
	if s.Global != "" && hook.Shared(s.Global) {
		d.add(fail, "policy", "chmod 600 "+s.Global,
			"others may write to %s, and so choose what runs as you", s.Global).
			repair = func() error { return os.Chmod(s.Global, 0o600) }
	}
}

// fleet checks that the hub of this machine's fleet lets it in, and that its sessions
// are published.
func (d *doctor) fleet() {
	acc, linked, err := fleets.Try(d.App)
	switch {
	case err != nil && acc.URL == "":
		d.add(fail, "fleet", "beckon fleet link --join TOKEN writes the file again", "%v", err)
	case acc.URL == "":
	case err != nil:
		d.add(fail, "fleet", "if the hub runs, its access may be revoked: beckon fleet link --join TOKEN joins again",
			"the hub does not let this machine in: %s", render.OneLine(err.Error()))
	case acc.Host != "" && !linked:
		d.add(warn, "fleet", "beckon fleet link --service keeps one running",
			"%s is reached, and no beckon fleet link publishes this machine's sessions", acc.URL)
	default:
		d.add(ok, "fleet", "", "%s is reached", acc.URL)
	}
}
