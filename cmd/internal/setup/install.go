package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/config"
	"beckon/cmd/internal/setup/steps"
	"beckon/installer"
)

// InstallCmd is `beckon install`: the steps of setup that put hooks into files, by flags.
type InstallCmd struct {
	Agent   []string `help:"Which agents: claude-code, codex, opencode, gemini, copilot, qwen, or all (default: claude-code)." placeholder:"NAME"`
	Scope   string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	Events  string   `enum:"core,all" default:"core" help:"Events to register: core (enough to track state) or all."`
	Hook    string   `help:"The beckon-hook program to run (default: the one beside this program)." placeholder:"PATH"`
	Notify  []string `enum:"terminal,desktop,command,sound,title,ntfy" help:"Channels that notify you when a session needs you: terminal, desktop, command, sound, title, ntfy." placeholder:"CHANNEL"`
	Status  bool     `name:"statusline" help:"Also install the status line; an existing one keeps running."`
	Answers *bool    `negatable:"" help:"Answer from elsewhere what sessions ask (beckon help answers); without either form that stays as it is."`
	Mod     *bool    `negatable:"" help:"Install the mod, which runs inside the client (beckon help mod); without either form that stays as it is."`
	DryRun  bool     `help:"Print what would change as a diff, and change nothing."`

	Complete string `hidden:"" placeholder:"VERSION" help:"Only add the events that a client of this version knows to installs that were made for an older one."`
}

// UninstallCmd is `beckon uninstall`.
type UninstallCmd struct {
	Agent  []string `help:"Which agents (default: all)." placeholder:"NAME"`
	Scope  string   `enum:"user,project,local" default:"user" help:"Which settings file: user, project or local."`
	DryRun bool     `help:"Print what would change as a diff, and change nothing."`
}

// Run puts the hooks into the files.
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
	names, claude, err := chosenAgents(c.Agent)
	if err != nil {
		return err
	}
	switch {
	case claude || len(c.Agent) == 0:
		err = c.installClaude(a, program)
	case c.Status || c.Mod != nil:
		return cli.Usage("%w", cli.Hint("add --agent claude-code", "--statusline and --mod are for Claude Code"))
	default:
		err = chooseChannels(a, c.Notify, c.DryRun)
	}
	errs := []error{err}
	var without []hookFile
	for _, f := range agentFiles(a, program) {
		switch {
		case slices.Contains(names, f.name):
			errs = append(errs, c.installAgent(a, f))
		case !f.on && f.absent == "":
			without = append(without, f)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(c.Agent) == 0 && len(without) > 0 && !c.DryRun {
		fmt.Fprintf(a.Stdout, "  without hooks: %s; beckon setup\n", titles(without))
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
	if spec.Answers = inspect(t).Answers(); c.Answers != nil {
		spec.Answers = *c.Answers
	}
	if c.Status {
		spec.StatusLine, err = statusProgram(a, program)
	}
	if c.Mod != nil && *c.Mod && err == nil {
		_, err = modProgram(a, program, client)
	}
	if err != nil {
		return err
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
		fmt.Fprintln(a.Stdout, "  no client was found to ask for its version: only the events that every client knows are registered; "+
			"the first session of one adds the others, among them what reports API errors")
	}
	if c.Status {
		fmt.Fprintln(a.Stdout, "  the status line names the other sessions that need you")
	}
	fmt.Fprintln(a.Stdout, "  sessions that run already load the hooks within seconds; until then beckon lists them from the client's registry")
	pointToSetup(a)
	return nil
}

// mod installs or removes the mod, or updates an installed one.
func (c *InstallCmd) mod(a *cli.App, spec installer.Spec, client installer.Client) error {
	switch {
	case c.Mod != nil && !*c.Mod:
		return takeMod(a)
	case c.Mod != nil || ModPlugin(a).HasMod() && client.Version.RunsMods():
		return putMod(a, spec, client)
	}
	return nil
}

// installAgent registers the hooks with another agent.
func (c *InstallCmd) installAgent(a *cli.App, f hookFile) error {
	if c.Answers != nil {
		f.spec.Answers = *c.Answers && f.agent.Holds()
	}
	change, err := edit(a, f.target, installer.Install(f.spec), c.DryRun)
	switch {
	case err != nil:
		return err
	case c.DryRun:
	case change.Noop():
		fmt.Fprintf(a.Stdout, "%s: hooks are installed already in %s\n", f.agent.Install.Title, change.File)
	default:
		fmt.Fprintf(a.Stdout, "%s: installed hooks in %s\n", f.agent.Install.Title, change.File)
		if f.then != "" {
			fmt.Fprintf(a.Stdout, "  %s\n", f.then)
		}
	}
	if c.Answers != nil && *c.Answers && !f.agent.Holds() {
		fmt.Fprintf(a.Stdout, "  it has no dialog that can be answered from elsewhere (beckon help agents)\n")
	}
	return nil
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

// Run takes the hooks out of the files.
func (c *UninstallCmd) Run(a *cli.App) error {
	if err := stepDown(a); err != nil {
		return err
	}
	names, claude, err := chosenAgents(c.Agent)
	if err != nil {
		return err
	}
	all := len(c.Agent) == 0 && c.Scope == string(installer.User)
	var errs []error
	if claude || len(c.Agent) == 0 {
		errs = append(errs, c.uninstallClaude(a))
	}
	for _, f := range agentFiles(a, "/beckon-hook") {
		if !all && !slices.Contains(names, f.name) {
			continue
		}
		change, err := edit(a, f.target, installer.Uninstall(), c.DryRun)
		switch {
		case err != nil:
			errs = append(errs, err)
		case c.DryRun:
		case !change.Noop():
			fmt.Fprintf(a.Stdout, "%s: took the hooks out of %s\n", f.agent.Install.Title, change.File)
		case !all:
			fmt.Fprintf(a.Stdout, "%s: no hooks of beckon in %s\n", f.agent.Install.Title, change.File)
		}
	}
	if err := errors.Join(errs...); err != nil || c.DryRun {
		return err
	}
	if left := stepsThat(a, func(s steps.Step) bool { return s.On && !s.Fixed }); left != "" {
		fmt.Fprintf(a.Stdout, "still set up: %s (beckon setup --undo)\n", left)
	}
	return nil
}

// uninstallClaude removes the hooks from Claude Code; in the user's settings also the mod, and the
// hooks of other accounts. What else has them is named.
func (c *UninstallCmd) uninstallClaude(a *cli.App) error {
	t, err := Settings(a, installer.Scope(c.Scope))
	if err != nil {
		return err
	}
	change, err := edit(a, t, installer.Uninstall(), c.DryRun)
	if err != nil {
		return err
	}
	if c.Scope == string(installer.User) {
		others, rest := Accounts(a)
		for _, target := range others {
			change, e := edit(a, target, installer.Uninstall(), c.DryRun)
			if e == nil && !c.DryRun && !change.Noop() {
				fmt.Fprintf(a.Stdout, "took the hooks out of %s, another account\n", change.File)
			}
			err = errors.Join(err, e)
		}
		for _, path := range rest {
			fmt.Fprintf(a.Stdout, "hooks are left in %s (there: beckon uninstall --scope project, or local)\n", path)
		}
		if !c.DryRun {
			err = errors.Join(err, takeMod(a))
		}
	}
	switch {
	case err != nil || c.DryRun:
		return err
	case change.Noop():
		fmt.Fprintf(a.Stdout, "no hooks of beckon in %s\n", change.File)
		return nil
	}
	fmt.Fprintf(a.Stdout, "took the hooks out of %s\n", change.File)
	return noteChosenFor(a)
}
