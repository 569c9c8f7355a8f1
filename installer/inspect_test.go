package installer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInspectFile(t *testing.T) {
	h := newHome(t)
	if f := InspectFile(h.Target); f.Err != nil || f.Recorded || len(f.Entries) > 0 {
		t.Errorf("%+v", f)
	}
	h.write(h.Path, "{}")
	h.apply(Install(Spec{Command: "/a/beckon-hook", Events: []string{"SessionStart", "Stop"}}))
	f := InspectFile(h.Target)
	if !f.Recorded || len(f.Entries) != 2 {
		t.Fatalf("%+v", f)
	}
	if e := f.Entries[0]; e.Event != "SessionStart" || !slices.Equal(e.Args, []string{"SessionStart"}) {
		t.Errorf("%+v", e)
	}
	h.write(h.Path, "{}") // another program removes the entries
	if f := InspectFile(h.Target); len(f.Entries) > 0 || !f.Recorded {
		t.Errorf("%+v", f)
	}
	h.apply(Uninstall())
	if f := InspectFile(h.Target); f.Recorded {
		t.Errorf("%+v", f)
	}
}

// Entries of another form, and settings that are flawed or broken.
func TestInspectOthers(t *testing.T) {
	h := newHome(t).with(`{"disableAllHooks": true, "hooks": {
		"Stop": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/beckon-hook", "args": ["Stop"]}]}],
		"Setup": [{"hooks": [{"type": "command", "command": "/old/beckon-hook Setup"}]}], "PreCompact": 1}}`)
	f := InspectFile(h.Target)
	if len(f.Entries) != 2 || f.Entries[1].Program != "/old/beckon-hook" {
		t.Errorf("%+v", f)
	}
	h.write(h.Path, "{\n  // mine\n}")
	if f := InspectFile(h.Target); f.Err == nil || !strings.Contains(f.Err.Error(), filepath.Base(h.Path)) {
		t.Errorf("%v", f.Err)
	}
}

// A plugin's entries name the program in its own directory.
func TestInspectPlugin(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks", "hooks.json")
	text := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/beckon-hook", "args": ["Stop"]}]}]}}`
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	f := InspectPlugin(dir)
	if len(f.Entries) != 1 || filepath.ToSlash(f.Entries[0].Program) != filepath.ToSlash(dir)+"/bin/beckon-hook" {
		t.Errorf("%+v", f)
	}
	if f := InspectPlugin(t.TempDir()); f.Err != nil || len(f.Entries) > 0 {
		t.Errorf("%+v", f)
	}
}
