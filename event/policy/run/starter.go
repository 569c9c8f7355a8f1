package run

import (
	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/trust"
)

// Starter is this package behind an interface, for cmd/internal/answer, which does
// not link it.
type Starter struct{}

// Prepare is the function of that name.
func (Starter) Prepare(hooks []*config.Hook, k event.Kind, env []string, state trust.Dir) {
	Prepare(hooks, k, env, state)
}

// Inside reports whether this process was started by a policy.
func (Starter) Inside(getenv func(string) string, state trust.Dir) bool {
	return IsInside(getenv(Marker), state)
}
