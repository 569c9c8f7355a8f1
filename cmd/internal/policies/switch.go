package policies

import (
	"fmt"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/config"
)

type enableCmd struct {
	Hook string `arg:"" help:"The hook's name, as policy explain prints it: global/shared."`
}

type disableCmd enableCmd

func (c *enableCmd) Run(a *cli.App) error { return switchHook(a, c.Hook, true) }

func (c *disableCmd) Run(a *cli.App) error { return switchHook(a, c.Hook, false) }

func switchHook(a *cli.App, name string, on bool) error {
	if !on {
		if err := a.InAgent("switching a hook off"); err != nil {
			return err
		}
	}
	s, err := Sources(a)
	if err != nil {
		return err
	}
	hooks := policy.Load(s).Hooks
	off, err := s.State.Disabled()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(hooks, func(h *config.Hook) bool { return h.Name() == name })
	if i < 0 && !(on && off[name]) { // another hook that does the same may stand in its place
		return cli.Hint("beckon policy explain lists them", "no hook %q is in force here", name)
	}
	if err := s.State.Switch(name, on); err != nil {
		return fmt.Errorf("switching %q: %w", name, err)
	}
	word := "off"
	if on {
		word = "on"
	}
	fmt.Fprintf(a.Stdout, "%s is %s\n", name, word)
	return nil
}
