//go:build !linux && !darwin

package doctor

func limitsHere() []limit { return nil }
