package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/installer"
	"beckon/render"
)

// claude reports which Claude Code is installed.
func (d *doctor) claude() {
	c := d.client
	switch {
	case c.Path == "":
		d.add(resultWarning, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(resultWarning, "client", "", "%s does not say its version", c.Path)
	case len(installer.UnknownTo(c.Version, []string{string(event.PermissionRequest)})) > 0:
		d.add(
			resultError,
			"client",
			"update Claude Code",
			"%s is version %s: too old to report permissions",
			c.Path,
			c.Version,
		)
	default:
		d.add(resultOK, "client", "", "%s, version %s", c.Path, c.Version)
	}
}

// inspect reads the settings of all scopes, and the plugins with our hooks.
func (d *doctor) inspect() installer.Report {
	v := d.client.Version
	in := installer.Inspection{
		Client:  v,
		Events:  installer.Events(v, installer.CoreEvents),
		Targets: setup.AllSettings(d.App),
		Plugins: d.client.PluginDirs(context.Background()),
	}
	for _, path := range installer.ManagedFiles(runtime.GOOS) {
		in.Targets = append(in.Targets, installer.Target{Scope: installer.Managed, Path: path})
	}
	r := installer.Inspect(in)
	r.Files = slices.DeleteFunc(r.Files, func(f installer.File) bool { return f.Plugin != "" && len(f.Entries) == 0 })
	return r
}

// entries distinguishes: never installed, removed later, disabled, incomplete.
func (d *doctor) entries() {
	r, installed := d.report, 0
	for _, f := range r.Files {
		for _, note := range f.Notes {
			d.add(resultWarning, "settings", "correct or remove it; a client before 2.1.331 may ignore all hooks of this file",
				"another tool's hook in %s: %s", f.Path, note)
		}
		switch {
		case f.Err != nil:
			d.add(resultError, "settings", render.HintOf(f.Err), "%v", f.Err)
		case len(f.Entries) > 0:
			installed++
			d.add(resultOK, "hooks", "", "%d entries in %s", len(f.Entries), f.Path)
			if f.Plugin == "" {
				d.statusLine(f)
			}
		case f.Recorded:
			d.add(resultError, "hooks", "beckon doctor --repair",
				"removed later: %s had beckon's hooks, something took them out", f.Path)
			d.newest().repair = d.install
			installed++
		}
	}
	if elsewhere := d.accounts(); installed == 0 && (elsewhere || setup.AnyAgent(d.App)) {
		d.add(resultOff, "hooks", "beckon setup hooks", "Claude Code has none")
		return
	}
	if installed == 0 {
		d.add(resultError, "hooks", "beckon setup", "never installed")
		return
	}
	if r.Answers() {
		d.add(resultOK, "answers", "", "what sessions ask can be answered from elsewhere (beckon answer)")
	}
	if r.Disabled != "" {
		d.add(resultOff, "hooks", "take disableAllHooks out of it", "switched off: disableAllHooks is set in %s", r.Disabled)
	}
	if r.ManagedOnly != "" {
		d.add(resultOff, "hooks", "ask whoever manages this machine", "switched off: %s allows managed hooks only",
			r.ManagedOnly)
	}
	if lack := setup.UnknownClient(d.App); lack != "" {
		d.add(resultWarning, "hooks", "", "%s", lack)
	}
	if len(r.Missing) > 0 && r.Installed() {
		d.add(resultError, "hooks", "beckon doctor --repair", "not registered: %s", strings.Join(r.Missing, ", "))
		d.newest().repair = d.install
	}
	if len(r.Unknown) > 0 {
		d.add(resultError, "hooks", "beckon doctor --repair", "the client does not know %s and warns at start",
			strings.Join(r.Unknown, ", "))
		d.newest().repair = d.install
	}
	d.duplicates()
}

// accounts checks Claude Code's other accounts, and reports whether any has the hooks.
func (d *doctor) accounts() (any bool) {
	others, _ := setup.Accounts(d.App)
	for _, t := range others {
		n := len(installer.Inspect(installer.Inspection{Targets: []installer.Target{t}}).Files[0].Entries)
		if n > 0 {
			any = true
			d.add(resultOK, "hooks", "", "%d entries in %s, another account", n, t.Path)
		} else {
			d.add(resultOff, "hooks", "beckon setup", "the account in %s has none", filepath.Dir(t.Path))
		}
	}
	return any
}

// install puts the hooks into the user's settings.
func (d *doctor) install() error {
	return (&setup.Cmd{Step: []string{"hooks"}, Scope: string(installer.User)}).Run(d.App)
}

func (d *doctor) statusLine(f installer.File) {
	switch {
	case f.Status == nil:
		d.add(resultOff, "status line", "beckon setup statusline",
			"not beckon's, which names the other sessions that need you")
	case f.Status.Wraps:
		d.add(resultOK, "status line", "", "beckon's: runs the one that was there, and adds a line")
	default:
		d.add(resultOK, "status line", "", "beckon's")
	}
}

// programs checks the files that the entries name.
func (d *doctor) programs() {
	for _, p := range d.report.Programs {
		switch {
		case !p.Absolute:
			d.add(resultError, "program", "beckon setup hooks", "wrong path: %q is not absolute", p.Path)
		case !p.Exists:
			d.add(resultError, "program", "beckon setup hooks, or go install ./cmd/beckon ./cmd/beckon-hook",
				"wrong path: %s is not there, and every tool call prints an error", p.Path)
		case !p.Executable:
			d.add(resultError, "program", "chmod +x "+p.Path, "wrong path: %s cannot be executed", p.Path)
			d.newest().repair = func() error { return os.Chmod(p.Path, 0o755) }
		default:
			d.add(resultOK, "program", "", "%s", strings.TrimSpace(p.Path+" "+p.Version))
		}
	}
}
