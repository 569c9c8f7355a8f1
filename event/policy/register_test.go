package policy

import (
	"slices"
	"strconv"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

func NewEngine(hooks []*config.Hook) *Engine { return &Engine{hooks} }

// Option changes how a registered handler takes part.
type Option func(*config.Hook)

// Register adds a handler for events of kind k after the existing ones, and returns its id.
// Its approval counts. Only tests have handlers that come from no file.
func (e *Engine) Register(k event.Kind, run wire.Handler, options ...Option) string {
	h := &config.Hook{ID: "program-" + strconv.Itoa(len(e.Hooks)+1), Event: k, Type: "program", Level: "program",
		Grant: true, Handler: run}
	for _, o := range options {
		o(h)
	}
	e.Hooks = append(slices.Clip(e.Hooks), h)
	return h.ID
}
