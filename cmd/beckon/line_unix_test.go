//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// beckon-hook prints what beckon prints, and runs beckon for what it does not link; so it does
// under the name beckon-line, which earlier versions wrote into settings. Settings and snippets
// name it; a status line of an older name becomes its own, and keeps the command that it runs
// first.
func TestLine(t *testing.T) {
	dir := t.TempDir()
	bin, home := filepath.Join(dir, "home", "bin"), filepath.Join(dir, "home")
	installPrograms(t, bin)
	run := func(stdin, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + filepath.Join(dir, "state"), "GORACE=" + noNap}
		cmd.Stdin = strings.NewReader(stdin)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the code is in the result
		return fmt.Sprintf("%s%d", out.String(), cmd.ProcessState.ExitCode())
	}
	settings := filepath.Join(home, ".claude", "settings.json")
	original := `{"statusLine": {"type": "command", "command": "echo mine"}}`
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(original), 0o600); err != nil {
		t.Fatal(err)
	}
	names := func(want string) {
		t.Helper()
		run("", "beckon", "install", "--statusline")
		text, err := os.ReadFile(settings)
		if err != nil || !strings.Contains(string(text), `/bin/`+want+` statusline --wrap 'echo mine'"`) {
			t.Errorf("no %s in the settings, %v:\n%s", want, err, text)
		}
		if text := run("", "beckon", "init", "bash"); !strings.Contains(text, "/bin/"+want+" prompt ") {
			t.Errorf("no %s in the snippet:\n%s", want, text)
		}
	}
	names("beckon-hook")
	old := strings.ReplaceAll(original, "echo mine", bin+"/beckon-line statusline --wrap 'echo mine'")
	if err := os.WriteFile(settings, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	names("beckon-hook")
	if err := os.Symlink("beckon-hook", filepath.Join(bin, "beckon-line")); err != nil {
		t.Fatal(err)
	}

	const session = `{"session_id":"s1","cwd":"/","hook_event_name":`
	run(session+`"UserPromptSubmit","prompt":"go"}`, "beckon-hook", "UserPromptSubmit")
	run(session+`"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`, "beckon-hook", "PermissionRequest")
	if got := run("", "beckon-hook", "prompt"); got != "!1\n0" {
		t.Errorf("the segment is %q", got)
	}
	for _, line := range []string{
		"prompt --json", "prompt --format {first} --for tmux", "prompt --fleet", "prompt --for nowhere", "prompt --nonsense", "prompt --help",
		"statusline", "statusline --wrap=pwd", "statusline --fleet", "list", "",
	} {
		const payload = `{"session_id":"other","cwd":"/","model":{"display_name":"Opus"}}`
		got, want := "", "-"
		for _, name := range []string{"beckon-hook", "beckon-line"} {
			if name == "beckon-hook" && !strings.HasPrefix(line, "prompt") && !strings.HasPrefix(line, "statusline") {
				continue // a hook
			}
			for tries := 0; got != want && tries < 20; tries++ { // they tell the time, too
				got, want = run(payload, name, strings.Fields(line)...), run(payload, "beckon", strings.Fields(line)...)
			}
			if got != want || got == "" {
				t.Errorf("%s %s: %q, beckon: %q", name, line, got, want)
			}
		}
	}
	run("", "beckon", "uninstall")
	if text, err := os.ReadFile(settings); err != nil || string(text) != original {
		t.Errorf("uninstalled, %v: %s", err, text)
	}
	if err := os.Remove(filepath.Join(bin, "beckon")); err != nil {
		t.Fatal(err)
	}
	if got := run("", "beckon-hook", "prompt", "--fleet"); !strings.Contains(got, "is not beside beckon-hook") {
		t.Errorf("without beckon: %q", got)
	}
}
