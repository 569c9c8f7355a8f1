package setup

import (
	"fmt"
	"path/filepath"

	"beckon/cmd/internal/cli"
	"beckon/installer"
)

// modProgram returns the program that a mod runs, for a client that runs mods.
func modProgram(a *cli.App, hook string, client installer.Client) (string, error) {
	if !client.Version.Known() {
		return "", cli.Hint("put claude on your PATH",
			"a mod runs inside Claude Code, and there is no client to ask for its version")
	}
	if !client.Version.RunsMods() {
		return "", cli.Hint("update Claude Code", "Claude Code %s runs no mods: that begins with %s", client.Version,
			installer.ModSince)
	}
	return beside(a, hook, "beckon")
}

// ModPlugin returns the plugin that install puts its mod into; the hooks are in the settings.
func ModPlugin(a *cli.App) installer.Plugin {
	dir := filepath.Join(a.ClaudeDir(), "skills", installer.PluginName)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return installer.Plugin{Dir: dir, Version: cli.Version()}
}

// putMod installs the mod where sessions load it from.
func putMod(a *cli.App, spec installer.Spec, client installer.Client) error {
	p := ModPlugin(a)
	var err error
	if p.Beckon, err = modProgram(a, spec.Command, client); err != nil {
		return err
	}
	p.Spec = spec
	changed, err := p.PutMod(keepDir(a))
	if changed {
		fmt.Fprintf(a.Stdout, "put a mod into %s: sessions that begin from now on load it\n", p.Dir)
	}
	return err
}

// modDiff returns what putMod or takeMod would change, as a unified diff.
func modDiff(a *cli.App, spec installer.Spec, client installer.Client, on bool) (text string, err error) {
	p := ModPlugin(a)
	if !on {
		return "removed: " + p.Dir + "\n", nil
	}
	if p.Beckon, err = modProgram(a, spec.Command, client); err != nil {
		return "", err
	}
	p.Spec = spec
	files, err := p.PlanMod(keepDir(a))
	for _, f := range files {
		text += f.Diff()
	}
	return text, err
}

// takeMod removes the mod.
func takeMod(a *cli.App) error {
	p := ModPlugin(a)
	was, err := p.TakeMod(keepDir(a))
	if was && err == nil {
		fmt.Fprintf(a.Stdout, "took the mod out of %s\n", p.Dir)
	}
	return err
}
