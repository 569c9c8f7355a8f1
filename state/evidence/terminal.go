package evidence

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
)

// env returns an environment variable; empty and absent are the same.
type env = func(string) string

// Terminal returns the terminal that an agent sits in, from the environment alone. The innermost program
// wins: a multiplexer if its variables are set, unless a terminal started inside it has replaced its name;
// among terminals, one whose name is in TERM or TERM_PROGRAM. Limits: Zellij inside tmux is taken for tmux;
// Outer is what a multiplexer's server inherited when it started. Only names and ids are kept, never a token.
func Terminal(getenv func(string) string) event.Terminal {
	t := innermost(getenv)
	t.SSH = getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" || getenv("SSH_CLIENT") != ""
	t.ID, t.Kind, t.Outer = clean(t.ID, event.MaxID), clean(t.Kind, event.MaxID), clean(t.Outer, event.MaxID)
	if t.Kind == "kitty" && t.ID != "" {
		t.Listen = clean(getenv("KITTY_LISTEN_ON"), event.MaxPath)
	}
	return t
}

func innermost(getenv env) event.Terminal {
	inTmux := getenv("TERM_PROGRAM") == "tmux" || multiplexerTerm(getenv("TERM"))
	if getenv("HERDR_ENV") == "1" && !inTmux {
		return event.Terminal{Kind: "herdr", ID: getenv("HERDR_PANE_ID"), Outer: outer(getenv)}
	}
	if tm, ok := tmuxOf(getenv); ok {
		t := event.Terminal{Kind: "tmux", Tmux: tm, Outer: outer(getenv)}
		if tm.Pane != "" {
			t.ID = tm.Socket + "," + strconv.Itoa(tm.Server) + "," + tm.Pane
		}
		return t
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
		// The client's port tells two connections apart without keeping where the user is.
		port := ""
		if f := strings.Fields(getenv("SSH_CONNECTION")); len(f) == 4 {
			port = f[1]
		}
		return event.Terminal{Kind: "ssh", ID: pair(port, tty), Outer: kind}
	}
	return event.Terminal{Kind: kind, ID: id}
}

// pair joins the two halves of an id, which is empty without both.
func pair(within, pane string) string {
	if within == "" || pane == "" {
		return ""
	}
	return within + "," + pane
}

// tmuxOf parses $TMUX (socket,server pid,session index; the socket's path may contain commas) and
// $TMUX_PANE. A terminal that was started inside tmux has taken its place: tmux since 3.2 sets
// TERM_PROGRAM to its own name, and any version sets TERM. macOS starts its own two terminals without
// the caller's environment, so their names are what an older tmux inherited.
func tmuxOf(getenv env) (event.Tmux, bool) {
	inherited := []string{"", "tmux", "iTerm.app", "Apple_Terminal"}
	fields := strings.Split(getenv("TMUX"), ",")
	n := len(fields) - 2
	if n < 1 || !slices.Contains(inherited, getenv("TERM_PROGRAM")) && !multiplexerTerm(getenv("TERM")) {
		return event.Tmux{}, false
	}
	socket := strings.Join(fields[:n], ",")
	server, err := strconv.Atoi(fields[n])
	if err != nil || server <= 0 || socket == "" {
		return event.Tmux{}, false
	}
	pane := getenv("TMUX_PANE")
	if number, ok := strings.CutPrefix(pane, "%"); !ok || !digits(number) {
		pane = ""
	}
	session := clean(getenv("BECKON_TMUX_SESSION"), event.MaxID)
	return event.Tmux{Socket: clean(socket, event.MaxPath), Server: server, Pane: pane, Session: session}, true
}

func multiplexerTerm(term string) bool {
	return strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux")
}

// outer names the terminal program around a multiplexer, whose own TERM and TERM_PROGRAM hide it.
func outer(getenv env) string {
	return program(func(k string) string {
		v := getenv(k)
		if k == "TERM" && multiplexerTerm(v) || k == "TERM_PROGRAM" && v == "tmux" {
			return ""
		}
		return v
	})
}

// terminals are the terminal programs that are known by their variables: how TERM begins in one,
// which variable shows that it is one, and which name a pane. An id that counts from 0 or 1 in each
// process has the process before it, or a socket with its pid.
var terminals = [...]struct{ kind, term, shown, within, pane string }{
	{"kitty", "xterm-kitty", "KITTY_WINDOW_ID", "KITTY_PID", "KITTY_WINDOW_ID"},
	{"ghostty", "xterm-ghostty", "GHOSTTY_RESOURCES_DIR", "", ""},
	{"alacritty", "alacritty", "ALACRITTY_WINDOW_ID", "ALACRITTY_SOCKET", "ALACRITTY_WINDOW_ID"},
	{"jetbrains", "", "TERMINAL_EMULATOR", "", "TERM_SESSION_ID"},
	{"iterm2", "", "ITERM_SESSION_ID", "", "ITERM_SESSION_ID"},
	{"iterm2", "", "LC_TERMINAL", "", ""},
	{"wezterm", "", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "WEZTERM_PANE"},
	{"windows-terminal", "", "WT_SESSION", "", "WT_SESSION"},
	{"konsole", "", "KONSOLE_DBUS_SESSION", "KONSOLE_DBUS_SERVICE", "KONSOLE_DBUS_SESSION"},
	{"gnome-terminal", "", "GNOME_TERMINAL_SCREEN", "", "GNOME_TERMINAL_SCREEN"},
	{"apple-terminal", "", "", "", "TERM_SESSION_ID"},
	{"vscode", "", "VSCODE_INJECTION", "", ""},
}

// names are the values of TERM_PROGRAM that are not the program's name in lower case.
var names = map[string]string{"iTerm.app": "iterm2", "Apple_Terminal": "apple-terminal", "WarpTerminal": "warp"}

// program names the terminal program.
func program(getenv env) string {
	name := getenv("TERM_PROGRAM")
	for _, p := range terminals {
		// TERM is trusted if one of the program's variables is set, too: ssh carries TERM to
		// another machine, but not the rest.
		shown := getenv(cmp.Or(p.within, p.shown)) != ""
		if shown && p.term != "" && strings.HasPrefix(getenv("TERM"), p.term) {
			return p.kind
		}
	}
	switch { // editors are often started from another terminal, whose variables theirs inherit
	case name == "vscode":
		return editor(getenv)
	case strings.HasPrefix(getenv("TERMINAL_EMULATOR"), "JetBrains"):
		return "jetbrains"
	case name != "" && name != "tmux": // tmux's name is here only if its own variables were removed
		return cmp.Or(names[name], strings.ToLower(name))
	}
	for _, p := range terminals {
		switch v := getenv(p.shown); {
		case p.shown == "" || v == "", p.kind == "jetbrains", p.shown == "LC_TERMINAL" && v != "iTerm2":
		case p.kind == "vscode":
			return editor(getenv)
		default:
			return p.kind
		}
	}
	return ""
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

// paneOf returns the id that a terminal program gave this pane, if it gave one.
func paneOf(kind string, getenv env) string {
	for _, p := range terminals {
		switch {
		case p.kind != kind || p.pane == "":
		case p.within != "":
			return pair(getenv(p.within), getenv(p.pane))
		default: // iTerm2 writes w0t1p0:GUID, which differs before the colon after a move; GNOME a path
			id := getenv(p.pane)
			return id[strings.LastIndexAny(id, ":/")+1:]
		}
	}
	return ""
}
