// Package need says what a test needs besides Go and git. Where that is missing the test is
// skipped, with the reason; with CI=true in the environment it fails, so that nothing stays
// untested in silence.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of the first of some programs that is installed.
func Program(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(tb, "this test needs %s, which is not installed", names[0])
	return ""
}

// Missing ends a test that lacks something.
func Missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf(format, args...)
	}
	tb.Skipf(format, args...)
}
