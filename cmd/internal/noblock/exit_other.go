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

// Off has the program end with 2 again where it says so: for commands that are
// no hook.
func Off() { debug.SetTraceback("single") }
