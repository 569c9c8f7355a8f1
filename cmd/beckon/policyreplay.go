package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"beckon/event"
	"beckon/event/policy"
	"beckon/event/recording"
)

type policyReplayCmd struct {
	Files   []string `arg:"" help:"Recordings of sessions." type:"existingfile"`
	Against string   `help:"Another policy file; only the events that the two answer differently are shown." type:"path"`
	Start   bool     `name:"run" help:"Start commands, servers and models too; else only the built-in rules are asked."`
	Client  string   `help:"The client's version." placeholder:"VERSION"`

	environ []string // of what is started
}

func (c *policyReplayCmd) Run(a *app) error {
	s, err := a.sources()
	if err != nil {
		return err
	}
	c.environ = s.State.Inside(os.Environ())
	now, other := policy.NewEngine(policy.Load(s).Hooks), (*policy.Engine)(nil)
	if c.Against != "" {
		config, err := decodeFile(c.Against, policy.Global, s.Home)
		if err != nil {
			return err
		}
		other = policy.NewEngine(policy.Merge(config))
	}
	ctx, stop := interruptible()
	defer stop()
	events, shown := 0, 0
	for _, file := range c.Files {
		steps, err := readRecording(file)
		if err != nil {
			return err
		}
		for _, step := range steps {
			if !step.Hook() || event.ByName(step.Kind) == event.Unknown {
				continue
			}
			events++
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			if c.step(ctx, a, file, step, now, other) {
				shown++
			}
		}
	}
	kind := "answered"
	if other != nil {
		kind = "answered differently"
	}
	fmt.Fprintf(a.stdout, "%d of %d events are %s\n", shown, events, kind)
	return nil
}

func readRecording(file string) ([]recording.Step, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading recording: %w", err)
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading recording %q: %w", file, err)
	}
	return steps, nil
}

// step puts one event to the policy, or to both, and reports whether it was
// shown.
func (c *policyReplayCmd) step(ctx context.Context, a *app, file string, step recording.Step, now, other *policy.Engine) bool {
	first := c.ask(ctx, now, step)
	if other == nil {
		if len(first.Answer.Stdout) == 0 && first.Answer.ExitCode == 0 {
			return false
		}
		fmt.Fprintf(a.stdout, "%s %s: %s\n", place(file, step), clean(subject(step)), verdict(first))
		return true
	}
	second := c.ask(ctx, other, step)
	if first.Answer.ExitCode == second.Answer.ExitCode && bytes.Equal(first.Answer.Stdout, second.Answer.Stdout) {
		return false
	}
	fmt.Fprintf(a.stdout, "%s %s\n  now:     %s\n  against: %s\n", place(file, step), clean(subject(step)), verdict(first), verdict(second))
	return true
}

func (c *policyReplayCmd) ask(ctx context.Context, e *policy.Engine, step recording.Step) policy.Result {
	kind := event.ByName(step.Kind)
	policy.Prepare(e.Hooks(), kind, c.environ, "")
	return e.Trigger(ctx, policy.Event{Kind: kind, Payload: step.Payload, ID: "evt_replay",
		ProjectDir: step.Env["CLAUDE_PROJECT_DIR"], Version: c.Client, RulesOnly: !c.Start, Why: "only rules are asked"})
}

func place(file string, s recording.Step) string {
	return fmt.Sprintf("%s +%dms %s", file, s.T, s.Kind)
}

func subject(s recording.Step) string { return policy.SubjectOf(s.Payload) }

// verdict is an answer in a line.
func verdict(r policy.Result) string {
	text := string(r.Verdict.Decision)
	if text == "" {
		text = "silent"
	}
	if r.Verdict.Reason != "" {
		text += ": " + r.Verdict.Reason
	}
	if r.Verdict.Input != nil {
		text += ", rewritten to " + string(r.Verdict.Input)
	}
	if len(r.Verdict.Context) > 0 {
		text += ", with context"
	}
	return clean(text)
}
