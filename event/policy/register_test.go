package policy

import (
	"context"
	"slices"
	"strconv"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

func NewEngine(hooks []*config.Hook) *Engine { return &Engine{Hooks: hooks} }

// handler is what a hook of a test runs.
type handler interface {
	Run(context.Context, wire.Call) wire.Outcome
}

// Handle lets a hook run a handler.
func (e *Engine) Handle(h *config.Hook, run handler) {
	others := e.Start
	e.Start = func(ctx context.Context, one *config.Hook, c wire.Call) wire.Outcome {
		if one == h {
			return run.Run(ctx, c)
		}
		return others(ctx, one, c)
	}
}

// Option changes how a registered handler takes part.
type Option func(*config.Hook)

// Register adds a handler for events of kind k after the existing ones, and returns its id.
// Its approval counts. Only tests have handlers that come from no file.
func (e *Engine) Register(k event.Kind, run handler, options ...Option) string {
	h := &config.Hook{ID: "program-" + strconv.Itoa(len(e.Hooks)+1), Event: k, Type: "program", Level: "program",
		Grant: true}
	e.Handle(h, run)
	for _, o := range options {
		o(h)
	}
	e.Hooks = append(slices.Clip(e.Hooks), h)
	return h.ID
}
