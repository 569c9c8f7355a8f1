package evidence

import (
	"path"
	"strconv"
	"strings"

	"beckon/event"
)

// env reads one environment variable; empty and absent are the same.
type env = func(string) string

// Terminal returns the terminal an agent sits in, from the environment alone:
// no process is asked, no socket opened.
//
// The innermost wins. A multiplexer is innermost when its variables are set,
// unless a terminal that was started from inside it has put its own name over
// the multiplexer's; among terminals, the one whose name is in TERM or
// TERM_PROGRAM wins over one that only left variables behind. Limits: tmux
// inside Zellij and Zellij inside tmux look the same (tmux is taken); inside a
// multiplexer Outer is what its server inherited when it started, so it may be
// out of date; Ghostty, VS Code, Warp and others give their panes no id, so
// their ID is empty.
//
// Only names and ids are kept, never a token: VS Code's IPC handles and the
// client's messaging socket are not read.
func Terminal(getenv func(string) string) event.Terminal {
	t := innermost(getenv)
	t.SSH = getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" || getenv("SSH_CLIENT") != ""
	t.ID = clean(t.ID, event.MaxID)
	t.Kind = clean(t.Kind, event.MaxID)
	if t.Kind == "kitty" && t.ID != "" {
		t.Listen = clean(getenv("KITTY_LISTEN_ON"), event.MaxPath)
	}
	return t
}

func innermost(getenv env) event.Terminal {
	if tm, ok := tmuxOf(getenv); ok {
		return event.Terminal{Kind: "tmux", ID: tmuxID(tm), Tmux: tm, Outer: outer(getenv)}
	}
	if s := getenv("ZELLIJ_SESSION_NAME"); s != "" {
		return event.Terminal{Kind: "zellij", ID: pair(s, getenv("ZELLIJ_PANE_ID")), Outer: outer(getenv)}
	}
	if s := getenv("STY"); s != "" {
		return event.Terminal{Kind: "screen", ID: pair(s, getenv("WINDOW")), Outer: outer(getenv)}
	}
	kind, id := program(getenv)
	if tty := getenv("SSH_TTY"); tty != "" && id == "" {
		return event.Terminal{Kind: "ssh", ID: pair(clientPort(getenv), tty), Outer: clean(kind, event.MaxID)}
	}
	return event.Terminal{Kind: kind, ID: id}
}

// pair joins the two halves of an id; without the second there is no id.
func pair(within, pane string) string {
	if pane == "" {
		return ""
	}
	return within + "," + pane
}

// clientPort is the client's port of an SSH connection ("ip port ip port"):
// enough to tell two connections apart, and not where the user is.
func clientPort(getenv env) string {
	f := strings.Fields(getenv("SSH_CONNECTION"))
	if len(f) != 4 {
		return ""
	}
	return f[1]
}

// tmuxOf reads $TMUX (socket,server pid,session index) and $TMUX_PANE. The
// socket's path may hold commas, so the parts are counted from the end.
func tmuxOf(getenv env) (event.Tmux, bool) {
	v := getenv("TMUX")
	if v == "" || overTmux(getenv) {
		return event.Tmux{}, false
	}
	last := strings.LastIndexByte(v, ',')
	if last < 0 {
		return event.Tmux{}, false
	}
	mid := strings.LastIndexByte(v[:last], ',')
	if mid <= 0 {
		return event.Tmux{}, false
	}
	server, err := strconv.Atoi(v[mid+1 : last])
	if err != nil || server <= 0 {
		return event.Tmux{}, false
	}
	return event.Tmux{
		Socket:  clean(v[:mid], event.MaxPath),
		Server:  server,
		Pane:    tmuxPane(getenv("TMUX_PANE")),
		Session: clean(getenv("BECKON_TMUX_SESSION"), event.MaxID),
	}, true
}

// overTmux reports whether a terminal started from inside tmux (an editor
// opened from a pane, say) has taken its place: tmux since 3.2 puts its own
// name into TERM_PROGRAM, and any version starts TERM with screen or tmux
// unless told otherwise. macOS starts its own two without the environment of
// whoever asked, so their names are what an older tmux inherited.
func overTmux(getenv env) bool {
	switch getenv("TERM_PROGRAM") {
	case "", "tmux", "iTerm.app", "Apple_Terminal":
		return false
	}
	return !multiplexerTerm(getenv("TERM"))
}

func multiplexerTerm(term string) bool {
	return strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux")
}

func tmuxPane(v string) string {
	if len(v) > 1 && v[0] == '%' && digits(v[1:]) {
		return v
	}
	return ""
}

func tmuxID(t event.Tmux) string {
	if t.Pane == "" {
		return ""
	}
	return t.Socket + "," + strconv.Itoa(t.Server) + "," + t.Pane
}

// outer names the terminal program around a multiplexer: its own TERM and
// TERM_PROGRAM hide those of the program around it.
func outer(getenv env) string {
	kind, _ := program(func(k string) string {
		v := getenv(k)
		if k == "TERM" && multiplexerTerm(v) || k == "TERM_PROGRAM" && v == "tmux" {
			return ""
		}
		return v
	})
	return clean(kind, event.MaxID)
}

// program returns the terminal program and the id it gave this pane.
func program(getenv env) (kind, id string) {
	for _, of := range [...]func(env) (string, string){byTerm, byEditor, byName, byTrace} {
		if kind, id = of(getenv); kind != "" {
			return kind, id
		}
	}
	return "", ""
}

// byTerm trusts TERM where it names a program and a variable of that program
// is there too: ssh carries TERM to another machine, but not the rest.
func byTerm(getenv env) (kind, id string) {
	switch term := getenv("TERM"); {
	case term == "xterm-kitty" && getenv("KITTY_PID") != "":
		return kitty(getenv)
	case term == "xterm-ghostty" && getenv("GHOSTTY_RESOURCES_DIR") != "":
		return "ghostty", ""
	case strings.HasPrefix(term, "alacritty") && getenv("ALACRITTY_WINDOW_ID") != "":
		return alacritty(getenv)
	}
	return "", ""
}

// byEditor knows the terminals inside editors: they are often started from
// another terminal, whose variables they inherit.
func byEditor(getenv env) (kind, id string) {
	switch {
	case getenv("TERM_PROGRAM") == "vscode":
		return editor(getenv), ""
	case strings.HasPrefix(getenv("TERMINAL_EMULATOR"), "JetBrains"):
		return "jetbrains", getenv("TERM_SESSION_ID")
	}
	return "", ""
}

// editor tells the editors made from VS Code apart, where they can be told.
func editor(getenv env) string {
	if getenv("CURSOR_TRACE_ID") != "" {
		return "cursor"
	}
	// The path of the editor's own program; looked at, not kept.
	exe := strings.ToLower(strings.ReplaceAll(getenv("VSCODE_GIT_ASKPASS_NODE"), `\`, "/"))
	for _, name := range [...]string{"cursor", "windsurf"} {
		if strings.HasPrefix(path.Base(exe), name) || strings.Contains(exe, "/."+name+"-server/") {
			return name
		}
	}
	return "vscode"
}

// byName reads TERM_PROGRAM, which most terminals set. One that is not in the
// list is called by its own name, in lower case.
func byName(getenv env) (kind, id string) {
	switch name := getenv("TERM_PROGRAM"); name {
	case "iTerm.app":
		return iterm(getenv)
	case "Apple_Terminal":
		return "apple-terminal", getenv("TERM_SESSION_ID")
	case "WezTerm":
		return wezterm(getenv)
	case "WarpTerminal":
		return "warp", ""
	case "tmux":
		return "", "" // a tmux whose own variables were taken away
	default:
		return strings.ToLower(name), ""
	}
}

// byTrace knows terminals that set neither TERM nor TERM_PROGRAM to their own
// name, and those whose name a multiplexer hides.
func byTrace(getenv env) (kind, id string) {
	switch {
	case getenv("KITTY_WINDOW_ID") != "":
		return kitty(getenv)
	case getenv("ITERM_SESSION_ID") != "" || getenv("LC_TERMINAL") == "iTerm2":
		return iterm(getenv)
	case getenv("WEZTERM_PANE") != "":
		return wezterm(getenv)
	case getenv("GHOSTTY_RESOURCES_DIR") != "":
		return "ghostty", ""
	case getenv("WT_SESSION") != "":
		return "windows-terminal", getenv("WT_SESSION")
	case getenv("KONSOLE_DBUS_SESSION") != "":
		return "konsole", pair(getenv("KONSOLE_DBUS_SERVICE"), getenv("KONSOLE_DBUS_SESSION"))
	case getenv("GNOME_TERMINAL_SCREEN") != "":
		return "gnome-terminal", path.Base(getenv("GNOME_TERMINAL_SCREEN"))
	case getenv("ALACRITTY_WINDOW_ID") != "":
		return alacritty(getenv)
	case getenv("VSCODE_INJECTION") != "":
		return editor(getenv), ""
	}
	return "", ""
}

// kitty's window ids count from 1 in each process, so the process is part of
// the id. Without it (kitty's ssh kitten) there is no id.
func kitty(getenv env) (kind, id string) {
	if pid := getenv("KITTY_PID"); pid != "" {
		return "kitty", pair(pid, getenv("KITTY_WINDOW_ID"))
	}
	return "kitty", ""
}

// iterm's id is "w0t1p0:GUID"; the part before the colon changes when the
// pane is moved.
func iterm(getenv env) (kind, id string) {
	id = getenv("ITERM_SESSION_ID")
	return "iterm2", id[strings.LastIndexByte(id, ':')+1:]
}

// wezterm's pane ids count from 0 in each server, so its socket, which holds
// the server's pid, is part of the id.
func wezterm(getenv env) (kind, id string) {
	return "wezterm", pair(getenv("WEZTERM_UNIX_SOCKET"), getenv("WEZTERM_PANE"))
}

// alacritty's socket holds its process's pid.
func alacritty(getenv env) (kind, id string) {
	return "alacritty", pair(getenv("ALACRITTY_SOCKET"), getenv("ALACRITTY_WINDOW_ID"))
}
