package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/setup"
	"beckon/event/home"
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
			d.add(levelNote, "settings", "correct or remove it; a client before 2.1.331 may ignore all hooks of this file", "another tool's hook in %s: %s", f.Path, note)
		}
		switch {
		case f.Err != nil:
			d.add(levelFault, "settings", render.HintOf(f.Err), "%v", f.Err)
		case len(f.Entries) > 0:
			installed++
			d.add(levelOK, "hooks", "", "%d entries in %s", len(f.Entries), f.Path)
			if f.Plugin == "" {
				d.statusLine(f)
			}
		case f.Recorded:
			d.add(levelFault, "hooks", "beckon install puts them back", "removed later: %s had beckon's hooks, something took them out", f.Path)
			installed++
		}
	}
	if installed == 0 && setup.AnyAgent(d.App) {
		d.add(levelNote, "hooks", "beckon install", "Claude Code has none")
		return
	}
	if installed == 0 {
		d.add(levelFault, "hooks", "beckon setup", "never installed")
		return
	}
	if r.Answers() {
		d.answers(r)
	}
	if r.Disabled != "" {
		d.add(levelFault, "hooks", "take disableAllHooks out of it", "disabled: disableAllHooks is set in %s", r.Disabled)
	}
	if r.ManagedOnly != "" {
		d.add(levelFault, "hooks", "ask whoever manages this machine", "disabled: %s allows managed hooks only", r.ManagedOnly)
	}
	if lack := setup.UnknownClient(d.App); lack != "" {
		d.add(levelNote, "hooks", "", "%s", lack)
	}
	if len(r.Missing) > 0 && r.Installed() {
		d.add(levelFault, "hooks", "beckon install again", "not registered: %s", strings.Join(r.Missing, ", "))
	}
	if len(r.Unknown) > 0 {
		d.add(levelFault, "hooks", "beckon install again", "the client does not know %s and warns at start", strings.Join(r.Unknown, ", "))
	}
	d.duplicates(r)
}

// answers reports whether requests are held for answers, and what is missing for it.
func (d *doctor) answers(r installer.Report) {
	for _, p := range r.Programs {
		judge := filepath.Join(filepath.Dir(p.Path), home.Program("beckon-judge"))
		if _, err := os.Stat(judge); p.Exists && strings.HasPrefix(filepath.Base(p.Path), "beckon-hook") && err != nil {
			d.add(levelFault, "answers", "install beckon-judge beside beckon-hook", "what sessions ask cannot be answered from elsewhere: there is no %s", judge)
			return
		}
	}
	d.add(levelOK, "answers", "", "what sessions ask can be answered from elsewhere (beckon answer)")
}

func (d *doctor) statusLine(f installer.File) {
	switch {
	case f.Status == nil:
		d.add(levelNote, "status line", "", "not beckon's: beckon install --statusline names the other sessions in it, and gives the lists context and cost")
	case f.Status.Wraps:
		d.add(levelOK, "status line", "", "beckon's: runs the one that was there, and adds a line")
	default:
		d.add(levelOK, "status line", "", "beckon's")
	}
}

// programs checks the files that the entries name.
func (d *doctor) programs(r installer.Report) {
	for _, p := range r.Programs {
		switch {
		case !p.Absolute:
			d.add(levelFault, "program", "beckon install again", "wrong path: %q is not absolute", p.Path)
		case !p.Exists:
			d.add(levelFault, "program", "beckon install again, or go install ./cmd/beckon ./cmd/beckon-hook ./cmd/beckon-judge ./cmd/beckon-line", "wrong path: %s is not there, and every tool call prints an error", p.Path)
		case !p.Executable:
			d.add(levelFault, "program", "chmod +x "+p.Path, "wrong path: %s cannot be executed", p.Path)
		default:
			d.add(levelOK, "program", "", "%s", strings.TrimSpace(p.Path+" "+p.Version))
		}
	}
}
