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
	program, err := HookProgram(a, c.Hook)
	if err != nil {
		return err
	}
	client := installer.FindClient(context.Background(), a.ClaudeDir())
	p := installer.Plugin{Dir: c.Dir, Version: cli.Version(), Force: c.Force,
		Spec: specFor(program, client, installer.Set(c.Events))}
	if c.Mod {
		if p.Beckon, err = modProgram(a, program, client); err != nil {
			return err
		}
	}
	files, err := p.Plan()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f installer.Change) bool { return !f.Noop() }) {
		fmt.Fprintf(a.Stdout, "the plugin in %s is up to date\n", c.Dir)
		return nil
	}
	if err := p.Write(files); err != nil {
		return err
	}
	what := fmt.Sprintf("%d hooks", len(p.Spec.Events))
	if c.Mod {
		what += " and a mod"
	}
	fmt.Fprintf(a.Stdout, "made a plugin with %s in %s (client %s)\n", what, c.Dir, client.Version)
	pluginSteps(a, c.Dir)
	alsoInstalled(a)
	return nil
}

// pluginSteps prints what to do with a plugin's directory.
func pluginSteps(a *cli.App, dir string) {
	step := func(what string, words ...string) {
		fmt.Fprintf(a.Stdout, "  %-20s %s\n", what, installer.CommandLine(words...))
	}
	if filepath.Dir(dir) == filepath.Join(a.ClaudeDir(), "skills") {
		fmt.Fprintln(a.Stdout, "  sessions that begin from now on load it from there")
		step("to remove it", "rm", "-r", dir)
		return
	}
	id := installer.PluginName + "@" + installer.PluginName
	step("for one session", "claude", "--plugin-dir", dir)
	step("for good", "claude", "plugin", "marketplace", "add", dir)
	step("", "claude", "plugin", "install", id)
	step("to remove it", "claude", "plugin", "uninstall", id)
	step("", "claude", "plugin", "marketplace", "remove", installer.PluginName)
}

// alsoInstalled warns if the settings have the hooks as well.
func alsoInstalled(a *cli.App) {
	for _, t := range AllSettings(a) {
		if installer.Inspect(installer.Inspection{Targets: []installer.Target{t}}).Installed() {
			fmt.Fprintf(a.Stdout, "  %s has the hooks as well, and each event would be paid for twice: beckon uninstall --scope %s\n", t.Path, t.Scope)
		}
	}
}
