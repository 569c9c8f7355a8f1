package doctor

import (
	"slices"
	"strings"

	"beckon/cmd/internal/setup"
	"beckon/installer"
	"beckon/render/term"
	"beckon/state"
)

// duplicates reports events for which the client runs the hook more than once. Each is still
// folded once when the copies have different origins.
func (d *doctor) duplicates() {
	plugins, settings := split(d.report)
	if len(plugins) > 0 && len(settings) > 0 {
		d.add(
			resultWarning,
			"hooks",
			"keep one: beckon setup --undo hooks, or claude plugin uninstall "+installer.PluginName+"@"+installer.PluginName,
			"installed twice, as a plugin in %s and in %s: each event counts once and is paid for twice",
			plugins[0],
			settings[0],
		)
		return
	}
	for _, dup := range d.report.Duplicates {
		if dup.Runs > 1 {
			d.twice(slices.Compact(dup.Files))
			return
		}
	}
	d.sessionsTwice()
}

func (d *doctor) twice(files []string) {
	d.add(
		resultWarning,
		"hooks",
		"beckon setup --undo hooks takes one out, for a project's with --scope project or local",
		"installed more than once, in %s: each event counts once and is paid for each time",
		strings.Join(files, " and "),
	)
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

// sessionsTwice finds hooks that only some sessions have in addition to the user's: in the
// settings of their projects, and a plugin that one session was given (--plugin-dir), which the
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
		var in installer.Inspection
		for _, scope := range []installer.Scope{installer.User, installer.Project, installer.Local} {
			if t, err := setup.SettingsIn(d.App, scope, v.Session.Cwd); err == nil && v.Session.Cwd != "" {
				in.Targets = append(in.Targets, t)
			}
		}
		for _, dup := range installer.Inspect(in).Duplicates {
			if dup.Runs > 1 {
				d.twice(slices.Compact(dup.Files))
				return
			}
		}
	}
	if n > 0 {
		d.add(
			resultWarning,
			"hooks",
			"start them without --plugin-dir, or beckon setup --undo hooks",
			"every event comes twice, from a plugin and from the settings, in %s: each counts once and is paid for twice",
			term.Plural(n, "live session"),
		)
	}
}
