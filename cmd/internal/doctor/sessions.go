package doctor

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state"
)

// silence looks for live sessions that began after the install but sent no hook: the client
// has the hooks and does not run them.
func (d *doctor) silence() {
	if d.unseen != nil {
		d.add(fail, "sessions", "", "%v", d.unseen)
		return
	}
	newer := 0 // this version leaves them alone, and its hooks add nothing to them
	for _, p := range d.Unread {
		if errors.Is(p.Err, state.ErrNewerSchema) {
			newer++
		}
	}
	if newer > 0 {
		d.add(fail, "version", cli.UpdateAdvice, "%s of a newer beckon than this one (%s), left as they are",
			term.Plural(newer, "live session"), cli.Version())
	}
	var since event.Millis // the newest settings with our entries
	for _, f := range d.entered() {
		since = max(since, written(cmp.Or(f.Real, f.Path)))
	}
	heard, before, silent := d.heard(since, func(s *state.Session) bool { return s.Seq > 0 })
	if before > 0 {
		d.add(warn, "sessions", "they are heard when they do something; restart those that stay silent",
			"%s began before the install, and no hook was heard yet", term.Plural(before, "live session"))
	}
	if silent > 0 {
		d.add(fail, "sessions", "in the client, /hooks shows what it will run; a folder that is not trusted runs none",
			"present but silent: %s began after the install, and no hook was ever heard", term.Plural(silent, "live session"))
	}
	if heard > 0 || silent == 0 {
		d.add(ok, "sessions", "", "%s heard", term.Plural(heard, "live session"))
	}
}

// heard counts the live sessions that have something, of the others those that began before a moment, and
// the rest.
func (d *doctor) heard(since event.Millis, has func(*state.Session) bool) (with, before, silent int) {
	for _, v := range d.seen {
		switch {
		case has(&v.Session):
			with++
		case cmp.Or(v.Session.Start.At, v.Session.Created) < since:
			before++
		default:
			silent++
		}
	}
	return with, before, silent
}

// written returns when a file was written, zero if there is none.
func written(path string) event.Millis {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return event.MillisOf(info.ModTime())
}

// mod reports whether the mod is in the sessions, or why it is not.
func (d *doctor) mod() {
	dir := setup.Mod(d.App).Dir
	for _, other := range d.plugins {
		if installer.IsMod(other) {
			dir = other
		}
	}
	with, before, silent := d.heard(written(filepath.Join(dir, "hooks", "register.js")),
		func(s *state.Session) bool { return s.Mod() != "" })
	switch {
	case !d.client.Version.RunsMods():
		d.add(off, "mod", "", "mods begin with Claude Code %s", installer.ModSince)
	case !installer.IsMod(dir):
		d.add(off, "mod", "beckon setup mod", "not installed, which shows Esc and refusals at once")
	case !slices.Contains(d.plugins, dir):
		d.add(off, "mod", "claude plugin enable beckon@skills-dir", "its plugin is switched off")
	case silent > 0:
		d.add(warn, "mod", "claude plugin validate "+dir+" or claude --debug says why a mod is not loaded",
			"%s began after the install, and the mod was never heard", term.Plural(silent, "live session"))
	case before > 0:
		d.add(warn, "mod", "restart them", "%s began before the mod was there", term.Plural(before, "live session"))
	default:
		d.add(ok, "mod", "", "%s heard", term.Plural(with, "live session"))
	}
}
