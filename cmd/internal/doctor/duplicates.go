package doctor

import (
	"slices"
	"strings"

	"beckon/installer"
	"beckon/render/term"
	"beckon/state"
)

// duplicates reports events for which the client runs the hook more than once. Each is still
// folded once when the copies have different origins.
func (d *doctor) duplicates(r installer.Report) {
	plugins, settings := split(r)
	if len(plugins) > 0 && len(settings) > 0 {
		d.add(resultWarning, "hooks", "keep one: beckon uninstall, or claude plugin uninstall "+installer.PluginName+"@"+installer.PluginName,
			"installed twice, as a plugin in %s and in %s: each event counts once and is paid for twice", plugins[0], settings[0])
		return
	}
	for _, dup := range r.Duplicates {
		if dup.Runs > 1 {
			d.add(resultWarning, "hooks", "one install is enough: beckon uninstall --scope ...", "%s runs %d times an event (%s)",
				dup.Event, dup.Runs, strings.Join(slices.Compact(dup.Files), ", "))
			return
		}
	}
	d.sessionsTwice()
}

// split lists the plugins and the settings files that have our hooks.
func split(r installer.Report) (plugins, settings []string) {
	for _, f := range r.Files {
		switch {
		case len(f.Entries) == 0:
		case f.Plugin != "":
			plugins = append(plugins, f.Plugin)
		default:
			settings = append(settings, f.Path)
		}
	}
	return plugins, settings
}

// sessionsTwice finds a plugin that only one session was given (--plugin-dir), which the
// client lists nowhere.
func (d *doctor) sessionsTwice() {
	snap, err := d.Reader().Look(false)
	if err != nil {
		return // silence reports it
	}
	n := 0
	for _, v := range snap.Seen {
		if slices.ContainsFunc(v.Session.Recent, func(r state.Recent) bool { return r.Paired }) {
			n++
		}
	}
	if n > 0 {
		d.add(resultWarning, "hooks", "start them without --plugin-dir, or beckon uninstall",
			"every event comes twice, from a plugin and from the settings, in %s: each counts once and is paid for twice", term.Plural(n, "live session"))
	}
}
