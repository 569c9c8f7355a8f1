package evidence

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An agent that is a script is recognised by the script that its interpreter runs. Other
// scripts are not taken for agents.
func TestAgentsThatAreScripts(t *testing.T) {
	for line, want := range map[string]bool{
		"node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js":                               true,
		"/usr/bin/node --max-old-space-size=4096 /usr/lib/node_modules/@qwen-code/qwen-code/cli.js -y": true,
		"node /home/you/.local/bin/qwen":                                                               true,
		"/opt/node_modules/@github/copilot-linux-x64/copilot --allow-tool x":                           true,
		"node server.js": false,
		"vim gemini":     false,
		"bash":           false,
		"":               false,
		"node":           false,
	} {
		if got := startsAgent(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// The version is that of the package that contains the program: the agent's own or its
// platform's, found through a link or through the script that an interpreter was given.
func TestPackageVersion(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"node_modules/@google/gemini-cli/package.json":      `{"name":"@google/gemini-cli","version":"0.61.0"}`,
		"node_modules/@google/gemini-cli/bundle/gemini.sh":  "#!/bin/sh\nread x\n",
		"node_modules/opencode-linux-x64/package.json":      `{"name":"opencode-linux-x64","version":"1.18.33"}`,
		"node_modules/opencode-linux-x64/bin/opencode":      "#!/bin/sh\nread x\n",
		"node_modules/other/package.json":                   `{"name":"other","version":"7"}`,
		"node_modules/other/a/b/gemini.sh":                  "#!/bin/sh\nread x\n",
		"node_modules/opencode-linux-x64/a/b/c/d/e/deep.sh": "#!/bin/sh\nread x\n",
	} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "gemini")
	if err := os.Symlink(filepath.Join(dir, "node_modules/@google/gemini-cli/bundle/gemini.sh"), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ agent, program, want string }{
		{"gemini", link, "0.61.0"},
		{"opencode", filepath.Join(dir, "node_modules/opencode-linux-x64/bin/opencode"), "1.18.33"},
		{"gemini", filepath.Join(dir, "node_modules/opencode-linux-x64/bin/opencode"), ""},
		{"gemini", filepath.Join(dir, "node_modules/other/a/b/gemini.sh"), ""},
		{"opencode", filepath.Join(dir, "node_modules/opencode-linux-x64/a/b/c/d/e/deep.sh"), ""},
		{"nobody", link, ""},
	} {
		cmd := exec.Command("/bin/sh", c.program)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		args := filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "cmdline")
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if b, _ := os.ReadFile(args); bytes.Contains(b, []byte(c.program)) {
				break // the kernel sets them after Start has returned
			}
		}
		if got := PackageVersion(c.agent, cmd.Process.Pid); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.agent, c.program, got, c.want)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if got := PackageVersion("gemini", 1<<30); got != "" {
		t.Errorf("of no process: %q", got)
	}
}
