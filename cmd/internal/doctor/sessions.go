package doctor

import (
	"cmp"
	"errors"
	"os"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state"
)

// silence looks for live sessions that began after the install but sent no hook: the client
// has the hooks and does not run them.
func (d *doctor) silence() {
	seen, _, err := d.Look(false)
	if err != nil {
		d.add(resultError, "sessions", "", "%v", err)
		return
	}
	d.newer()
	since := installedAt(d.report)
	heard, before, silent := 0, 0, 0
	for _, v := range seen {
		switch {
		case v.Session.Seq > 0:
			heard++
		case v.Session.Created < since:
			before++
		default:
			silent++
		}
	}
	if before > 0 {
		d.add(resultWarning, "sessions", "they are heard when they do something; restart those that stay silent",
			"%s began before the install, and no hook was heard yet", term.Plural(before, "live session"))
	}
	if silent > 0 {
		d.add(
			resultError,
			"sessions",
			"in the client, /hooks shows what it will run; a folder that is not trusted runs none",
			"present but silent: %s began after the install, and no hook was ever heard",
			term.Plural(silent, "live session"),
		)
	}
	if heard > 0 || silent == 0 {
		d.add(resultOK, "sessions", "", "%s heard", term.Plural(heard, "live session"))
	}
}

// newer reports sessions that a newer beckon wrote: this version leaves them alone, and its
// hooks add nothing to them.
func (d *doctor) newer() {
	n := 0
	for _, p := range d.Unread {
		if errors.Is(p.Err, state.ErrNewerSchema) {
			n++
		}
	}
	if n > 0 {
		d.add(resultError, "version", cli.UpdateAdvice, "%s of a newer beckon than this one (%s), left as they are",
			term.Plural(n, "live session"), cli.Version())
	}
}

// installedAt is when the newest settings file with our entries was written.
func installedAt(r installer.Report) event.Millis {
	var newest time.Time
	for _, f := range r.Files {
		if info, err := os.Stat(cmp.Or(f.Real, f.Path)); err == nil && len(f.Entries) > 0 &&
			info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return event.MillisOf(newest)
}
