package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// PluginCmd is `beckon plugin`.
type PluginCmd struct {
	Dir string `arg:"" type:"path" help:"Directory to make, as a release has it."`
}

// Run writes the plugin's files.
func (c *PluginCmd) Run(a *cli.App) error {
	files, err := installer.Plugin{Dir: c.Dir, Version: cli.Version()}.Edits()
	if err != nil {
		return err
	}
	if _, err := installer.ApplyAll(context.Background(), files); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(c.Dir, "hooks", "beckon-hook"), 0o755); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "made a plugin in %s\n", c.Dir)
	for _, words := range [][]string{{"marketplace", "add", c.Dir}, {"install", "beckon@beckon"}} {
		fmt.Fprintf(a.Stdout, "  %s\n", installer.CommandLine(append([]string{"claude", "plugin"}, words...)...))
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
