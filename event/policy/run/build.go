// Package run starts what a policy names: a command, a policy server, a native http hook, a question to a
// model. Each gets one event and returns its answer.
//
// A handler guarantees: it returns soon after its context ends, and leaves no process, descriptor or
// goroutine behind; what it reads is bounded; nothing it runs can write to this program's own
// output; and an answer that it does not understand is an error, never a decision.
package run

import (
	"crypto/rand"
	"fmt"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

// Starter lets cmd/internal/hook, which does not link this package, start handlers.
type Starter struct{}

// Prepare creates the handlers of the hooks of kind k, with env as the environment of what they start; one
// that cannot be created fails when its turn comes. state stores which servers are down; "" stores
// nothing, and then the caller must have passed env through Inside.
func (Starter) Prepare(hooks []*config.Hook, k event.Kind, env []string, state trust.Dir) {
	marked := state == ""
	for _, h := range hooks {
		if h.Event != k || !h.Runs() || h.Handler != nil || h.Fault != nil {
			continue
		}
		if !marked {
			env, marked = Inside(env, state), true
		}
		var err error
		if h.Handler, err = handler(h, env, state); err != nil {
			h.Fault = fmt.Errorf("it cannot be started: %w", err)
		}
	}
}

// handler returns the hook's handler.
func handler(h *config.Hook, env []string, state trust.Dir) (wire.Handler, error) {
	s := h.Spec
	switch h.Type {
	case config.Command:
		return Command{
			Command:   s.Command,
			Args:      s.Args,
			Shell:     s.Shell,
			Simple:    s.Convention == config.Simple,
			Env:       env,
			Timeout:   h.Timeout,
			AtProject: h.Level == config.Project,
		}, nil
	case config.Server:
		return NewServer(s, h.Timeout, state)
	case config.HTTP:
		return newHTTP(s, h.Timeout, h.FailClosed)
	case config.Prompt:
		return NewPrompt(PromptConfig{Prompt: s.Prompt, Model: s.Model, Env: env, Timeout: h.Timeout})
	}
	return nil, fmt.Errorf("type %q has no handler", h.Type)
}

// Marker is set in the environment of everything that a policy starts. A process that sees it may
// evaluate rules, but not start a handler: an agent that judges an agent would never end.
const Marker = "BECKON_POLICY_HANDLER"

// markerFile contains the marker's value, which nobody can guess: a project's settings can set variables,
// and must not disable the user's handlers with one.
const markerFile = "marker"

// Inside returns env with the marker.
func Inside(env []string, d trust.Dir) []string {
	return append(env[:len(env):len(env)], Marker+"="+marker(d))
}

// Inside reports whether one of this user's policies started this process.
func (Starter) Inside(getenv func(string) string, d trust.Dir) bool {
	value := getenv(Marker)
	return value != "" && value == marker(d)
}

// marker returns the stored value, and creates it if there is none.
func marker(d trust.Dir) string {
	if value := d.Read(markerFile); len(value) > 0 {
		return string(value)
	}
	if err := d.Write([]byte(rand.Text()), markerFile); err == nil {
		return string(d.Read(markerFile)) // another process may have replaced it
	}
	return trust.Sum("marker of " + string(d))[:32]
}
