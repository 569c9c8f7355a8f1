package installer

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"beckon/event"
)

// The plugin registers the events that the oldest client it is for knows, all marked as the plugin's,
// so that of two copies of an event one counts.
func TestPluginIsInspected(t *testing.T) {
	const since Version = "2.1.197"
	events := Events(since, CoreEvents)
	f := InspectPlugin("plugin")
	if len(f.Entries) != len(events) {
		t.Fatalf("%+v", f)
	}
	for _, e := range f.Entries {
		if !slices.Contains(events, e.Event) || e.Program != "plugin/hooks/beckon-hook" || !slices.Equal(e.Args, []string{e.Event, "--via", "plugin"}) {
			t.Errorf("%+v", e)
		}
	}
	const newest Version = "9.9.9"
	if got := Events(newest, CoreEvents); !slices.Equal(got, events) {
		t.Errorf("a newer client knows more events: %v", got)
	}
	readme, err := os.ReadFile("plugin/README.md")
	if err != nil || !strings.Contains(string(readme), "Claude Code "+string(since)+" or later") {
		t.Errorf("the README names another client: %v\n%s", err, readme)
	}
}

// Codex and Gemini have hooks of their own in it, for the events that setup registers.
func TestPluginOfOtherAgents(t *testing.T) {
	var script []string
	for name, path := range map[string]string{"codex": "plugin/hooks/codex.json", "gemini": "plugin/gemini/hooks/hooks.json"} {
		var file struct {
			Hooks map[string][]struct{ Hooks []struct{ Command string } }
		}
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &file) != nil {
			t.Fatalf("%s: %v", path, err)
		}
		events := event.AgentOf(name).Install.Events
		for _, e := range events {
			want := "/hooks/beckon-hook " + e + " --agent " + name + " --via plugin"
			g := file.Hooks[e]
			if len(g) != 1 || len(g[0].Hooks) != 1 || !strings.Contains(g[0].Hooks[0].Command, want) {
				t.Errorf("%s: %s runs %+v", path, e, g)
			}
		}
		if len(file.Hooks) != len(events) {
			t.Errorf("%s has other events: %v", path, file.Hooks)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "beckon-hook"))
		if err != nil {
			t.Fatal(err)
		}
		script = append(script, string(text))
	}
	if script[0] != script[1] {
		t.Error("Gemini's copy of the script differs")
	}
}

// The repository is a marketplace of the same plugin.
func TestRepositoryIsAMarketplace(t *testing.T) {
	var here, there struct {
		Name    string
		Plugins []struct{ Name, Source, Description string }
	}
	for path, into := range map[string]any{"../.claude-plugin/marketplace.json": &here, "plugin/.claude-plugin/marketplace.json": &there} {
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, into) != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if here.Plugins[0].Source != "./installer/plugin" || there.Plugins[0].Source != "./" {
		t.Errorf("%+v, %+v", here, there)
	}
	if here.Plugins[0].Source = "./"; here.Name != there.Name || here.Plugins[0] != there.Plugins[0] {
		t.Errorf("%+v, want %+v", here, there)
	}
}

// The plugin's hook runs the installed program, and without one tells so once and never fails.
func TestPluginHook(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the plugin's hook is a script")
	}
	home := t.TempDir()
	script, err := filepath.Abs("plugin/hooks/beckon-hook")
	if err != nil {
		t.Fatal(err)
	}
	run := func(path string, args ...string) string {
		t.Helper()
		cmd := exec.Command("/bin/sh", append([]string{script}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + path}
		cmd.Stdin = strings.NewReader("{}")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	const bare = "/usr/bin:/bin"
	if out := run(bare, "Stop", "--via", "plugin"); out != "" {
		t.Errorf("without the program Stop prints %q", out)
	}
	for i, want := range []bool{true, false, false} {
		var said struct{ SystemMessage string }
		out := run(bare, "SessionStart", "--via", "plugin")
		if json.Unmarshal([]byte(out), &said); strings.Contains(said.SystemMessage, "Install beckon") != want || !want && out != "" {
			t.Errorf("start %d prints %q", i, out)
		}
	}
	for _, dir := range []string{"bin", ".local/bin"} {
		bin := filepath.Join(home, filepath.FromSlash(dir))
		if err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "beckon-hook"), []byte("#!/bin/sh\necho "+dir+" \"$@\"\n"), 0o700)); err != nil {
			t.Fatal(err)
		}
		path := bare
		if dir == "bin" { // the script itself may be in PATH, too
			path = filepath.Dir(script) + ":" + bin + ":" + bare
		} else if err := os.RemoveAll(filepath.Join(home, "bin")); err != nil {
			t.Fatal(err)
		}
		if out := run(path, "Stop", "--via", "plugin"); out != dir+" Stop --via plugin\n" {
			t.Errorf("the program in %s prints %q", dir, out)
		}
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
