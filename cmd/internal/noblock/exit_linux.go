//go:build (amd64 || arm64) && !go1.27

package noblock

// fatal is the code that takes the place of 2.
//
//lint:ignore U1000 the assembly reads it
var fatal int32

// Off restores exit code 2, for commands that are not hooks.
func Off() { fatal = 2 }
