package jump

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"beckon/event/run"
	"beckon/render"
)

// terminal is what one kind of terminal can do with a pane. In its commands and texts,
// {session} and {pane} stand for the parts of the pane's id; see place.
type terminal struct {
	kind string // event.Terminal.Kind
	name string
	id   string   // an expression for the pane's id, with both parts; empty for an editor
	show []string // the command that brings the pane to the front
	is   string   // the pane, in words
	env  string
	lost string // it prints this if there is no such pane
	hand string // the command for the user if it does not do it
}

// place is a pane's id in parts: the multiplexer's session, socket or process, and the pane.
type place struct{ session, pane string }

// inWindow is what an editor shows that is told to open a directory which it has open: that window.
// Its terminals have no ids. Its --reuse-window would replace another project's window.
const inWindow = "{pane}; pick the terminal there"

// terminals is the table of all but tmux; any other terminal is left to the user.
var terminals = []terminal{
	{
		kind: "kitty", name: "kitty", id: `(.*,)?(\d{1,20})`, is: "window {pane}", lost: "No matching windows",
		show: []string{"kitty", "@", "--to", "{session}", "focus-window", "--match", "id:{pane}"},
	},
	{
		kind: "wezterm", name: "WezTerm", id: `(?:(.*),)?(\d{1,20})`, is: "pane {pane}", lost: "not found",
		show: []string{"wezterm", "cli", "--no-auto-start", "activate-pane", "--pane-id", "{pane}"},
		env:  "WEZTERM_UNIX_SOCKET={session}",
	},
	{ // needs Zellij 0.44
		kind: "zellij", name: "Zellij", id: `([^-].*),(\d{1,20})`, is: "pane {pane} of session {session}", lost: "not found",
		show: []string{"zellij", "--session", "{session}", "action", "focus-pane-id", "terminal_{pane}"},
		hand: "zellij attach {session}",
	},
	{
		kind: "screen", name: "screen", id: `([^-].*),(\d{1,20})`, is: "window {pane} of {session}",
		show: []string{"screen", "-S", "{session}", "-X", "select", "{pane}"}, hand: "screen -x {session}",
	},
	{
		kind: "herdr", name: "herdr", id: `()([^-].*)`, is: "pane {pane}", lost: "not found",
		show: []string{"herdr", "agent", "focus", "{pane}"},
	},
	{
		kind: "iterm2", name: "iTerm2", id: `(.*:)?([\da-fA-F-]+)`, is: "pane {pane}", lost: "gone\n",
		show: []string{"osascript", "-e", itermByID, "{pane}"},
	},
	{kind: "vscode", name: "code", is: inWindow, show: []string{"code", "{pane}"}},
	{kind: "cursor", name: "cursor", is: inWindow, show: []string{"cursor", "{pane}"}},
	{kind: "windsurf", name: "windsurf", is: inWindow, show: []string{"windsurf", "{pane}"}},
}

// The scripts look for one pane, given as their argument, and select it with its tab and window;
// or print "gone". They do not start iTerm2, and refer to panes by number, not by the variable of
// a loop, because "contents of" such a variable is its own value.
var (
	itermByID  = strings.Replace(itermScript, "KEY", "id", 1)
	itermByTTY = strings.Replace(itermScript, "KEY", "tty", 1)
)

const itermScript = `on run argv
	if application "iTerm2" is not running then return "gone"
	tell application "iTerm2"
		repeat with w in windows
			repeat with t in tabs of w
				repeat with i from 1 to count of sessions of t
					if KEY of session i of t is item 1 of argv then
						tell w to select
						tell t to select
						tell session i of t to select
						activate
						return "found"
					end if
				end repeat
			end repeat
		end repeat
	end tell
	return "gone"
end run`

func (p place) fill(s string) string {
	return strings.NewReplacer("{session}", p.session, "{pane}", p.pane).Replace(s)
}

// focus brings the pane to the front, and returns what is on the screen then.
func (m *move) focus(t *terminal) (string, error) {
	p, err := m.place(t)
	if err != nil {
		return "", err
	}
	argv := t.show
	// Zellij's client switches to another session only from inside.
	if here := m.Getenv("ZELLIJ_SESSION_NAME"); t.kind == "zellij" && here != "" && here != p.session {
		argv = []string{"zellij", "action", "switch-session", "--pane-id", "{pane}", "{session}"}
	}
	var c Command
	for _, word := range argv {
		c.Argv = append(c.Argv, p.fill(word))
	}
	if t.env != "" && p.session != "" {
		c.Env = []string{p.fill(t.env)}
	}
	out, err := m.do(c)
	is := render.OneLine(p.fill(t.is))
	var hand *ByHand
	switch {
	case errors.As(err, &hand):
	case t.lost != "" && strings.Contains(out, t.lost): // Zellij and scripts exit 0 then
		err = isGone("%s has no %s", t.name, is)
	case err != nil && t.hand != "":
		said := cmp.Or(render.FirstLine(out), err.Error())
		err = &ByHand{t.name + " did not do it: " + said, place{run.Quote(render.Clean(p.session)), p.pane}.fill(t.hand)}
	default:
		err = m.failed(t.name, out, err)
	}
	return t.name + " shows " + is, err
}

// place returns the parts of the id that the terminal gave the pane; for an editor, which gives none,
// the directory that it has open.
func (m *move) place(t *terminal) (p place, err error) {
	r := m.row
	if t.id == "" {
		if p.pane = r.Cwd; r.Git != nil {
			p.pane = cmp.Or(r.Git.Worktree, p.pane)
		}
		if !absolute(p.pane) {
			err = m.byHand("the directory that %s has open is not known", t.name)
		}
		return p, err
	}
	parts := regexp.MustCompile(`(?s)^` + t.id + `$`).FindStringSubmatch(r.Pane.ID)
	if parts == nil {
		return p, m.byHand("%s gave this pane no id", t.name)
	}
	p = place{parts[1], parts[2]}
	switch {
	case t.kind == "iterm2" && m.OS != "darwin":
		err = m.byHand("%s runs on a Mac, and this is not one", t.name)
	case t.kind == "kitty":
		p.session = r.Pane.Listen
		if !strings.HasPrefix(p.session, "unix:") && !strings.HasPrefix(p.session, "tcp:") {
			err = &ByHand{"this kitty takes no commands",
				"set allow_remote_control and listen_on in kitty.conf; it works in " + where(r)}
		}
	}
	return p, err
}
