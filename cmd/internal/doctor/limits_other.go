//go:build !linux && !darwin

package doctor

// limitsHere knows none of other systems.
func limitsHere() []limit { return nil }
