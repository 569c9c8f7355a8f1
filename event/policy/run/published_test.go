//go:build unix

package run

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event/policy/config"
	"beckon/event/policy/wire"
	"beckon/testdata/need"
)

func published(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The validating script blocks one command and lets another pass.
func TestPublishedValidatingScript(t *testing.T) {
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			need.Missing(t, "the script needs %s: %v", tool, err)
		}
	}
	cfg := commandOf(config.Spec{Command: "bash '" + published(t, "validate-command.sh") + "'", Convention: config.Simple})
	cfg.Timeout = 5 * time.Second
	o := runCommand(t, cfg, bashCall("sudo rm -rf / --no-preserve-root"))
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "BLOCKED: Dangerous command" || o.ExitCode != 1 {
		t.Errorf("got %+v", o)
	}
	o = runCommand(t, cfg, bashCall("npm test"))
	if o.Err != nil || o.Decision != wire.Allow || o.Context != "" || !strings.Contains(o.Output, "Tool: Bash\nInput: {\"command\":\"npm test\"") || !strings.HasSuffix(o.Output, "Session: s-1") {
		t.Errorf("got %+v", o)
	}
	cfg.Spec.Convention = "" // then its exit code 1 is a failure, which blocks nothing
	if o := runCommand(t, cfg, bashCall("rm -rf /")); o.Err == nil || o.Decision != wire.Silence {
		t.Errorf("by the client's convention: %+v", o)
	}
}

func TestPublishedLoggingScript(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".code-agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := commandOf(config.Spec{Command: "bash '" + published(t, "log-tool-usage.sh") + "'", Convention: config.Simple}, append(os.Environ(), "HOME="+home)...)
	c := bashCall("npm test")
	c.Event = "PostToolUse"
	if o := runCommand(t, cfg, c); o.Err != nil || o.Decision != wire.Allow {
		t.Fatalf("got %+v", o)
	}
	log, err := os.ReadFile(filepath.Join(home, ".code-agent", "tool-usage.log"))
	if want := " | s-1 | Bash | " + string(c.ToolInput) + "\n"; err != nil || !strings.HasSuffix(string(log), want) {
		t.Errorf("logged %q, %v; want %q", log, err, want)
	}
}

// serve starts a program that listens on $PORT, and waits until it does.
func serve(t *testing.T, command func(port string) *exec.Cmd) handler {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := command(port)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("it does not listen: %v: %s", err, said.String())
		}
	}
	h := newServer(patient("http://127.0.0.1:"+port+"/hook"), 5*time.Second, "")
	return h
}

func within(t *testing.T, h handler, c wire.Call) wire.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return h.Run(ctx, c)
}

// python returns an interpreter that has flask: the first on PATH, or the system's, which has
// the system's packages.
func python(t *testing.T) string {
	t.Helper()
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import flask").Run() == nil {
			return p
		}
	}
	need.Missing(t, "the published python server needs flask (python3-flask)")
	return ""
}

func TestPublishedPythonServer(t *testing.T) {
	interpreter := python(t)
	h := serve(t, func(port string) *exec.Cmd {
		return exec.Command(interpreter, "-m", "flask", "--app", published(t, "flask_server.py"), "run", "--port", port)
	})
	o := within(t, h, bashCall("sudo rm -rf / now"))
	if o.Err != nil || o.Decision != wire.Deny || o.Reason != "Dangerous command detected" || o.Attempts != 1 {
		t.Errorf("got %+v", o)
	}
	for _, c := range []wire.Call{bashCall("ls"), eventCall("Stop", nil), eventCall("UserPromptSubmit", map[string]any{"prompt": "rm -rf /"})} {
		if o := within(t, h, c); o.Err != nil || o.Decision != wire.Allow || o.UpdatedInput != nil {
			t.Errorf("%s: %+v", c.Event, o)
		}
	}
}

// express returns the directory of the package, from the cache into which it is installed
// once; with CI=true it is installed there.
func express(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "beckon-test", "express")
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "express")); err == nil {
		return modules
	}
	if os.Getenv("CI") != "true" {
		t.Skipf("the published node server needs express: npm install --prefix %s express", dir)
	}
	if out, err := exec.Command("npm", "install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "express").CombinedOutput(); err != nil {
		t.Fatalf("npm: %v: %s", err, out)
	}
	return modules
}

func TestPublishedNodeServer(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		need.Missing(t, "the published node server needs node: %v", err)
	}
	modules := express(t)
	h := serve(t, func(port string) *exec.Cmd {
		cmd := exec.Command("node", "-r", published(t, "port.js"), published(t, "express_server.js"))
		cmd.Env = append(os.Environ(), "PORT="+port, "NODE_PATH="+modules)
		return cmd
	})
	write := func(path string) wire.Call {
		c := eventCall("PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": path, "content": "x"}})
		c.ToolName, c.ToolInput = "Write", fmt.Appendf(nil, `{"content":"x","file_path":%q}`, path)
		return c
	}
	o := within(t, h, write("/tmp/a b.txt"))
	if o.Err != nil || o.Decision != wire.Modify || string(o.UpdatedInput) != `{"content":"x","file_path":"/safe/tmp/a b.txt"}` {
		t.Errorf("got %+v %s", o, o.UpdatedInput)
	}
	for _, c := range []wire.Call{write("/home/a"), bashCall("ls"), eventCall("Stop", nil)} {
		if o := within(t, h, c); o.Err != nil || o.Decision != wire.Allow || o.UpdatedInput != nil {
			t.Errorf("%s: %+v", c.Payload, o)
		}
	}
}
