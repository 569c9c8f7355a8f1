package policy

import (
	"slices"
	"strconv"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"
)

// Option changes how a registered handler takes part.
type Option func(*config.Hook)

// Register adds a handler for events of kind k, behind those that are there,
// and returns its id. An approval of such a handler counts. Tests alone have handlers
// that come from no file.
func (e *Engine) Register(k event.Kind, run wire.Handler, options ...Option) string {
	h := &config.Hook{ID: "program-" + strconv.Itoa(len(e.hooks)+1), Event: k, Type: config.Program, Level: config.Registered,
		Enabled: true, Grant: true, StopBlocks: 1, Handler: run}
	for _, o := range options {
		o(h)
	}
	e.hooks = append(slices.Clip(e.hooks), h)
	return h.ID
}
