package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/setup/steps"
	"beckon/event"
	"beckon/event/agents"
	"beckon/installer"
)

// InstallCmd is `beckon install`.
type InstallCmd struct {
	Agent   []string `help:"Which agents: claude-code, codex, opencode, gemini, copilot, qwen, or all (default: claude-code; asks about the others)." placeholder:"NAME"`
	Scope   string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	Events  string   `enum:"core,all" default:"core" help:"Which events: core, which the states need, or all."`
	Hook    string   `help:"The beckon-hook program to run (default: the one beside this program)." placeholder:"PATH"`
	Notify  []string `enum:"terminal,desktop,command,sound,title,ntfy" help:"Channels that notify you when a session needs you: terminal, desktop, command, sound, title, ntfy." placeholder:"CHANNEL"`
	Status  bool     `name:"statusline" help:"Make beckon the status line, too; one that is there is kept and runs first."`
	Answers *bool    `negatable:"" help:"Answer from elsewhere what sessions ask (beckon help answers); without either form that stays as it is."`
	Mod     *bool    `negatable:"" help:"Install the mod, in ~/.claude/skills/beckon: it runs inside the client, reports what no hook does, and shows above the prompt who else needs you (beckon help mod); without either form that stays as it is."`
	DryRun  bool     `help:"Print what would change as a diff, and change nothing."`

	Complete string `hidden:"" placeholder:"VERSION" help:"Only add the events that a client of this version knows to installs that were made for an older one."`
}

// UninstallCmd is `beckon uninstall`.
type UninstallCmd struct {
	Agent  []string `help:"Which agents (default: all)." placeholder:"NAME"`
	Scope  string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
}

// Run edits the settings file.
func (c *InstallCmd) Run(a *cli.App) error {
	if err := stepDown(a); err != nil {
		return err
	}
	if c.Complete != "" {
		return completeInstall(a, c.Complete)
	}
	program, err := HookProgram(a, c.Hook)
	if err != nil {
		return err
	}
	others, claude, err := chosen(c.Agent, func() ([]*agents.Agent, bool, error) {
		list, err := ask(a, a.Attended() && !c.DryRun)
		return list, true, err
	})
	if err != nil {
		return err
	}
	switch {
	case claude:
		err = c.installClaude(a, program)
	case c.Status || c.Mod != nil:
		return cli.Usage("%w", cli.Hint("add --agent claude-code", "--statusline and --mod are for Claude Code"))
	default:
		err = chooseChannels(a, c.Notify, c.DryRun)
	}
	if err := errors.Join(err, c.installAgents(a, program, others)); err != nil {
		return err
	}
	if rest := lacking(a); len(c.Agent) == 0 && len(rest) > 0 && !c.DryRun {
		fmt.Fprintf(a.Stdout, "  without hooks: %s; beckon install --agent all\n", titles(rest))
	}
	return nil
}

// installClaude registers the hooks with Claude Code.
func (c *InstallCmd) installClaude(a *cli.App, program string) error {
	client := installer.FindClient(context.Background(), a.ClaudeDir())
	t, err := Settings(a, installer.Scope(c.Scope))
	if err != nil {
		return err
	}
	spec := specFor(program, client, installer.Set(c.Events))
	if c.Answers != nil {
		spec.Answers = *c.Answers
	} else {
		spec.Answers = installer.Inspect(installer.Inspection{Targets: []installer.Target{t}}).Answers()
	}
	if c.Status {
		if spec.StatusLine, err = statusProgram(a, program); err != nil {
			return err
		}
	}
	if c.Mod != nil && *c.Mod {
		if _, err := modProgram(a, program, client); err != nil {
			return err
		}
	}
	change, err := edit(a, t, installer.Install(spec), c.DryRun)
	if err == nil && c.DryRun && c.Mod != nil {
		var text string
		text, err = modDiff(a, spec, client, *c.Mod)
		fmt.Fprint(a.Stdout, text)
	}
	if err == nil {
		err = chooseChannels(a, c.Notify, c.DryRun)
	}
	if err != nil || c.DryRun {
		return err
	}
	if err := errors.Join(noteChosenFor(a), c.mod(a, spec, client)); err != nil {
		return err
	}
	for _, note := range change.Notes {
		fmt.Fprintf(a.Stderr, "note: in %s, %s (it is not beckon's, and stays)\n", change.File, note)
	}
	if change.Noop() {
		fmt.Fprintf(a.Stdout, "hooks are installed already in %s\n", change.File)
		pointToSetup(a)
		return nil
	}
	fmt.Fprintf(a.Stdout, "installed %d hooks in %s (client %s)\n", len(spec.Events), change.File, client.Version)
	if !client.Version.Known() {
		fmt.Fprintln(a.Stdout, "  no client was found to ask for its version: only the events that every client knows are registered; the first session of one adds the others, among them what reports API errors")
	}
	if c.Status {
		fmt.Fprintln(a.Stdout, "  the status line names the other sessions that need you")
	}
	fmt.Fprintln(a.Stdout, "  sessions that run already load the hooks within seconds; until then beckon lists them from the client's registry")
	pointToSetup(a)
	return nil
}

// pointToSetup names what else setup proposes on this machine, except other agents, which
// install names itself.
func pointToSetup(a *cli.App) {
	names := stepsThat(a, func(s steps.Step) bool { return s.Want && !s.On && s.Absent == "" && event.AgentOf(s.Name) == nil })
	if len(names) > 0 {
		fmt.Fprintf(a.Stdout, "  not set up yet: %s (beckon setup)\n", strings.Join(names, ", "))
	}
}

// Installed reports whether any of the user's settings or plugins has the hooks; a
// settings file that cannot be read counts as having them.
func Installed(a *cli.App) bool {
	if _, installed := installer.ChosenFor(keepDir(a)); installed {
		return true
	}
	if hooked(installer.Inspection{Targets: AllSettings(a)}) {
		return true
	}
	ctx := context.Background() // the client takes a while to list its plugins
	return hooked(installer.Inspection{Plugins: installer.FindClient(ctx, a.ClaudeDir()).PluginDirs(ctx)})
}

func hooked(in installer.Inspection) bool {
	r := installer.Inspect(in)
	return r.Installed() || slices.ContainsFunc(r.Files, func(f installer.File) bool { return f.Err != nil })
}

// specFor returns what an install with the hook program writes for a client.
func specFor(program string, client installer.Client, set installer.Set) installer.Spec {
	return installer.Spec{
		Command: program, Shell: client.Version.NeedsShell(), Events: installer.Events(client.Version, set),
		Client: client.Version, Set: set,
	}
}

// chooseChannels writes the channels, if any are named, into the configuration.
func chooseChannels(a *cli.App, list []string, dryRun bool) error {
	if len(list) == 0 {
		return nil
	}
	path, err := config.Path(a.Getenv)
	if err != nil {
		return err
	}
	if dryRun {
		fmt.Fprintf(a.Stdout, "would set notify to %s in %s\n", strings.Join(list, ", "), path)
		return nil
	}
	changed, err := setChannels(a, path, list)
	if changed {
		fmt.Fprintf(a.Stdout, "notify is %s in %s\n", strings.Join(list, ", "), path)
	}
	return err
}

// Run edits the settings file.
func (c *UninstallCmd) Run(a *cli.App) error {
	if err := stepDown(a); err != nil {
		return err
	}
	others, claude, err := chosen(c.Agent, func() ([]*agents.Agent, bool, error) {
		if c.Scope != string(installer.User) {
			return nil, true, nil
		}
		return Registered(), true, nil
	})
	if err != nil {
		return err
	}
	if claude {
		err = c.uninstallClaude(a)
	}
	if err := errors.Join(err, c.uninstallAgents(a, others)); err != nil || c.DryRun {
		return err
	}
	if names := stepsThat(a, func(s steps.Step) bool { return s.On && !s.Fixed }); len(names) > 0 {
		fmt.Fprintf(a.Stdout, "still set up: %s (beckon setup --undo)\n", strings.Join(names, ", "))
	}
	return nil
}

// uninstallClaude removes the hooks from Claude Code.
func (c *UninstallCmd) uninstallClaude(a *cli.App) error {
	t, err := Settings(a, installer.Scope(c.Scope))
	if err != nil {
		return err
	}
	change, err := edit(a, t, installer.Uninstall(), c.DryRun)
	if err == nil && c.DryRun && c.Scope == string(installer.User) {
		err = uninstallAccounts(a, true)
	}
	if err != nil || c.DryRun {
		return err
	}
	if c.Scope == string(installer.User) { // the mod is the user's, whatever the project
		if err := errors.Join(takeMod(a), uninstallAccounts(a, false)); err != nil {
			return err
		}
	}
	if change.Noop() {
		fmt.Fprintf(a.Stdout, "no hooks of beckon in %s\n", change.File)
		return nil
	}
	fmt.Fprintf(a.Stdout, "took the hooks out of %s\n", change.File)
	return noteChosenFor(a)
}

// keepDir returns the directory of backups and records of edits, which nothing prunes.
func keepDir(a *cli.App) string { return filepath.Join(a.Store.Dir, "install") }

// edit applies one operation, or prints what it would change.
func edit(a *cli.App, t installer.Target, op installer.Op, dryRun bool) (installer.Change, error) {
	if !dryRun {
		return installer.Apply(context.Background(), t, op)
	}
	change, err := installer.Plan(t, op)
	if err == nil {
		fmt.Fprint(a.Stdout, change.Diff())
	}
	return change, err
}

// AllSettings returns the settings files of all scopes that exist here.
func AllSettings(a *cli.App) (list []installer.Target) {
	for _, scope := range []installer.Scope{installer.User, installer.Project, installer.Local} {
		if t, err := Settings(a, scope); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// Settings returns the settings file of a scope; a project's is that of the working directory.
func Settings(a *cli.App, scope installer.Scope) (installer.Target, error) {
	dir, err := os.Getwd()
	if err != nil {
		return installer.Target{}, err
	}
	return SettingsIn(a, scope, dir)
}

// SettingsIn returns the settings file of a scope for a session that works in dir.
func SettingsIn(a *cli.App, scope installer.Scope, dir string) (installer.Target, error) {
	config, err := filepath.Abs(a.ClaudeDir())
	if err != nil {
		return installer.Target{}, err
	}
	dirs := installer.Dirs{Config: config, Project: cli.ProjectRoot(dir), Keep: keepDir(a)}
	return dirs.Target(scope)
}
