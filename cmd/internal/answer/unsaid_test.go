package answer

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// Whatever keeps the client from being told is said, wrapped or not.
func TestUnsaid(t *testing.T) {
	for _, err := range []error{io.ErrShortWrite, errors.Join(io.ErrClosedPipe)} {
		if why := unsaid(err); !strings.Contains(why, err.Error()) {
			t.Errorf("%v: %q", err, why)
		}
	}
	if why := unsaid(nil); why != "" {
		t.Errorf("told, but %q", why)
	}
}
