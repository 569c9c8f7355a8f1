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

// inspect reads the settings of all scopes, and the plugins with our hooks.
func (d *doctor) inspect(client installer.Client) installer.Report {
	v := client.Version
	in := installer.Inspection{Client: v, Events: installer.Events(v, installer.CoreEvents), Targets: setup.AllSettings(d.App), Plugins: client.PluginDirs(context.Background())}
	for _, path := range installer.ManagedFiles(runtime.GOOS) {
		in.Targets = append(in.Targets, installer.Target{Scope: installer.Managed, Path: path})
	}
	r := installer.Inspect(in)
	r.Files = slices.DeleteFunc(r.Files, func(f installer.File) bool { return f.Plugin != "" && len(f.Entries) == 0 })
	return r
}

// entries distinguishes: never installed, removed later, disabled, incomplete.
func (d *doctor) entries(r installer.Report) {
	installed := 0
	for _, f := range r.Files {
		for _, note := range f.Notes {
			d.add(resultWarning, "settings", "correct or remove it; a client before 2.1.331 may ignore all hooks of this file", "another tool's hook in %s: %s", f.Path, note)
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
			d.add(resultError, "hooks", "beckon doctor --repair", "removed later: %s had beckon's hooks, something took them out", f.Path)
			d.repairs(d.install)
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
		d.answers(r)
	}
	if r.Disabled != "" {
		d.add(resultOff, "hooks", "take disableAllHooks out of it", "switched off: disableAllHooks is set in %s", r.Disabled)
	}
	if r.ManagedOnly != "" {
		d.add(resultOff, "hooks", "ask whoever manages this machine", "switched off: %s allows managed hooks only", r.ManagedOnly)
	}
	if lack := setup.UnknownClient(d.App); lack != "" {
		d.add(resultWarning, "hooks", "", "%s", lack)
	}
	if len(r.Missing) > 0 && r.Installed() {
		d.add(resultError, "hooks", "beckon doctor --repair", "not registered: %s", strings.Join(r.Missing, ", "))
		d.repairs(d.install)
	}
	if len(r.Unknown) > 0 {
		d.add(resultError, "hooks", "beckon doctor --repair", "the client does not know %s and warns at start", strings.Join(r.Unknown, ", "))
		d.repairs(d.install)
	}
	d.duplicates(r)
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
	return (&setup.InstallCmd{Agent: []string{event.ClaudeCode}, Scope: string(installer.User), Events: string(installer.CoreEvents)}).Run(d.App)
}

// answers reports whether requests are held for answers, and what is missing for it.
func (d *doctor) answers(r installer.Report) {
	d.add(resultOK, "answers", "", "what sessions ask can be answered from elsewhere (beckon answer)")
}

func (d *doctor) statusLine(f installer.File) {
	switch {
	case f.Status == nil:
		d.add(resultOff, "status line", "beckon setup statusline", "not beckon's, which names the other sessions that need you")
	case f.Status.Wraps:
		d.add(resultOK, "status line", "", "beckon's: runs the one that was there, and adds a line")
	default:
		d.add(resultOK, "status line", "", "beckon's")
	}
}

// programs checks the files that the entries name.
func (d *doctor) programs(r installer.Report) {
	for _, p := range r.Programs {
		switch {
		case !p.Absolute:
			d.add(resultError, "program", "beckon install again", "wrong path: %q is not absolute", p.Path)
		case !p.Exists:
			d.add(resultError, "program", "beckon install again, or go install ./cmd/beckon ./cmd/beckon-hook", "wrong path: %s is not there, and every tool call prints an error", p.Path)
		case !p.Executable:
			d.add(resultError, "program", "chmod +x "+p.Path, "wrong path: %s cannot be executed", p.Path)
			d.repairs(func() error { return os.Chmod(p.Path, 0o755) })
		default:
			d.add(resultOK, "program", "", "%s", strings.TrimSpace(p.Path+" "+p.Version))
		}
	}
}
