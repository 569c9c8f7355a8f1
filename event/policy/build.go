package policy

import (
	"context"
	"fmt"

	"beckon/event"
	"beckon/event/policy/handler"
)

// Marker is set in the environment of everything that a policy starts. What
// sees it is inside a handler: it may apply rules, and must not start another
// handler, or an agent that judges an agent would never end.
const Marker = "BECKON_POLICY_HANDLER"

// Prepare makes the handlers of the hooks of kind k, with env as the
// environment of what they start. A hook whose handler cannot be made stays,
// and fails when its turn comes. answers keeps what models said; nil keeps
// nothing.
func Prepare(hooks []*Hook, k event.Kind, env []string, answers *handler.Cache) {
	env = append(env[:len(env):len(env)], Marker+"=1")
	for _, h := range hooks {
		if h.Event != k || h.handler != nil {
			continue
		}
		made, err := h.make(env, answers)
		if err != nil {
			made = broken{fmt.Errorf("it cannot be started: %w", err)}
		}
		h.handler = made
	}
}

// broken is the handler of a hook that has none.
type broken struct{ err error }

func (b broken) Run(context.Context, handler.Call) handler.Outcome {
	return handler.Outcome{Err: b.err}
}

// make makes the hook's handler.
func (h *Hook) make(env []string, answers *handler.Cache) (handler.Handler, error) {
	s := h.Spec
	switch h.Type {
	case TypeRule:
		return s.Rule, nil
	case TypeCommand:
		c := handler.CommandConfig{Command: s.Command, Args: s.Args, Shell: s.Shell, Env: env, Timeout: h.Timeout}
		if s.Convention == Simple {
			c.Convention = handler.SimpleConvention
		}
		return handler.NewCommand(c)
	case TypeServer:
		return handler.NewServer(handler.ServerConfig{URL: s.URL, Timeout: h.Timeout, Retries: s.Retries, RetryDelay: s.RetryDelay, Headers: s.Headers})
	case TypeHTTP:
		return handler.NewHTTP(handler.HTTPConfig{URL: s.URL, Headers: s.Headers, AllowedEnvVars: s.AllowedEnvVars, Timeout: h.Timeout})
	case TypePrompt:
		return handler.NewPrompt(handler.PromptConfig{Prompt: s.Prompt, Model: s.Model, Env: env, Timeout: h.Timeout, Cache: answers})
	}
	return nil, fmt.Errorf("type %q has no handler", h.Type)
}

// Answers returns the cache of what models said.
func (d Dir) Answers() *handler.Cache { return &handler.Cache{Dir: d.path("answers")} }
