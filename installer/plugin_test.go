package installer

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func pluginOf(t *testing.T, version string) Plugin {
	return Plugin{Dir: filepath.Join(t.TempDir(), "p"), Version: version, Spec: Spec{Command: "/opt/beckon-hook", Events: []string{"Stop", "SessionEnd"}}}
}

func writePlugin(t *testing.T, p Plugin) []Change {
	t.Helper()
	files, err := p.Edits()
	if err != nil {
		t.Fatal(err)
	}
	done, err := ApplyAll(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// changes returns what making the plugin would change.
func (p Plugin) changes() (all []Change, err error) {
	files, err := p.Edits()
	for _, f := range files {
		c, err := Plan(f.Target, f.Op)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, err
}

// Inspect finds a new plugin as it should be, and making it again changes nothing.
func TestPluginIsInspected(t *testing.T) {
	for _, shell := range []bool{false, true} {
		p := pluginOf(t, "v1.2.3")
		p.Spec.Shell = shell
		writePlugin(t, p)
		r := Inspect(Inspection{Plugins: []string{p.Dir}, Events: p.Spec.Events})
		if len(r.Files) != 1 || r.Files[0].Err != nil || len(r.Files[0].Entries) != 2 || len(r.Missing) > 0 {
			t.Fatalf("%+v", r)
		}
		for _, e := range r.Files[0].Entries {
			if !slices.Equal(e.Args, []string{e.Event, "--via", "plugin"}) {
				t.Errorf("%+v", e)
			}
		}
		files, err := p.changes()
		if err != nil || slices.ContainsFunc(files, func(f Change) bool { return !f.Noop() }) {
			t.Errorf("%v, %+v", err, files)
		}
	}
}

// The version in the manifest is one that the client can compare.
func TestPluginVersion(t *testing.T) {
	for given, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "v0.0.0-20261121161100-f56062f00000": "0.0.0-20261121161100-f56062f00000",
		"(devel)": "", "f56062f00000": "", "v1.2": "", "unknown": "",
	} {
		p := pluginOf(t, given)
		writePlugin(t, p)
		var m struct{ Name, Version string }
		data, err := os.ReadFile(filepath.Join(p.Dir, ".claude-plugin", "plugin.json"))
		if err != nil || json.Unmarshal(data, &m) != nil || m.Name != PluginName || m.Version != want {
			t.Errorf("%s: %v, %+v", given, err, m)
		}
	}
}

// A newer beckon rewrites its own files. Each file of others prevents the install before
// anything is written.
func TestPluginOverwrites(t *testing.T) {
	for _, name := range []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "README.md"} {
		p := pluginOf(t, "v1.2.3")
		writePlugin(t, p)
		p.Version = "v1.3.0"
		writePlugin(t, p)
		path := filepath.Join(p.Dir, filepath.FromSlash(name))
		mine := `{"name": "mine"}`
		if err := errors.Join(os.WriteFile(path, []byte(mine), 0o600), os.Chmod(path, 0o640)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(p.Dir, "hooks", "hooks.json")); err != nil {
			t.Fatal(err)
		}
		_, err := p.changes()
		if e, ok := errors.AsType[*fileError](err); !ok || e.Path != path || !strings.Contains(e.Hint(), "--force") {
			t.Errorf("%s: %v", name, err)
		}
		p.Force = true
		writePlugin(t, p)
		data, _ := os.ReadFile(path)
		info, err := os.Stat(path)
		if err != nil || string(data) == mine || info.Mode().Perm() != 0o640 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %q", name, err, data)
		}
	}
}

// A broken plugin file is refused as settings are, and never emptied.
func TestPluginHooksBroken(t *testing.T) {
	p := pluginOf(t, "")
	path := filepath.Join(p.Dir, "hooks", "hooks.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"hooks": `), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := p.changes()
	if e, ok := errors.AsType[*settingsError](err); !ok || e.File != path {
		t.Errorf("%v", err)
	}
}

// The lists are those of 2.1.197 and 2.1.329, shortened.
func TestPluginDirs(t *testing.T) {
	got := pluginDirs([]byte(`[
		{"id": "beckon@beckon", "version": "1.2.3", "scope": "user", "enabled": true, "installPath": "/c/1.2.3"},
		{"id": "beckon@beckon", "enabled": true, "installPath": "/c/1.2.3", "readFromFolder": "/own", "folderVersion": "1.2.3"},
		{"id": "a@skills-dir", "enabled": true, "installPath": "/s/a", "errors": ["Hook load failed"]},
		{"id": "a@skills-dir", "enabled": true, "installPath": "/s/a"},
		{"id": "b@x", "enabled": false, "installPath": "/s/b"},
		{"id": "c@x", "enabled": true}]`))
	if want := []string{"/c/1.2.3", "/own", "/s/a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"", "2.1.329 (Claude Code)\n", "{}", "[1]", `[{"enabled": "yes"}]`} {
		if got := pluginDirs([]byte(text)); got != nil {
			t.Errorf("%q gives %q", text, got)
		}
	}
}
