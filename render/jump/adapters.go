package jump

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"beckon/render"
)

// adapter handles the panes of one kind of terminal.
type adapter struct {
	kind  string // event.Terminal.Kind
	focus func(*move) (string, error)
	read  func(*move) (string, error) // the text in it; nil: the terminal cannot return it
}

// adapters is the table of terminals; any other is left to the user.
var adapters = [...]adapter{
	{"tmux", (*move).tmux, (*move).readTmux},
	{"kitty", focusBy((*move).kitty, "focus-window", "kitty shows window %s"), readBy((*move).kitty, "get-text")},
	{"wezterm", focusBy((*move).wezterm, "activate-pane", "WezTerm shows pane %s"), readBy((*move).wezterm, "get-text")},
	{"zellij", (*move).zellij, (*move).readZellij},
	{"screen", (*move).screen, (*move).readScreen},
	{"iterm2", focusBy((*move).iterm, itermByID, "iTerm2 shows the pane"), readBy((*move).iterm, itermTextOf)},
	{"apple-terminal", focusBy((*move).appleTerminal, terminalByTTY, "Terminal shows the pane"), readBy((*move).appleTerminal, terminalTextOf)},
	{"vscode", editor("code"), nil},
	{"cursor", editor("cursor"), nil},
	{"windsurf", editor("windsurf"), nil},
}

// app makes a terminal do something with the session's pane, and returns its output.
type app func(m *move, run func(Command) (string, error), what string) (string, error)

// focusBy makes the terminal show the pane, and returns did; %s in it is the pane's number.
func focusBy(do app, what, did string) func(*move) (string, error) {
	return func(m *move) (string, error) {
		_, err := do(m, m.do, what)
		_, pane := m.id()
		return strings.Replace(did, "%s", pane, 1), err
	}
}

// readBy makes the terminal return the text of the pane.
func readBy(do app, what string) func(*move) (string, error) {
	return func(m *move) (string, error) { return do(m, m.ask, what) }
}

// kitty accepts commands on the socket that its listen_on names; the id is "pid,window".
// Before 0.31 `kitten` could not do it, but kitty itself always can.
func (m *move) kitty(run func(Command) (string, error), what string) (string, error) {
	_, window := m.id()
	listen := m.row.Pane.Listen
	switch {
	case !isNumber(window):
		return "", m.byHand("kitty gave this pane no id")
	case !strings.HasPrefix(listen, "unix:") && !strings.HasPrefix(listen, "tcp:"):
		return "", &ByHand{"this kitty takes no commands", "set allow_remote_control and listen_on in kitty.conf; it works in " + where(m.row)}
	}
	program := "kitten"
	if _, err := m.Find(program); err != nil {
		program = "kitty"
	}
	out, err := run(Command{Argv: []string{program, "@", "--to", listen, what, "--match", "id:" + window}})
	if err != nil && strings.Contains(out, "No matching windows") {
		return "", isGone("kitty has no window %s", window)
	}
	return out, m.failed("kitty", out, err)
}

// wezterm's id is "socket,pane".
func (m *move) wezterm(run func(Command) (string, error), what string) (string, error) {
	socket, pane := m.id()
	if !isNumber(pane) {
		return "", m.byHand("WezTerm gave this pane no id")
	}
	c := Command{Argv: []string{"wezterm", "cli", "--no-auto-start", what, "--pane-id", pane}}
	if socket != "" {
		c.Env = []string{"WEZTERM_UNIX_SOCKET=" + socket}
	}
	out, err := run(c)
	if err != nil && strings.Contains(out, "pane") && strings.Contains(out, "not found") {
		return "", isGone("WezTerm has no pane %s", pane)
	}
	return out, m.failed("wezterm", out, err)
}

// zellij's id is "session,pane". Its client switches to another session only from inside; both
// commands need Zellij 0.44. For a missing pane it exits 0.
func (m *move) zellij() (string, error) {
	session, pane, err := m.named("Zellij gave this pane no id")
	if err != nil {
		return "", err
	}
	c := Command{Argv: []string{"zellij", "--session", session, "action", "focus-pane-id", "terminal_" + pane}}
	if here := m.Getenv("ZELLIJ_SESSION_NAME"); here != "" && here != session {
		c.Argv = []string{"zellij", "action", "switch-session", "--pane-id", pane, session}
	}
	out, err := m.do(c)
	if err := zellijSays(out, err, session, pane); err != nil {
		return "", err
	}
	return fmt.Sprintf("Zellij shows pane %s of session %s", pane, render.OneLine(session)), nil
}

func (m *move) readZellij() (string, error) {
	session, pane, err := m.named("Zellij gave this pane no id")
	if err != nil {
		return "", err
	}
	out, err := m.ask(Command{Argv: []string{"zellij", "--session", session, "action", "dump-screen", "--pane-id", "terminal_" + pane}})
	if err != nil { // a pane may contain any words
		return "", zellijSays(out, err, session, pane)
	}
	return out, nil
}

// zellijSays returns why Zellij did not do something, nil if it did.
func zellijSays(out string, err error, session, pane string) error {
	switch {
	case strings.Contains(out, "not found"):
		return isGone("Zellij session %q has no pane %s", render.OneLine(session), pane)
	case err != nil:
		return &ByHand{"Zellij did not do it: " + cmp.Or(render.FirstLine(out), err.Error()), "zellij attach " + quote(session)}
	}
	return nil
}

// readScreen makes screen write what the window shows. It does so after its command has ended,
// one file after the other: when the second exists, the first is complete.
func (m *move) readScreen() (string, error) {
	session, window, err := m.named("screen gave this window no number")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "beckon-screen-") // private to the user
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	shown, after := filepath.Join(dir, "shown"), filepath.Join(dir, "after")
	for _, file := range []string{shown, after} {
		if out, err := m.ask(Command{Argv: []string{"screen", "-S", session, "-p", window, "-X", "hardcopy", file}}); err != nil {
			return "", m.failed("screen", out, err)
		}
	}
	for end := time.Now().Add(screenTime); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(after); err == nil {
			b, err := os.ReadFile(shown)
			return string(b), err
		}
		if time.Now().After(end) || m.ctx.Err() != nil {
			return "", isGone("screen session %q shows no window %s", render.OneLine(session), window)
		}
	}
}

// screenTime is how long screen may take to write what a window shows.
const screenTime = 2 * time.Second

func (m *move) screen() (string, error) {
	session, window, err := m.named("screen gave this window no number")
	if err != nil {
		return "", err
	}
	out, err := m.do(Command{Argv: []string{"screen", "-S", session, "-X", "select", window}})
	if err != nil {
		return "", &ByHand{"screen did not do it: " + cmp.Or(render.FirstLine(out), err.Error()), "screen -x " + quote(session)}
	}
	return fmt.Sprintf("screen shows window %s of %s", window, render.OneLine(session)), nil
}

// iterm runs a script for the pane. Its id is a GUID, preceded by the place "w0t1p0:" if an
// HTTP client sent it.
func (m *move) iterm(run func(Command) (string, error), script string) (string, error) {
	id := m.row.Pane.ID[strings.LastIndexByte(m.row.Pane.ID, ':')+1:]
	if id == "" || strings.Trim(id, "0123456789abcdefABCDEF-") != "" {
		return "", m.byHand("iTerm2 gave this pane no id")
	}
	return m.apple(run, "iTerm2", script, id)
}

// appleTerminal runs a script for the tab. Terminal identifies its tabs to scripts only by
// their tty, which the process knows.
func (m *move) appleTerminal(run func(Command) (string, error), script string) (string, error) {
	if m.row.Process == nil {
		return "", m.byHand("Terminal's tabs are found by their process, and it is not known")
	}
	out, err := m.ask(Command{Argv: []string{"ps", "-o", "tty=", "-p", strconv.Itoa(m.row.Process.Pid)}})
	tty := strings.TrimSpace(out)
	if err != nil || !strings.HasPrefix(tty, "tty") || strings.Trim(tty, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return "", isGone("process %d has no terminal", m.row.Process.Pid)
	}
	return m.apple(run, "Terminal", script, "/dev/"+tty)
}

// apple runs a script that looks for one pane of an application. It returns what the script
// prints below "found"; "gone" means that there is no such pane.
func (m *move) apple(run func(Command) (string, error), app, script, arg string) (string, error) {
	if m.OS != "darwin" {
		return "", m.byHand("%s runs on a Mac, and this is not one", app)
	}
	out, err := run(Command{Argv: []string{"osascript", "-e", script, arg}})
	if err == nil && strings.TrimSpace(out) == "gone" {
		return "", isGone("%s has no such pane", app)
	}
	return strings.TrimPrefix(out, "found\n"), m.failed("osascript", out, err)
}

// editor opens the session's directory: an editor that has it open brings that window to the
// front. It does not use --reuse-window, which would replace another project's window. The
// editor's terminal tabs have no ids.
func editor(program string) func(*move) (string, error) {
	return func(m *move) (string, error) {
		dir := m.row.Cwd
		if g := m.row.Git; g != nil && g.Worktree != "" {
			dir = g.Worktree
		}
		if !absolute(dir) {
			return "", m.byHand("the directory that %s has open is not known", program)
		}
		out, err := m.do(Command{Argv: []string{program, dir}})
		if err != nil {
			return "", m.failed(program, out, err)
		}
		return fmt.Sprintf("%s shows %s; pick the terminal there", program, render.OneLine(dir)), nil
	}
}

// id splits the pane's id at its last comma.
func (m *move) id() (before, after string) {
	id := m.row.Pane.ID
	i := strings.LastIndexByte(id, ',')
	return id[:max(i, 0)], id[i+1:]
}

// named splits the id "session,number" of a multiplexer's pane; lack is the error if it has
// another form.
func (m *move) named(lack string) (session, number string, err error) {
	session, number = m.id()
	if !isNumber(number) || session == "" || session[0] == '-' {
		return "", "", m.byHand("%s", lack)
	}
	return session, number, nil
}

func isNumber(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}
