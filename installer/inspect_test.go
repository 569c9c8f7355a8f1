package installer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspection creates a home and a project with settings of every scope.
func inspection(t *testing.T, files map[Scope]string) (Inspection, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := Dirs{Config: filepath.Join(root, "home/.claude"), Project: filepath.Join(root, "project"), Keep: filepath.Join(root, "keep")}
	in := Inspection{Events: []string{"SessionStart", "Stop"}, Client: Version{2, 1, 329}}
	for _, scope := range []Scope{User, Project, Local} {
		target, err := d.Target(scope)
		if err != nil {
			t.Fatal(err)
		}
		in.Targets = append(in.Targets, target)
	}
	in.Targets = append(in.Targets, Target{Scope: Managed, Path: filepath.Join(root, "etc/managed-settings.json")})
	for _, target := range in.Targets {
		if text, ok := files[target.Scope]; ok {
			home{t, root, target}.write(target.Path, strings.ReplaceAll(text, "ROOT", root))
		}
	}
	return in, root
}

func stop(command string) string {
	return `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "` + command + `", "args": ["Stop"], "timeout": 60}]}]}}`
}

func TestInspectNothing(t *testing.T) {
	in, _ := inspection(t, nil)
	r := Inspect(in)
	if r.Installed() || !slices.Equal(r.Missing, in.Events) || len(r.Files) != 4 || r.Files[0].Err != nil || r.Files[0].Recorded {
		t.Errorf("%+v", r)
	}
}

func TestInspectInstalled(t *testing.T) {
	in, root := inspection(t, map[Scope]string{User: "{}"})
	if _, err := Apply(context.Background(), in.Targets[0], Install(Spec{Command: filepath.Join(root, "bin/beckon-hook"), Events: in.Events})); err != nil {
		t.Fatal(err)
	}
	r := Inspect(in)
	f := r.Files[0]
	if !r.Installed() || !f.Recorded || len(f.Entries) != 2 || len(r.Missing)+len(r.Unknown)+len(r.Duplicates) != 0 {
		t.Fatalf("%+v", r)
	}
	e := f.Entries[0]
	if e.Event != "SessionStart" || !e.Exec || !slices.Equal(e.Args, []string{"SessionStart"}) {
		t.Errorf("%+v", e)
	}
	if len(r.Programs) != 1 || r.Programs[0].Exists || !r.Programs[0].Absolute {
		t.Errorf("%+v", r.Programs)
	}
	// The program appears, at first not executable.
	home{t, root, in.Targets[0]}.write(filepath.Join(root, "bin/beckon-hook"), "")
	if p := Inspect(in).Programs[0]; !p.Exists || p.Executable {
		t.Errorf("%+v", p)
	}
	// Another program removes the entries.
	home{t, root, in.Targets[0]}.write(in.Targets[0].Path, "{}")
	if r := Inspect(in); r.Installed() || !r.Files[0].Recorded {
		t.Errorf("%+v", r)
	}
	if _, err := Apply(context.Background(), in.Targets[0], Uninstall()); err != nil {
		t.Fatal(err)
	}
	if r := Inspect(in); r.Files[0].Recorded {
		t.Errorf("%+v", r)
	}
}

func TestInspectProgramVersion(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if p := inspectProgram(self); !p.Exists || !p.Executable {
		t.Errorf("%+v", p)
	}
	if p := inspectProgram("beckon-hook"); p.Absolute || p.Exists {
		t.Errorf("%+v", p)
	}
}

func TestInspectDifferences(t *testing.T) {
	in, _ := inspection(t, map[Scope]string{
		User: `{"hooks": {
			"Stop": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/beckon-hook", "args": ["Stop"]}]}],
			"PreModelSwitch": [{"hooks": [{"type": "command", "command": "/old/beckon-hook PreModelSwitch"}]}]
		}}`,
	})
	in.Client = Version{2, 1, 100}
	r := Inspect(in)
	if !slices.Equal(r.Missing, []string{"SessionStart"}) || !slices.Equal(r.Unknown, []string{"PreModelSwitch"}) {
		t.Errorf("%+v", r)
	}
	if e := r.Files[0].Entries[0]; e.Program != "/old/beckon-hook" {
		t.Errorf("%+v", e)
	}
	if e := r.Files[0].Entries[1]; e.Exec || e.Program != "/old/beckon-hook" {
		t.Errorf("%+v", e)
	}
}

func TestInspectDuplicates(t *testing.T) {
	in, root := inspection(t, map[Scope]string{User: stop("/a/beckon-hook"), Project: stop("/a/beckon-hook"), Local: stop("/b/beckon-hook")})
	plugin := filepath.Join(root, "plugin")
	in.Plugins = []string{plugin}
	home{t, root, in.Targets[0]}.write(filepath.Join(plugin, "hooks", "hooks.json"), stop("${CLAUDE_PLUGIN_ROOT}/bin/beckon-hook"))
	r := Inspect(in)
	if len(r.Duplicates) != 1 || r.Duplicates[0].Event != "Stop" || len(r.Duplicates[0].Files) != 4 || r.Duplicates[0].Runs != 3 {
		t.Errorf("%+v", r.Duplicates)
	}
	if got := r.Files[4].Entries[0].Program; filepath.ToSlash(got) != filepath.ToSlash(plugin)+"/bin/beckon-hook" {
		t.Error(got)
	}
	if len(r.Programs) != 3 {
		t.Errorf("%+v", r.Programs)
	}
}

// In a session in the home directory, project and user settings are the same file.
func TestInspectSameFileOnce(t *testing.T) {
	in, root := inspection(t, map[Scope]string{User: stop("/a/beckon-hook")})
	if err := os.Symlink(filepath.Join(root, "home"), filepath.Join(root, "project")); err != nil {
		t.Skip(err)
	}
	if r := Inspect(in); len(r.Duplicates) != 0 || len(r.Files) != 3 {
		t.Errorf("%+v", r)
	}
}

func TestInspectSwitches(t *testing.T) {
	const off, on = `{"disableAllHooks": true}`, `{"disableAllHooks": false}`
	for _, c := range []struct {
		name     string
		files    map[Scope]string
		disabled Scope
		only     bool
	}{
		{"none", nil, "", false},
		{"user", map[Scope]string{User: off}, User, false},
		{"project over user", map[Scope]string{User: off, Project: on}, "", false},
		{"local over project", map[Scope]string{Project: on, Local: off}, Local, false},
		{"managed over all", map[Scope]string{Local: off, Managed: on}, "", false},
		{"null says nothing", map[Scope]string{User: off, Project: `{"disableAllHooks": null}`}, User, false},
		{"with hooks that are refused", map[Scope]string{User: `{"disableAllHooks": true, "hooks": 1}`}, User, false},
		{"managed only", map[Scope]string{Managed: `{"allowManagedHooksOnly": true}`}, "", true},
		{"not the user's to say", map[Scope]string{User: `{"allowManagedHooksOnly": true}`}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, _ := inspection(t, c.files)
			r := Inspect(in)
			want := ""
			for _, target := range in.Targets {
				if c.disabled != "" && target.Scope == c.disabled {
					want = target.Path
				}
			}
			if r.Disabled != want || (r.ManagedOnly != "") != c.only {
				t.Errorf("disabled %q, managed only %q", r.Disabled, r.ManagedOnly)
			}
		})
	}
}

func TestInspectBroken(t *testing.T) {
	in, root := inspection(t, map[Scope]string{User: "{\n  // mine\n}", Project: "{\"hooks\": []}", Local: ""})
	in.Plugins = []string{filepath.Join(root, "none")}
	r := Inspect(in)
	if e, ok := errors.AsType[*settingsError](r.Files[0].Err); !ok || e.File != in.Targets[0].Path {
		t.Errorf("%v", r.Files[0].Err)
	}
	if notes := r.Files[1].Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], "hooks is ") {
		t.Errorf("%q", notes)
	}
	if f := r.Files[2]; f.Err != nil {
		t.Errorf("%+v", f)
	}
	if f := r.Files[4]; f.Err != nil {
		t.Errorf("%+v", f)
	}
}
