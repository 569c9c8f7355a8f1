package typed

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute,
		"3d": 3 * day, "2w": 14 * day, "1d12h": 36 * time.Hour, "1w1d": 8 * day, "52w": 364 * day, "0": 0, "0s": 0,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "3", "1h0", "1h3", ".", "+", "3 d", "1d2", "-1h", "-3d", "2x", "1y", "noon", "53w", "9999h", "99999999999999999999d"} {
		if got, err := Duration(text); err != ErrDuration {
			t.Errorf("%q: %v %v, want %v", text, got, err, ErrDuration)
		}
	}
}
