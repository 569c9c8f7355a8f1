package hook

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// Any error that keeps the client from getting the answer is recognised, wrapped or not.
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
