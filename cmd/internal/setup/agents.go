package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup/steps"
	"beckon/event"
	"beckon/event/agents"
	"beckon/installer"
)

// Registered returns the agents other than Claude Code whose hooks beckon registers.
func Registered() (all []*agents.Agent) {
	for _, a := range event.Agents() {
		if a.Install.File != "" {
			all = append(all, a)
		}
	}
	return all
}

// AgentTarget returns the file of an agent's hooks.
func AgentTarget(a *cli.App, ag *agents.Agent) (installer.Target, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return installer.Target{}, err
	}
	return installer.AgentTarget(ag, home, keepDir(a), a.Getenv)
}

// There reports whether an agent is on this machine: its program, or its own directory.
func There(a *cli.App, ag *agents.Agent) bool {
	if cli.Found(ag.Install.Program) {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	dir, err := installer.AgentDir(ag, home, a.Getenv)
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// chosen returns the agents that --agent names, and whether Claude Code is among them. Without
// --agent it returns what asked returns.
func chosen(names []string, asked func() ([]*agents.Agent, bool, error)) (list []*agents.Agent, claude bool, err error) {
	if len(names) == 0 {
		return asked()
	}
	for _, name := range names {
		ag := event.AgentOf(name)
		switch {
		case name == "all":
			list, claude = append(list, Registered()...), true
		case ag != nil && ag.Name == event.ClaudeCode:
			claude = true
		case ag == nil || ag.Install.File == "":
			return nil, false, cli.Usage("--agent %q: not one of %s", name, strings.Join(agentNames(), ", "))
		default:
			list = append(list, ag)
		}
	}
	slices.SortStableFunc(list, func(x, y *agents.Agent) int { return strings.Compare(x.Name, y.Name) })
	return slices.Compact(list), claude, nil
}

func agentNames() []string {
	names := []string{"all", event.ClaudeCode}
	for _, ag := range Registered() {
		names = append(names, ag.Name)
	}
	return names
}

// lacking returns the agents on this machine that lack the hooks.
func lacking(a *cli.App) (list []*agents.Agent) {
	for _, ag := range Registered() {
		t, err := AgentTarget(a, ag)
		if err != nil || !There(a, ag) {
			continue
		}
		if !followed(t, ag) {
			list = append(list, ag)
		}
	}
	return list
}

// AnyAgent reports whether any agent but Claude Code has the hooks.
func AnyAgent(a *cli.App) bool {
	return slices.ContainsFunc(Registered(), func(ag *agents.Agent) bool {
		t, err := AgentTarget(a, ag)
		return err == nil && followed(t, ag)
	})
}

// followed reports whether an agent has the hooks, whatever program they run.
func followed(t installer.Target, ag *agents.Agent) bool {
	return len(installer.InspectAgent(t, installer.AgentSpec(ag, "/beckon-hook")).Entries) > 0
}

func titles(list []*agents.Agent) string {
	var names []string
	for _, ag := range list {
		names = append(names, ag.Install.Title)
	}
	return strings.Join(names, ", ")
}

// ask asks which of the agents on this machine get the hooks, too, if somebody can answer.
func ask(a *cli.App, attended bool) (list []*agents.Agent, err error) {
	list = lacking(a)
	if len(list) == 0 || !attended {
		return nil, nil
	}
	fmt.Fprintf(a.Stdout, "also here: %s. Install for them, too? [Y/n, or names] ", titles(list))
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if err != nil {
		return nil, nil // nobody can answer
	}
	switch answer := strings.ToLower(strings.TrimSpace(line)); answer {
	case "", "y", "yes":
		return list, nil
	case "n", "no":
		return nil, nil
	default:
		list, _, err = chosen(strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }), nil)
		return list, err
	}
}

// agentSteps returns the steps for the other agents on this machine, and for those that are named.
func agentSteps(a *cli.App, hook string, named []string) (list []steps.Step) {
	for _, ag := range Registered() {
		target, err := AgentTarget(a, ag)
		if err != nil {
			continue
		}
		spec := installer.AgentSpec(ag, hook)
		on := followed(target, ag)
		absent := ""
		if !on && !There(a, ag) {
			absent = "it is not on this machine; beckon install --agent " + ag.Name + " follows it all the same"
		}
		if absent != "" && !slices.Contains(named, ag.Name) {
			continue
		}
		list = append(list, steps.Step{
			Name: ag.Name, Title: "follow " + ag.Install.Title + "'s sessions", On: on, Want: true, Absent: absent, Then: ag.Install.Then,
			Diff: func(on bool) (string, error) {
				c, err := installer.Plan(target, operation(on, spec))
				return c.Diff(), err
			},
			Do: func(on bool) error {
				_, err := installer.Apply(context.Background(), target, operation(on, spec))
				return err
			},
		})
	}
	return list
}

// installAgents registers the hooks with other agents than Claude Code.
func (c *InstallCmd) installAgents(a *cli.App, program string, list []*agents.Agent) error {
	var errs []error
	for _, ag := range list {
		t, err := AgentTarget(a, ag)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		spec := installer.AgentSpec(ag, program)
		spec.Answers = installer.AgentHolds(t)
		if c.Answers != nil {
			spec.Answers = *c.Answers && ag.Holds()
		}
		change, err := edit(a, t, installer.Install(spec), c.DryRun)
		switch {
		case err != nil:
			errs = append(errs, err)
		case c.DryRun:
		case change.Noop():
			fmt.Fprintf(a.Stdout, "%s: hooks are installed already in %s\n", ag.Install.Title, change.File)
		default:
			fmt.Fprintf(a.Stdout, "%s: installed hooks in %s\n", ag.Install.Title, change.File)
			if ag.Install.Then != "" {
				fmt.Fprintf(a.Stdout, "  %s\n", ag.Install.Then)
			}
		}
		if c.Answers != nil && *c.Answers && !ag.Holds() && err == nil {
			fmt.Fprintf(a.Stdout, "  it has no dialog that can be answered from elsewhere (beckon help agents)\n")
		}
	}
	return errors.Join(errs...)
}

// uninstallAgents removes the hooks of agents other than Claude Code. It mentions
// an agent without hooks only if it was named.
func (c *UninstallCmd) uninstallAgents(a *cli.App, list []*agents.Agent) error {
	var errs []error
	for _, ag := range list {
		t, err := AgentTarget(a, ag)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		change, err := edit(a, t, installer.Uninstall(), c.DryRun)
		switch {
		case err != nil:
			errs = append(errs, err)
		case c.DryRun:
		case !change.Noop():
			fmt.Fprintf(a.Stdout, "%s: took the hooks out of %s\n", ag.Install.Title, change.File)
		case len(c.Agent) > 0:
			fmt.Fprintf(a.Stdout, "%s: no hooks of beckon in %s\n", ag.Install.Title, change.File)
		}
	}
	return errors.Join(errs...)
}
