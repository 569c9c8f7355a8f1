package web

import (
	"runtime"
	"testing"
)

// peersAreKnown reports whether this system tells which process is at the other end of a
// connection.
func peersAreKnown() bool {
	return runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

func needsPeers(t *testing.T) {
	if !peersAreKnown() {
		t.Skip("this system does not tell whose process is at the other end")
	}
}
