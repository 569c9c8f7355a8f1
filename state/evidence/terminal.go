package evidence

import (
	"path"
	"strconv"
	"strings"

	"beckon/event"
)

// env returns an environment variable; empty and absent are the same.
type env = func(string) string

// Terminal returns the terminal that an agent sits in, from the environment alone: it asks no
// process and opens no socket.
//
// The innermost program wins. A multiplexer is innermost if its variables are set, unless a
// terminal started inside it has replaced its name; among terminals, one whose name is in TERM
// or TERM_PROGRAM wins over one that only left variables behind. Limits: tmux inside Zellij
// and Zellij inside tmux look the same (taken for tmux); inside a multiplexer, Outer is what
// its server inherited when it started, so it may be out of date; Ghostty, VS Code, Warp and
// others give their panes no id, so their ID is empty.
//
// Only names and ids are kept, never a token: VS Code's IPC handles and the client's messaging
// socket are not read.
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
	kind := program(getenv)
	id := paneOf(kind, getenv)
	if tty := getenv("SSH_TTY"); tty != "" && id == "" {
		return event.Terminal{Kind: "ssh", ID: pair(clientPort(getenv), tty), Outer: clean(kind, event.MaxID)}
	}
	return event.Terminal{Kind: kind, ID: id}
}

// pair joins the two halves of an id, which is empty without the second.
func pair(within, pane string) string {
	if pane == "" {
		return ""
	}
	return within + "," + pane
}

// clientPort returns the client's port of an SSH connection ("ip port ip port"): enough to
// tell two connections apart without keeping where the user is.
func clientPort(getenv env) string {
	f := strings.Fields(getenv("SSH_CONNECTION"))
	if len(f) != 4 {
		return ""
	}
	return f[1]
}

// tmuxOf parses $TMUX (socket,server pid,session index) and $TMUX_PANE. The socket's path may
// contain commas, so fields are counted from the end.
func tmuxOf(getenv env) (event.Tmux, bool) {
	fields := strings.Split(getenv("TMUX"), ",")
	n := len(fields) - 2
	if n < 1 || overTmux(getenv) {
		return event.Tmux{}, false
	}
	socket := strings.Join(fields[:n], ",")
	server, err := strconv.Atoi(fields[n])
	if err != nil || server <= 0 || socket == "" {
		return event.Tmux{}, false
	}
	return event.Tmux{
		Socket:  clean(socket, event.MaxPath),
		Server:  server,
		Pane:    tmuxPane(getenv("TMUX_PANE")),
		Session: clean(getenv("BECKON_TMUX_SESSION"), event.MaxID),
	}, true
}

// overTmux reports whether a terminal that was started inside tmux (by an editor in a pane,
// for example) has taken its place. tmux since 3.2 sets TERM_PROGRAM to its own name, and any
// version sets TERM to screen or tmux unless configured otherwise. macOS starts its own two
// terminals without the caller's environment, so their names are what an older tmux inherited.
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

// outer names the terminal program around a multiplexer, whose own TERM and TERM_PROGRAM hide
// it.
func outer(getenv env) string {
	return clean(program(func(k string) string {
		v := getenv(k)
		if k == "TERM" && multiplexerTerm(v) || k == "TERM_PROGRAM" && v == "tmux" {
			return ""
		}
		return v
	}), event.MaxID)
}

// program names the terminal program.
func program(getenv env) string {
	set := func(k string) bool { return getenv(k) != "" }
	term, name := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	// TERM is trusted if it names a program and one of that program's variables is set, too:
	// ssh carries TERM to another machine, but not the rest.
	case term == "xterm-kitty" && set("KITTY_PID"):
		return "kitty"
	case term == "xterm-ghostty" && set("GHOSTTY_RESOURCES_DIR"):
		return "ghostty"
	case strings.HasPrefix(term, "alacritty") && set("ALACRITTY_WINDOW_ID"):
		return "alacritty"
	// The terminals in editors are often started from another terminal, whose variables they
	// inherit.
	case name == "vscode":
		return editor(getenv)
	case strings.HasPrefix(getenv("TERMINAL_EMULATOR"), "JetBrains"):
		return "jetbrains"
	// Most terminals set TERM_PROGRAM. One that is not listed keeps its own name. Tmux's name
	// is here only if its own variables were removed.
	case name == "iTerm.app":
		return "iterm2"
	case name == "Apple_Terminal":
		return "apple-terminal"
	case name == "WarpTerminal":
		return "warp"
	case name != "" && name != "tmux":
		return strings.ToLower(name)
	}
	for _, t := range traces {
		switch v := getenv(t.variable); {
		case v == "" || t.variable == "LC_TERMINAL" && v != "iTerm2":
		case t.kind == "vscode":
			return editor(getenv)
		default:
			return t.kind
		}
	}
	return ""
}

// traces are variables of programs that set neither TERM nor TERM_PROGRAM to their own name,
// or whose name a multiplexer hides.
var traces = [...]struct{ variable, kind string }{
	{"KITTY_WINDOW_ID", "kitty"},
	{"ITERM_SESSION_ID", "iterm2"},
	{"LC_TERMINAL", "iterm2"},
	{"WEZTERM_PANE", "wezterm"},
	{"GHOSTTY_RESOURCES_DIR", "ghostty"},
	{"WT_SESSION", "windows-terminal"},
	{"KONSOLE_DBUS_SESSION", "konsole"},
	{"GNOME_TERMINAL_SCREEN", "gnome-terminal"},
	{"ALACRITTY_WINDOW_ID", "alacritty"},
	{"VSCODE_INJECTION", "vscode"},
}

// editor tells apart the editors that are based on VS Code, where possible.
func editor(getenv env) string {
	if getenv("CURSOR_TRACE_ID") != "" {
		return "cursor"
	}
	// The path of the editor's own program: examined, not kept.
	exe := strings.ToLower(strings.ReplaceAll(getenv("VSCODE_GIT_ASKPASS_NODE"), `\`, "/"))
	for _, name := range [...]string{"cursor", "windsurf"} {
		if strings.HasPrefix(path.Base(exe), name) || strings.Contains(exe, "/."+name+"-server/") {
			return name
		}
	}
	return "vscode"
}

// paneOf returns the id that a terminal program gave this pane. An id that counts from 0 or 1
// in each process is preceded by the process, or by a socket with its pid; without that
// (kitty's ssh kitten) there is no id.
func paneOf(kind string, getenv env) string {
	switch kind {
	case "kitty":
		if pid := getenv("KITTY_PID"); pid != "" {
			return pair(pid, getenv("KITTY_WINDOW_ID"))
		}
	case "iterm2": // w0t1p0:GUID: the part before the colon changes when the pane is moved
		id := getenv("ITERM_SESSION_ID")
		return id[strings.LastIndexByte(id, ':')+1:]
	case "wezterm":
		return pair(getenv("WEZTERM_UNIX_SOCKET"), getenv("WEZTERM_PANE"))
	case "alacritty":
		return pair(getenv("ALACRITTY_SOCKET"), getenv("ALACRITTY_WINDOW_ID"))
	case "konsole":
		return pair(getenv("KONSOLE_DBUS_SERVICE"), getenv("KONSOLE_DBUS_SESSION"))
	case "jetbrains", "apple-terminal":
		return getenv("TERM_SESSION_ID")
	case "windows-terminal":
		return getenv("WT_SESSION")
	case "gnome-terminal":
		if screen := getenv("GNOME_TERMINAL_SCREEN"); screen != "" {
			return path.Base(screen)
		}
	}
	return ""
}
