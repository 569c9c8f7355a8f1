package segment

import (
	"reflect"
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
	text := func(s string) *string { return &s }
	for command, want := range map[string]*string{
		"":                          nil,
		"true":                      text(""),
		"cat":                       text("{}"),
		"exit 1":                    nil,
		"echo a; exit 1":            text("a\n"),
		"sleep 30":                  nil,
		"echo b; sleep 30 & wait":   text("b\n"),
		"echo c; sleep 30 & exit 0": text("c\n"),
		"echo \"$COLUMNS\"":         text("\n"),
	} {
		t.Setenv("COLUMNS", "")
		began := time.Now()
		if got := runWrapped(command, []byte("{}"), 300*time.Millisecond); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", command, shown(got), shown(want))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q took %s", command, took)
		}
	}
	if got := runWrapped("yes", nil, 300*time.Millisecond); got == nil || len(*got) != maxWrapped {
		t.Errorf("%d bytes are kept", len(shown(got)))
	}
}

func shown(text *string) string {
	if text == nil {
		return "nothing"
	}
	return *text
}
