package cli

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"beckon/state/store"
)

// The error for an inaccessible state directory says what to do about it; that for another
// user's file does not.
func TestStateDirectoryOfAnother(t *testing.T) {
	dir := t.TempDir()
	for path, advised := range map[string]bool{filepath.Join(dir, "sessions"): true, "/etc/other": false} {
		var out bytes.Buffer
		a := App{Stderr: &out, Store: store.Open(dir)}
		if code := a.Fail(&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}); code != ExitError {
			t.Errorf("exit code %d", code)
		}
		if got := strings.Contains(out.String(), "hint: "+dir+": make it yours"); got != advised {
			t.Errorf("advised %v, want %v:\n%s", got, advised, out.String())
		}
	}
}
