package segment

import (
	"runtime"
	"testing"
	"time"
)

// A wrapped command that hangs is killed with its children, and its output until then is
// shown.
func TestWrappedIsEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	for command, want := range map[string]wrapped{
		"":                          {},
		"cat":                       {"{}", true},
		"exit 1":                    {},
		"echo a; exit 1":            {"a\n", true},
		"sleep 30":                  {},
		"echo b; sleep 30 & wait":   {"b\n", true},
		"echo c; sleep 30 & exit 0": {"c\n", true},
		"echo \"$COLUMNS\"":         {"\n", true},
	} {
		t.Setenv("COLUMNS", "")
		began := time.Now()
		if got := runWrapped(command, []byte("{}"), 300*time.Millisecond); got != want {
			t.Errorf("%q: %+v, want %+v", command, got, want)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q took %s", command, took)
		}
	}
	if got := runWrapped("yes", nil, 300*time.Millisecond); len(got.text) != maxWrapped {
		t.Errorf("%d bytes are kept", len(got.text))
	}
}
