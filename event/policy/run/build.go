// Package run starts what a policy names: a command, a policy server, a native
// http hook, a question to a model. Each takes one event and says what it
// thinks of it.
//
// A handler guarantees: it returns soon after its context ends; no process,
// descriptor or goroutine of its own is left behind then; what it reads is
// bounded; nothing it runs can write to this program's own output; and an
// answer that is not understood is an error, never a decision. It does not
// decide what an error means (the fail mode does) nor whether the event can
// express the decision (the contract does).
package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

// Prepare makes the handlers of the hooks of kind k, with env as the
// environment of what they start. A hook whose handler cannot be made stays,
// and fails when its turn comes. state keeps what models said and which servers
// are down; "" keeps nothing, and leaves it to the caller that env has been
// through Inside.
func Prepare(hooks []*config.Hook, k event.Kind, env []string, state trust.Dir) {
	marked := state == ""
	for _, h := range hooks {
		if h.Event != k || !h.Runs() || h.Handler != nil {
			continue
		}
		if !marked {
			env, marked = Inside(env, state), true
		}
		made, err := handler(h, env, state)
		if err != nil {
			made = broken{fmt.Errorf("it cannot be started: %w", err)}
		}
		h.Handler = made
	}
}

// broken is the handler of a hook that has none.
type broken struct{ err error }

func (b broken) Run(context.Context, wire.Call) wire.Outcome { return wire.Outcome{Err: b.err} }

// handler makes the hook's handler.
func handler(h *config.Hook, env []string, state trust.Dir) (wire.Handler, error) {
	s := h.Spec
	switch h.Type {
	case config.Command:
		return Command{Command: s.Command, Args: s.Args, Shell: s.Shell, Simple: s.Convention == config.Simple, Env: env,
			Timeout: h.Timeout, AtProject: h.Level == config.Project}, nil
	case config.Server:
		c := ServerConfig{URL: s.URL, Timeout: h.Timeout, Retries: s.Retries, RetryDelay: s.RetryDelay, Headers: s.Headers}
		if state != "" {
			c.Health = health{state, trust.Sum(s.URL)[:32]}
		}
		return NewServer(c)
	case config.HTTP:
		return NewHTTP(HTTPConfig{URL: s.URL, Headers: s.Headers, AllowedEnvVars: s.AllowedEnvVars, Timeout: h.Timeout})
	case config.Prompt:
		c := PromptConfig{Prompt: s.Prompt, Model: s.Model, Env: env, Timeout: h.Timeout}
		if state != "" {
			c.Cache = Cache(state.Path("answers"))
		}
		return NewPrompt(c)
	}
	return nil, fmt.Errorf("type %q has no handler", h.Type)
}

const (
	downDir = "down" // servers that did not answer
	// downFor is how long a server that did not answer is not asked.
	downFor = 30 * time.Second
)

// health remembers a server by a file that is there while it is down.
type health struct {
	state trust.Dir
	name  string
}

// Ask lets one process try again after the pause, and the others wait for what
// comes of it.
func (h health) Ask() (may, once bool) {
	info, err := os.Stat(h.state.Path(downDir, h.name))
	switch {
	case err != nil:
		return true, false
	case time.Since(info.ModTime()).Abs() < downFor: // a clock that was set back must not make it long
		return false, false
	}
	h.Note(false)
	return true, true
}

// Note makes the file or removes it. Where that cannot be done the server is
// asked with all patience.
func (h health) Note(answered bool) {
	if answered {
		_ = h.state.Remove(downDir, h.name)
		return
	}
	_ = h.state.Write(nil, downDir, h.name)
}
