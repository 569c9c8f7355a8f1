//go:build !linux || !(amd64 || arm64) || go1.27

package noblock

import (
	"runtime"
	"runtime/debug"
)

func init() {
	if runtime.GOOS != "windows" { // where an abort opens a window
		debug.SetTraceback("crash")
	}
}

// Off restores exit code 2, for commands that are not hooks.
func Off() { debug.SetTraceback("single") }
