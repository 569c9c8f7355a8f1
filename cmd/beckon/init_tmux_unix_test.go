//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inner runs a command of the tmux server under test.
func (d *room) inner(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", d.socket + "i"}, args...)...)
	cmd.Env = d.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// attach starts a second tmux with the configuration conf inside the first, so that its status
// line is visible.
func (d *room) attach(conf string) {
	d.write("tmux.conf", conf)
	d.t.Cleanup(func() { _ = exec.Command("tmux", "-S", d.socket+"i", "kill-server").Run() })
	d.start("tmux", "-S", d.socket+"i", "-f", filepath.Join(d.home, "tmux.conf"), "new-session", "-s", "in", "sh")
}

// TestInitTmux loads the snippet into a real tmux, twice, and checks its status line, its keys
// and its hook.
func TestInitTmux(t *testing.T) {
	t.Parallel()
	d := newRoom(t)
	line := fmt.Sprintf("run-shell \"'%s' init tmux | tmux source-file -\"\n", d.beckon)
	d.attach("set -g status-right 'mine'\nset -g status-right-length 60\nset -g status-interval 1\nset-hook -g pane-focus-in 'set -g @mine yes'\n" + line + line)
	d.until("at first", has("mine"))
	d.waits()
	d.until("with a wait", has("mine", "!1"))
	d.hook("Stop", "/srv/api")
	d.until("when nobody waits", func(p string) bool { return has("mine")(p) && !strings.Contains(p, "!1") })

	keys := d.inner("list-keys", "-T", "prefix")
	for _, want := range []string{"beckon' jump next", "beckon' watch"} {
		if strings.Count(keys, want) != 1 {
			t.Errorf("keys have %q %d times:\n%s", want, strings.Count(keys, want), keys)
		}
	}
	hooks := d.inner("show-hooks", "-g", "pane-focus-in")
	if strings.Count(hooks, "beckon' seen --pane") != 1 || !strings.Contains(hooks, "@mine") {
		t.Errorf("hooks are\n%s", hooks)
	}
	if got := d.inner("show-options", "-gv", "focus-events"); got != "on" {
		t.Errorf("focus-events is %q", got)
	}
}

// Keys that the user has bound stay the user's, and so does the interval.
func TestInitTmuxKeepsKeys(t *testing.T) {
	t.Parallel()
	d := newRoom(t)
	d.attach(fmt.Sprintf("bind-key b display-message mine\nset -g status-interval 9\nrun-shell \"'%s' init tmux --popup N | tmux source-file -\"\n", d.beckon))
	d.until("at first", func(p string) bool {
		return strings.Contains(p, "[in]") && strings.Contains(d.inner("show-hooks", "-g", "pane-focus-in"), "seen")
	})
	keys := d.inner("list-keys", "-T", "prefix")
	if strings.Contains(keys, "jump next") || !strings.Contains(keys, "display-message mine") || !strings.Contains(keys, "beckon' watch") {
		t.Errorf("keys are\n%s", keys)
	}
	if got := d.inner("show-options", "-gv", "status-interval"); got != "9" {
		t.Errorf("status-interval is %s", got)
	}
}

// A tmux that does not pass notifications on to its terminal shows them itself, and everything
// that speaks of them says so.
func TestNotifyInTmux(t *testing.T) {
	t.Parallel()
	d := newRoom(t)
	d.write("run", fmt.Sprintf("while read what; do '%s' $what; echo exit $?; done", d.beckon))
	d.attach("set -g history-limit 0\n")
	d.until("at first", has("[in]"))
	if exec.Command("tmux", "-S", d.socket+"i", "show-options", "-gv", "allow-passthrough").Run() != nil {
		t.Skip("this tmux passes everything on")
	}
	d.enter("sh ./run")
	for _, c := range []struct{ option, what, says, exit string }{
		{"off", "notify test --channel terminal", "allow-passthrough is off, so its status line shows", "exit 0"},
		{"off", "setup notify", "allow-passthrough is off, so its status line shows", "exit 0"},
		{"off", "doctor", "allow-passthrough is off, so its status line shows", "exit 1"},
		{"on", "notify test --channel terminal", "terminal: sent", "exit 0"},
		{"on", "notify log", "windows in the background send: allow-passthrough is on", "exit 0"},
		{"on", "doctor", "windows in the background send: allow-passthrough is on", "exit 1"},
	} {
		d.inner("set-option", "-g", "allow-passthrough", c.option)
		d.inner("send-keys", "-R")
		d.enter(c.what)
		if c.option == "off" && strings.HasPrefix(c.what, "notify test") {
			d.until("the status line", has("beckon needs nothing: This is a test."))
		}
		within(t, c.what, func() bool { return strings.Contains(d.screen(), c.exit) })
		if screen := strings.ReplaceAll(d.screen(), "\n", ""); !strings.Contains(screen, c.says) {
			t.Errorf("%s with allow-passthrough %s:\n%s", c.what, c.option, screen)
		}
	}
}

// A session's name is text, whatever tmux would interpret in it.
func TestTmuxShowsNamesAsText(t *testing.T) {
	t.Parallel()
	d := newRoom(t)
	evil := filepath.Join(d.home, "#[fg=red]a#(touch $HOME~owned)#{pid}%H")
	if err := os.MkdirAll(evil, 0o700); err != nil {
		t.Fatal(err)
	}
	d.hook("UserPromptSubmit", evil)
	d.hook("PreToolUse", evil)
	d.hook("PermissionRequest", evil)
	d.attach(fmt.Sprintf("set -g status-interval 1\nset -g status-right-length 70\nset -g status-right \"#('%s' prompt --for tmux --format '<{first}>')\"\n", d.beckon))
	d.until("the name", has("<#[fg=red]a#(touch $HOM"))
	found, _ := filepath.Glob(filepath.Dir(d.home) + "/*owned*")
	more, _ := filepath.Glob(d.home + "*owned*")
	if len(found)+len(more) > 0 {
		t.Errorf("tmux ran what a directory is called: %q", append(found, more...))
	}
}

// The names of directories are text in zsh's and bash's prompts, too.
func TestShellsShowNamesAsText(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh"} {
		d := newRoom(t, shell)
		evil := filepath.Join(d.home, "%F{red}$(id)`id`")
		if err := os.MkdirAll(evil, 0o700); err != nil {
			t.Fatal(err)
		}
		d.hook("UserPromptSubmit", evil)
		d.hook("PermissionRequest", evil)
		rc := "." + shell + "rc"
		snippet := strings.ReplaceAll(d.snippet(shell), " prompt 2>", " prompt --format '<{first}>' 2>")
		d.write(rc, "PS1='mine> '\nsetopt prompt_subst 2>/dev/null\n"+snippet)
		d.start(shell)
		d.until(shell, has("mine>", "<%F{red}$(id)`id`>"))
	}
}

func (d *room) snippet(shell string) string {
	d.t.Helper()
	cmd := exec.Command(d.beckon, "init", shell)
	cmd.Env = d.env()
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatal(err)
	}
	return string(out)
}

// The starship module is TOML, and its command runs.
func TestInitStarship(t *testing.T) {
	t.Parallel()
	d := newRoom(t, "python3")
	d.write("s.toml", d.snippet("starship"))
	d.waits()
	python, err := exec.LookPath("python3") // by its path, from which it finds its library
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import tomllib, subprocess, sys
m = tomllib.load(open(sys.argv[1], "rb"))["custom"]["beckon"]
assert m["when"] is True and m["format"] == "[($output )]($style)" and m["style"] == "bold red", m
print(subprocess.run(m["shell"] + ["-c", m["command"]], capture_output=True, text=True, check=True).stdout, end="")`, filepath.Join(d.home, "s.toml"))
	cmd.Env = d.env()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "!1\n" {
		t.Errorf("%v: %q", err, out)
	}
}
