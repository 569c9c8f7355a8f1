package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"
)

// Prepare makes the handlers of the hooks of kind k, with env as the
// environment of what they start. A hook whose handler cannot be made stays,
// and fails when its turn comes. state keeps what models said and which servers
// are down; "" keeps nothing, and leaves it to the caller that env has been
// through Inside.
func Prepare(hooks []*Hook, k event.Kind, env []string, state Dir) {
	marked := state == ""
	for _, h := range hooks {
		if h.Event != k || h.handler != nil {
			continue
		}
		if h.Runs() && !marked {
			env, marked = state.Inside(env), true
		}
		made, err := h.make(env, state)
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
func (h *Hook) make(env []string, state Dir) (handler.Handler, error) {
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
		return handler.NewServer(handler.ServerConfig{URL: s.URL, Timeout: h.Timeout, Retries: s.Retries, RetryDelay: s.RetryDelay, Headers: s.Headers, Health: state.health(s.URL)})
	case TypeHTTP:
		return handler.NewHTTP(handler.HTTPConfig{URL: s.URL, Headers: s.Headers, AllowedEnvVars: s.AllowedEnvVars, Timeout: h.Timeout})
	case TypePrompt:
		return handler.NewPrompt(handler.PromptConfig{Prompt: s.Prompt, Model: s.Model, Env: env, Timeout: h.Timeout, Cache: state.answers()})
	}
	return nil, fmt.Errorf("type %q has no handler", h.Type)
}

// answers is the cache of what models said.
func (d Dir) answers() *handler.Cache {
	if d == "" {
		return nil
	}
	return &handler.Cache{Dir: d.path("answers")}
}

const (
	downDir = "down" // servers that did not answer
	// downFor is how long a server that did not answer is asked only once.
	downFor = 30 * time.Second
)

// health remembers a server by a file that is there while it is down.
type health struct{ file string }

func (d Dir) health(url string) handler.Health {
	if d == "" {
		return nil
	}
	return health{d.path(downDir, sumOf([]byte(url))[:32])}
}

func (h health) Down() bool {
	info, err := os.Stat(h.file)
	return err == nil && time.Since(info.ModTime()) < downFor
}

// Note makes the file or removes it. Where that cannot be done the server is
// asked with all patience.
func (h health) Note(answered bool) {
	_ = os.Remove(h.file)
	if !answered && os.MkdirAll(filepath.Dir(h.file), dirMode) == nil {
		_ = os.WriteFile(h.file, nil, fileMode)
	}
}
