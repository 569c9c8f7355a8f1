package evidence

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"beckon/event"
)

func TestOrigin(t *testing.T) {
	r := repo(t, root(t), "shop")
	o := Origin(&event.Event{Agent: "claude-code", Cwd: r}, mapEnv(map[string]string{
		"CLAUDE_CODE_ENTRYPOINT": "cli", "BECKON_AGENT_ID": "0b2c-11", "TMUX": "/tmp/s,77,1", "TMUX_PANE": "%0",
	}))
	here := ThisMachine()
	if o.Git != Git(r) || o.Project != r || o.Entry != "cli" || o.Launcher != "0b2c-11" || o.Terminal.Kind != "tmux" || o.Host != here.Host {
		t.Errorf("got %+v", o)
	}
	if o.Seat != "" || o.ProjectID != ProjectID(o.Git, r) {
		t.Errorf("seat %q, which the store fills in; project %q", o.Seat, o.ProjectID)
	}
	if o.Process.Pid == os.Getpid() {
		t.Error("the hook is not its own agent")
	}
	if o := Origin(&event.Event{Agent: "codex"}, mapEnv(nil)); o.Project != "" || o.Git.Worktree != "" {
		t.Errorf("without a directory there is neither repository nor project: %+v", o)
	}
}

func TestLauncherID(t *testing.T) {
	for s, want := range map[string]bool{
		"0b2c4d6e-8f10-4a2b-9c3d-5e6f708192a3": true, "agent_7": true, "a.b:c": true, "x": true,
		"": false, "two words": false, "-rf": false, "../x": false, "é": false, "a\n": false, strings.Repeat("a", 129): false,
	} {
		if got := LauncherID(s); (got == s && s != "") != want {
			t.Errorf("%q: got %q", s, got)
		}
	}
}

// The hook links this package.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("the go command is not here")
	}
	banned := map[string]string{
		"os/exec": "no subprocess on the hot path", "net/http": "page faults", "net": "page faults",
		"os/user": "reads /etc/passwd",
	}
	for _, dep := range strings.Fields(string(out)) {
		if why, ok := banned[dep]; ok {
			t.Errorf("imports %s: %s", dep, why)
		}
	}
}
