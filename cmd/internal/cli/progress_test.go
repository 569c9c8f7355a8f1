package cli

import (
	"strings"
	"testing"
	"time"
)

// Nothing is shown for what is done within a second; after that a bar grows, which disappears
// at the end.
func TestProgress(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	show := progress(&out, func() time.Time { return now })
	for done := range int64(1000) {
		show(done, 1000)
	}
	show(1000, 1000)
	if out.Len() > 0 {
		t.Errorf("shown at once: %q", out.String())
	}
	show = progress(&out, func() time.Time { return now })
	for done := range int64(30) {
		now = now.Add(50 * time.Millisecond)
		show(done, 30)
	}
	show(30, 30)
	if got := out.String(); strings.Count(got, "\r") > 8 || !strings.HasPrefix(got, "\r[###################           ] 63%") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}
