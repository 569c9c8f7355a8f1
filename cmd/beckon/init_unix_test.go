//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

// room is a user with a state directory, installed programs, and a private tmux server to type
// into.
type room struct {
	t                   *testing.T
	home, state, beckon string
	socket              string
}

// newRoom makes a room. Without the tools the test is skipped; in CI it fails.
func newRoom(t *testing.T, tools ...string) *room {
	t.Helper()
	if testing.Short() {
		t.Skip("real shells take some seconds")
	}
	for _, tool := range append(tools, "tmux") {
		need.Program(t, tool)
	}
	dir, err := os.MkdirTemp("", "room") // short: a socket's path has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	d := &room{t: t, home: filepath.Join(dir, "my home"), state: filepath.Join(dir, "state"), socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", d.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	d.beckon = filepath.Join(d.home, "bin", "beckon")
	installPrograms(t, filepath.Join(d.home, "bin"))
	if err := os.MkdirAll(filepath.Join(d.home, ".config", "fish"), 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *room) env() []string {
	return []string{"GORACE=" + noNap, "HOME=" + d.home, "BECKON_STATE_DIR=" + d.state, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
}

// hook reports an event of session s1 in the directory cwd to beckon.
func (d *room) hook(name, cwd string) {
	d.t.Helper()
	payload := fmt.Sprintf(`{"session_id":"s1","hook_event_name":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":"npm test"},"prompt":"go on","last_assistant_message":"Done."}`, name, cwd)
	cmd := exec.Command(d.beckon, "hook", name)
	cmd.Stdin, cmd.Env = strings.NewReader(payload), d.env()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		d.t.Fatalf("hook %s: %v %s", name, err, out)
	}
}

// waits makes session s1 wait for a permission.
func (d *room) waits() {
	d.hook("UserPromptSubmit", "/srv/api")
	d.hook("PreToolUse", "/srv/api")
	d.hook("PermissionRequest", "/srv/api")
}

func (d *room) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.home, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *room) tmux(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", d.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = d.env(), d.home
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// start runs argv in a pane of 80 columns.
func (d *room) start(argv ...string) {
	d.tmux(append([]string{"new-session", "-d", "-s", "main", "-x", "80", "-y", "24", "--"}, argv...)...)
}

// enter types a line.
func (d *room) enter(line string) {
	d.tmux("send-keys", "-t", "main", "-l", "--", line)
	d.tmux("send-keys", "-t", "main", "Enter")
}

func (d *room) screen() string { return d.tmux("capture-pane", "-p", "-t", "main") }

// last returns the last line of the screen that is not empty, which has the prompt.
func last(screen string) string {
	screen = strings.TrimRight(screen, "\n ")
	return screen[strings.LastIndexByte(screen, '\n')+1:]
}

// until waits until ok accepts the prompt's line.
func (d *room) until(what string, ok func(prompt string) bool) {
	d.t.Helper()
	screen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if screen = d.screen(); ok(last(screen)) {
			return
		}
	}
	d.t.Fatalf("%s: the screen is\n%s", what, screen)
}

func has(parts ...string) func(string) bool {
	return func(prompt string) bool {
		for _, p := range parts {
			if strings.Count(prompt, p) != 1 {
				return false
			}
		}
		return true
	}
}

// shellCase is a shell with its own configuration, to which beckon's line is added.
type shellCase struct {
	name   string
	argv   []string
	rc     string // the file
	before string // what precedes our line in it
	after  string
	mine   string // what must remain of the user's prompt
	failed string // what it shows after `false`; empty for nothing
}

var shellCases = []shellCase{
	{name: "bash", argv: []string{"bash"}, rc: ".bashrc", before: "set -u\nPS1='[$?] mine> '\n", mine: "mine>", failed: "[1] mine>"},
	{name: "bash with a prompt program", argv: []string{"bash"}, rc: ".bashrc", mine: "{theme}", failed: "{theme} 1",
		before: "theme() { local s=$?; PS1=\"{theme} $s \\$ \"; }\nPROMPT_COMMAND=theme\n"},
	{name: "bash with an array of them", argv: []string{"bash"}, rc: ".bashrc", mine: "{b}", failed: "{b} 1",
		before: "set -u\na() { s=$?; }\nb() { PS1=\"{b} $s \\$ \"; }\nPROMPT_COMMAND=(a b)\n"},
	{name: "bash whose theme comes later", argv: []string{"bash"}, rc: ".bashrc", mine: "{late}",
		after: "late() { PS1='{late} $ '; }\nPROMPT_COMMAND=\"late;$PROMPT_COMMAND\"\n"},
	{name: "zsh", argv: []string{"zsh"}, rc: ".zshrc", before: "setopt nounset\nPROMPT='[%?] mine> '\nRPROMPT='right'\n", mine: "mine>", failed: "[1] mine>"},
	{name: "zsh with a prompt program", argv: []string{"zsh"}, rc: ".zshrc", mine: "{theme}", failed: "{theme} 1",
		before: "setopt prompt_subst\nautoload -Uz add-zsh-hook\ntheme() { local s=$?; PROMPT=\"{theme} $s \"'$(echo sub) '; RPROMPT='right' }\nadd-zsh-hook precmd theme\n"},
	{name: "zsh with ksh options", argv: []string{"zsh"}, rc: ".zshrc", before: "setopt ksh_arrays sh_word_split no_unset warn_create_global\nPROMPT='mine> '\n", mine: "mine>"},
	{name: "fish", argv: []string{"fish"}, rc: ".config/fish/config.fish", mine: "mine>", failed: "[1] mine>",
		before: "set -g fish_greeting\nfunction fish_prompt; echo \"[$status] mine> \"; end\nfunction fish_right_prompt; echo right; end\n"},
	{name: "fish without a right prompt", argv: []string{"fish"}, rc: ".config/fish/config.fish", mine: "mine>",
		before: "set -g fish_greeting\nfunction fish_prompt; echo 'mine> '; end\n"},
	{name: "fish whose theme comes later", argv: []string{"fish"}, rc: ".config/fish/config.fish", mine: "mine>",
		after: "set -g fish_greeting\nfunction fish_prompt; echo 'mine> '; end\nfunction fish_right_prompt; echo right; end\n"},
}

// TestInitShells starts real shells with our line, twice, in their configurations.
func TestInitShells(t *testing.T) {
	for _, c := range shellCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newRoom(t, c.argv[0])
			line := fmt.Sprintf("eval \"$('%s' init %s)\"\n", d.beckon, c.argv[0])
			if c.argv[0] == "fish" {
				line = fmt.Sprintf("'%s' init fish | source\n", d.beckon)
			}
			d.write(c.rc, c.before+line+line+c.after)
			d.start(c.argv...)
			d.until("at first", func(p string) bool { return has(c.mine)(p) && !strings.Contains(p, "!1") })

			d.waits()
			d.enter("true")
			d.until("with a wait", has(c.mine, "!1"))
			if right := strings.Contains(c.before+c.after, "right'") || strings.Contains(c.before+c.after, "echo right"); right && !has("right")(last(d.screen())) {
				t.Errorf("the right prompt is gone:\n%s", d.screen())
			}
			d.enter("false")
			if c.failed != "" {
				d.until("after false", has(c.failed, "!1"))
			}
			d.hook("Stop", "/srv/api")
			d.enter("true")
			d.until("when nobody waits", func(p string) bool { return has(c.mine)(p) && !strings.Contains(p, "!1") })
			if screen := d.screen(); strings.Contains(screen, "not found") || strings.Contains(screen, "unbound") || strings.Contains(screen, "rror") || strings.Contains(screen, "not set") {
				t.Errorf("the shell complains:\n%s", screen)
			}
		})
	}
}
