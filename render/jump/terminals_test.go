package jump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/state"
)

// desk is a PATH that has only fake programs.
type desk struct {
	t   *testing.T
	env map[string]string
	log string
}

func newDesk(t *testing.T, programs ...string) *desk {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("programs are found by their extension here")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if err := os.Symlink(self, filepath.Join(dir, p)); err != nil {
			t.Fatal(err)
		}
	}
	d := &desk{t: t, env: map[string]string{}, log: filepath.Join(dir, "log")}
	t.Setenv("PATH", dir)
	t.Setenv("FAKE_LOG", d.log)
	return d
}

func (d *desk) jumper(goos string) *Jumper {
	j := New(func(k string) string { return d.env[k] })
	j.OS, j.Host = goos, "desk"
	return j
}

// calls returns how the fake programs were called since the last call.
func (d *desk) calls() (all []call) {
	d.t.Helper()
	data, _ := os.ReadFile(d.log)
	_ = os.Remove(d.log)
	for line := range bytes.Lines(data) {
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			d.t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func sitting(kind, id string) render.Row {
	return render.Row{SessionID: "5ab1e0de", State: state.Permission, NeedsYou: true, Cwd: "/home/u/shop", Host: "desk",
		Process: &render.Process{Pid: 4711}, Pane: event.Terminal{Kind: kind, ID: id}}
}

func argv(words ...string) call { return call{Argv: words} }

// Every terminal gets exactly these commands.
func TestAdapters(t *testing.T) {
	const guid = "3A1B-77"
	listening := sitting("kitty", "991,4")
	listening.Pane.Listen = "unix:/tmp/k-991"
	repo := sitting("cursor", "")
	repo.Git = &event.Git{Worktree: "/home/u/shop"}
	repo.Cwd = "/home/u/shop/web"
	wez := argv("wezterm", "cli", "--no-auto-start", "activate-pane", "--pane-id", "2")
	wez.Env = []string{"WEZTERM_UNIX_SOCKET=/run/wez/gui-sock-77"}
	for _, c := range []struct {
		name     string
		row      render.Row
		os       string
		programs []string
		env      map[string]string
		out      map[string]string // a program's output
		want     []call
		did      string
	}{
		{"kitty", listening, "linux", []string{"kitty"}, nil, nil,
			[]call{argv("kitty", "@", "--to", "unix:/tmp/k-991", "focus-window", "--match", "id:4")}, "kitty shows window 4"},
		{"wezterm", sitting("wezterm", "/run/wez/gui-sock-77,2"), "linux", []string{"wezterm"}, nil, nil,
			[]call{wez}, "WezTerm shows pane 2"},
		{"zellij", sitting("zellij", "work,3"), "linux", []string{"zellij"}, nil, nil,
			[]call{argv("zellij", "--session", "work", "action", "focus-pane-id", "terminal_3")}, "Zellij shows pane 3 of session work"},
		{"zellij, from the same session", sitting("zellij", "work,3"), "linux", []string{"zellij"}, map[string]string{"ZELLIJ_SESSION_NAME": "work"}, nil,
			[]call{argv("zellij", "--session", "work", "action", "focus-pane-id", "terminal_3")}, "Zellij shows pane 3 of session work"},
		{"zellij, from another session", sitting("zellij", "work,3"), "linux", []string{"zellij"}, map[string]string{"ZELLIJ_SESSION_NAME": "home"}, nil,
			[]call{argv("zellij", "action", "switch-session", "--pane-id", "3", "work")}, "Zellij shows pane 3 of session work"},
		{"screen", sitting("screen", "77.pts-1.desk,2"), "linux", []string{"screen"}, nil, nil,
			[]call{argv("screen", "-S", "77.pts-1.desk", "-X", "select", "2")}, "screen shows window 2 of 77.pts-1.desk"},
		{"iterm2", sitting("iterm2", guid), "darwin", []string{"osascript"}, nil, map[string]string{"osascript": "found\n"},
			[]call{argv("osascript", "-e", itermByID, guid)}, "iTerm2 shows pane " + guid},
		{"iterm2, as an HTTP client tells it", sitting("iterm2", "w0t1p0:"+guid), "darwin", []string{"osascript"}, nil, nil,
			[]call{argv("osascript", "-e", itermByID, guid)}, "iTerm2 shows pane " + guid},
		{"vscode", sitting("vscode", ""), "linux", []string{"code"}, nil, nil,
			[]call{argv("code", "/home/u/shop")}, "code shows /home/u/shop; pick the terminal there"},
		{"cursor", repo, "linux", []string{"cursor"}, nil, nil,
			[]call{argv("cursor", "/home/u/shop")}, "cursor shows /home/u/shop; pick the terminal there"},
		{"windsurf", sitting("windsurf", ""), "linux", []string{"windsurf"}, nil, nil,
			[]call{argv("windsurf", "/home/u/shop")}, "windsurf shows /home/u/shop; pick the terminal there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.programs...)
			if c.env != nil {
				d.env = c.env
			}
			for p, out := range c.out {
				t.Setenv("FAKE_OUT_"+p, out)
			}
			j := d.jumper(c.os)
			res, err := j.To(context.Background(), &c.row)
			if err != nil || res.Did != c.did {
				t.Errorf("did %q, %v; want %q", res.Did, err, c.did)
			}
			if got := d.calls(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("ran\n%q, want\n%q", got, c.want)
			}
			if last := res.Commands[len(res.Commands)-1]; !reflect.DeepEqual(last.Argv, c.want[len(c.want)-1].Argv) {
				t.Errorf("tells %q", last.Argv)
			}
			j.DryRun = true
			dry, err := j.To(context.Background(), &c.row)
			if err != nil || !reflect.DeepEqual(dry, res) {
				t.Errorf("a dry run tells %v, %v; want %v", dry, err, res)
			}
			if moved := len(d.calls()); moved != len(c.want)-len(res.Commands) {
				t.Errorf("a dry run ran %d commands", moved)
			}
		})
	}
}

// What cannot be shown from here is left to the user, with its place; a pane that is gone is
// reported as such.
func TestNotFromHere(t *testing.T) {
	dead, alive := false, true
	with := func(r render.Row, f func(*render.Row)) render.Row { f(&r); return r }
	listening := with(sitting("kitty", "9,4"), func(r *render.Row) { r.Pane.Listen = "unix:/tmp/k" })
	for _, c := range []struct {
		name     string
		row      render.Row
		os       string
		programs []string
		fails    string // a program that exits 1
		out      string // what it says
		why, do  string
		gone     bool
	}{
		{"a terminal that takes no commands", sitting("ghostty", ""), "linux", nil, "", "", "ghostty cannot be told to show a pane", "it sits in ghostty, working in /home/u/shop", false},
		{"no terminal at all", sitting("", ""), "linux", nil, "", "", "a terminal that gave no name cannot be told to show a pane", "it sits in a terminal that gave no name", false},
		{"a program that is not there", sitting("wezterm", "/s,1"), "linux", nil, "", "", "wezterm is not in the PATH", "it sits in wezterm", false},
		{"kitty without a socket", sitting("kitty", "9,4"), "linux", []string{"kitty"}, "", "", "this kitty takes no commands", "set allow_remote_control and listen_on in kitty.conf", false},
		{"kitty's window is closed", listening, "linux", []string{"kitty"}, "kitty", "Error: No matching windows for expression: id:4", "kitty has no window 4", "", true},
		{"kitty refuses", listening, "linux", []string{"kitty"}, "kitty", "Remote control is disabled\x1b[31m", "kitty says: Remote control is disabled[31m", "it sits in kitty", false},
		{"WezTerm's pane is closed", sitting("wezterm", "/s,1"), "linux", []string{"wezterm"}, "wezterm", "ERROR wezterm > pane 1 not found; terminating", "WezTerm has no pane 1", "", true},
		{"Zellij's pane is closed", sitting("zellij", "w,1"), "linux", []string{"zellij"}, "", "Pane with id Terminal(1) not found", "Zellij has no pane 1 of session w", "", true},
		{"a Zellij that cannot", sitting("zellij", "w,1"), "linux", []string{"zellij"}, "zellij", "error: unrecognized subcommand", "Zellij did not do it: error: unrecognized subcommand", "zellij attach w", false},
		{"a Zellij session that looks like an option", sitting("zellij", "-x,1"), "linux", []string{"zellij"}, "", "", "Zellij gave this pane no id", "it sits in zellij", false},
		{"screen has ended", sitting("screen", "7.a,1"), "linux", []string{"screen"}, "screen", "No screen session found.", "screen did not do it: No screen session found.", "screen -x 7.a", false},
		{"iTerm2's pane is closed", sitting("iterm2", "A-1"), "darwin", []string{"osascript"}, "", "gone\n", "iTerm2 has no pane A-1", "", true},
		{"a Mac's terminal elsewhere", sitting("iterm2", "A-1"), "linux", nil, "", "", "iTerm2 runs on a Mac, and this is not one", "it sits in iterm2", false},
		{"an id that is a script", sitting("iterm2", `A" & do shell script "x`), "darwin", []string{"osascript"}, "", "", "iTerm2 gave this pane no id", "", false},
		{"an editor and a relative directory", with(sitting("vscode", ""), func(r *render.Row) { r.Cwd = "--install-extension" }), "linux", []string{"code"}, "", "", "the directory that code has open is not known", "", false},
		{"the session is over", with(sitting("kitty", "9,4"), func(r *render.Row) { r.State = state.Ended }), "linux", nil, "", "", "the session is over", "", true},
		{"its process is gone", with(sitting("kitty", "9,4"), func(r *render.Row) { r.Process.Alive = &dead }), "linux", nil, "", "", "its process has ended", "", true},
		{"another machine", with(sitting("kitty", "9,4"), func(r *render.Row) { r.Host = "u@build" }), "linux", nil, "", "", "it runs on u@build", "go to that machine", false},
		{"another host name of this machine", with(sitting("ghostty", ""), func(r *render.Row) { r.Host, r.Process.Alive = "old-name", &alive }), "linux", nil, "", "", "ghostty cannot", "", false},
		{"another host's list", with(sitting("tmux", "x"), func(r *render.Row) { r.Remote = &render.Remote{Name: "build", Asked: true} }), "linux", nil, "", "", "it runs on build", "ssh -t build beckon jump 5ab1e0de", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.programs...)
			for _, p := range c.programs {
				t.Setenv("FAKE_OUT_"+p, c.out)
			}
			if c.fails != "" {
				t.Setenv("FAKE_EXIT_"+c.fails, "1")
			}
			_, err := d.jumper(c.os).To(context.Background(), &c.row)
			if err == nil || !strings.Contains(err.Error(), c.why) || errors.Is(err, ErrGone) != c.gone {
				t.Errorf("error %v, gone %v; want %q, %v", err, errors.Is(err, ErrGone), c.why, c.gone)
			}
			var hand *ByHand
			if errors.As(err, &hand) == c.gone || !c.gone && !strings.Contains(hand.Do, c.do) {
				t.Errorf("%+v, want to do %q", err, c.do)
			}
		})
	}
}

// A terminal that does not answer delays nobody.
func TestHangingTerminal(t *testing.T) {
	d := newDesk(t, "wezterm")
	t.Setenv("FAKE_HANG_wezterm", "1")
	start := time.Now()
	row := sitting("wezterm", "/s,1")
	_, err := d.jumper("linux").To(context.Background(), &row)
	if err == nil || !strings.Contains(err.Error(), "did not answer in 2s") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 10*Timeout {
		t.Errorf("it took %v", took)
	}
}
