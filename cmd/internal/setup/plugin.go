package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// PluginCmd is `beckon plugin`.
type PluginCmd struct {
	Dir    string `arg:"" type:"path" help:"Directory to make; the client loads ~/.claude/skills/beckon by itself."`
	Events string `enum:"core,all" default:"core" help:"Which events: core, which the states need, or all."`
	Hook   string `help:"The beckon-hook program to run (default: the one beside this program)." placeholder:"PATH"`
	Mod    bool   `help:"Add the mod: it runs inside the client, reports what no hook does, and shows above the prompt who else needs you."`
	Force  bool   `help:"Overwrite files that are not beckon's."`
}

// Run writes the plugin's files.
func (c *PluginCmd) Run(a *cli.App) error {
	m := machine{App: a, client: installer.FindClient(context.Background(), a.ClaudeDir())}
	if m.findPrograms(c.Hook); m.problem != nil {
		return m.problem
	}
	p := installer.Plugin{Dir: c.Dir, Version: cli.Version(), Force: c.Force,
		Spec: m.spec(installer.Set(c.Events), installer.File{})}
	if c.Mod {
		var err error
		if p.Beckon, err = m.modProgram(); err != nil {
			return err
		}
	}
	files, err := p.Edits()
	if err != nil {
		return err
	}
	done, err := installer.ApplyAll(context.Background(), files)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(done, func(f installer.Change) bool { return !f.Noop() }) {
		fmt.Fprintf(a.Stdout, "the plugin in %s is up to date\n", c.Dir)
		return nil
	}
	what := fmt.Sprintf("%d hooks", len(p.Spec.Events))
	if c.Mod {
		what += " and a mod"
	}
	fmt.Fprintf(a.Stdout, "made a plugin with %s in %s (client %s)\n", what, c.Dir, m.client.Version)
	row := func(what string, words ...string) {
		fmt.Fprintf(a.Stdout, "  %-20s %s\n", what, installer.CommandLine(words...))
	}
	if filepath.Dir(c.Dir) == filepath.Join(a.ClaudeDir(), "skills") {
		fmt.Fprintln(a.Stdout, "  sessions that begin from now on load it from there")
		row("to remove it", "rm", "-r", c.Dir)
	} else {
		id := installer.PluginName + "@" + installer.PluginName
		row("for one session", "claude", "--plugin-dir", c.Dir)
		row("for good", "claude", "plugin", "marketplace", "add", c.Dir)
		row("", "claude", "plugin", "install", id)
		row("to remove it", "claude", "plugin", "uninstall", id)
		row("", "claude", "plugin", "marketplace", "remove", installer.PluginName)
	}
	for _, t := range AllSettings(a) {
		if hooked(t) {
			fmt.Fprintf(a.Stdout, "  %s has the hooks as well, and each event would be paid for twice: "+
				"beckon setup --undo hooks --scope %s\n", t.Path, t.Scope)
		}
	}
	return nil
}

// modProgram returns the program that a mod runs, for a client that runs mods.
func (m *machine) modProgram() (string, error) {
	v := m.client.Version
	switch {
	case !v.Known():
		return "", cli.Hint("put claude on your PATH",
			"a mod runs inside Claude Code, and there is no client to ask for its version")
	case !v.RunsMods():
		return "", cli.Hint("update Claude Code", "Claude Code %s runs no mods: that begins with %s", v, installer.ModSince)
	}
	return lasting(m.App, m.beckon)
}

// ModPlugin returns the plugin that setup puts its mod into; the hooks are in the settings.
func ModPlugin(a *cli.App) installer.Plugin {
	dir := filepath.Join(a.ClaudeDir(), "skills", installer.PluginName)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return installer.Plugin{Dir: dir, Version: cli.Version()}
}

// modStep puts the mod where sessions load it from.
func (m *machine) modStep(spec installer.Spec) step {
	p := ModPlugin(m.App)
	p.Spec = spec
	s := step{Name: "mod", Title: "report Esc, and show others, inside the client", On: p.HasMod(), Needs: "hooks",
		Then: "sessions that begin from now on load it; beckon help mod"}
	program, err := m.modProgram()
	if err == nil {
		err = m.InAgent("choosing the mod")
	}
	if err != nil && !s.On {
		s.Absent = err.Error()
	}
	p.Beckon = program
	s.edits(m.App, func(on bool) ([]installer.FileEdit, error) {
		if on && err != nil {
			return nil, err
		}
		return p.ModEdits(keepDir(m.App), on)
	}, func(on bool) error {
		if on {
			return nil
		}
		return p.RemoveEmpty(keepDir(m.App))
	})
	return s
}
