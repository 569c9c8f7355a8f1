package policies

import (
	"errors"
	"fmt"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event/policy/trust"
	"beckon/render"
)

type allowOnceCmd struct {
	Code string `arg:"" help:"The code, as the refusal gives it."`
}

// Run lets the refused call pass when it comes again. An agent cannot run it.
func (c *allowOnceCmd) Run(a *cli.App) error {
	if err := a.InAgent("allowing a refused call"); err != nil {
		return err
	}
	s, err := Sources(a)
	if err != nil {
		return err
	}
	r, err := s.State.Allow(c.Code, time.Now())
	if errors.Is(err, trust.ErrNoCode) {
		return cli.Hint("a code holds for ten minutes and is good for one use; let the agent try again for a new one", "%q: %w", c.Code, err)
	}
	if err != nil {
		return fmt.Errorf("allowing the call: %w", err)
	}
	fmt.Fprintf(a.Stdout, "passes once, until %s: %s: %s\n", r.Expires.Local().Format("15:04"), render.OneLine(r.Tool), render.OneLine(r.Subject))
	return nil
}
