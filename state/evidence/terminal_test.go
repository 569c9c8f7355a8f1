package evidence

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"beckon/event"
)

func TestTerminal(t *testing.T) {
	type vars = map[string]string
	tmux := event.Tmux{Socket: "/tmp/tmux-1000/default", Server: 2112, Pane: "%3"}
	const tmuxID = "/tmp/tmux-1000/default,2112,%3"
	for _, tt := range []struct {
		name string
		env  vars
		want event.Terminal
	}{
		{"none", vars{}, event.Terminal{}},
		{"tmux as recorded", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "xterm-256color"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux}},
		{"tmux in iTerm2", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "ITERM_SESSION_ID": "w0t0p0:A-B"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "iterm2"}},
		{"tmux before 3.2, the outer name left over", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "screen-256color", "TERM_PROGRAM": "Apple_Terminal"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "apple-terminal"}},
		{"tmux before 3.2 that was told another TERM", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "ITERM_SESSION_ID": "w0t0p0:A"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "iterm2"}},
		{"tmux in kitty", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "screen", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1", "KITTY_PID": "9"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "kitty"}},
		{"tmux over ssh", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "screen", "SSH_CONNECTION": "10.0.0.9 50001 10.0.0.1 22", "SSH_TTY": "/dev/pts/4"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, SSH: true}},
		{"tmux with a launcher's session name", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "BECKON_TMUX_SESSION": "work"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: event.Tmux{Socket: "/tmp/tmux-1000/default", Server: 2112, Pane: "%3", Session: "work"}}},
		{"tmux socket with commas", vars{"TMUX": "/tmp/a,b/sock,77,12", "TMUX_PANE": "%0"},
			event.Terminal{Kind: "tmux", ID: "/tmp/a,b/sock,77,%0", Tmux: event.Tmux{Socket: "/tmp/a,b/sock", Server: 77, Pane: "%0"}}},
		{"tmux without a pane has no id", vars{"TMUX": "/tmp/s,77,1", "TMUX_PANE": "x; rm"},
			event.Terminal{Kind: "tmux", Tmux: event.Tmux{Socket: "/tmp/s", Server: 77}}},
		{"no tmux", vars{"TMUX": "nonsense", "TMUX_PANE": "%0"}, event.Terminal{}},
		{"no tmux either", vars{"TMUX": ",1,2", "TMUX_PANE": "%0"}, event.Terminal{}},
		{"no tmux server", vars{"TMUX": "/tmp/s,-4,2", "TMUX_PANE": "%0"}, event.Terminal{}},
		{"an editor opened from a tmux pane", vars{"TMUX": "/tmp/s,77,1", "TMUX_PANE": "%0", "TERM": "xterm-256color", "TERM_PROGRAM": "vscode"},
			event.Terminal{Kind: "vscode"}},
		{"tmux in WezTerm", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM_PROGRAM": "tmux", "WEZTERM_PANE": "0"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "wezterm"}},
		{"tmux in Ghostty", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM_PROGRAM": "tmux", "GHOSTTY_RESOURCES_DIR": "/r"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "ghostty"}},
		{"tmux in Alacritty", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM_PROGRAM": "tmux", "ALACRITTY_WINDOW_ID": "7"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "alacritty"}},
		{"tmux in VS Code", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM_PROGRAM": "tmux", "VSCODE_INJECTION": "1"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux, Outer: "vscode"}},
		{"zellij in ghostty", vars{"ZELLIJ": "0", "ZELLIJ_SESSION_NAME": "brave-fox", "ZELLIJ_PANE_ID": "2", "TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "GHOSTTY_RESOURCES_DIR": "/r"},
			event.Terminal{Kind: "zellij", ID: "brave-fox,2", Outer: "ghostty"}},
		{"screen", vars{"STY": "812.pts-1.box", "WINDOW": "0", "TERM": "screen.xterm-256color"},
			event.Terminal{Kind: "screen", ID: "812.pts-1.box,0"}},
		{"iTerm2", vars{"TERM_PROGRAM": "iTerm.app", "ITERM_SESSION_ID": "w0t1p2:0B2C-11", "TERM_SESSION_ID": "w0t1p2:0B2C-11"},
			event.Terminal{Kind: "iterm2", ID: "0B2C-11"}},
		{"Apple Terminal", vars{"TERM_PROGRAM": "Apple_Terminal", "TERM_SESSION_ID": "D5F1"}, event.Terminal{Kind: "apple-terminal", ID: "D5F1"}},
		{"herdr in kitty", vars{"TERM": "xterm-256color", "HERDR_ENV": "1", "HERDR_PANE_ID": "w1:p2", "TERM_PROGRAM": "kitty", "KITTY_WINDOW_ID": "1", "KITTY_PID": "9"},
			event.Terminal{Kind: "herdr", ID: "w1:p2", Outer: "kitty"}},
		{"tmux in herdr", vars{"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "screen", "HERDR_ENV": "1", "HERDR_PANE_ID": "w1:p2"},
			event.Terminal{Kind: "tmux", ID: tmuxID, Tmux: tmux}},
		{"kitty", vars{"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "4", "KITTY_PID": "991", "KITTY_LISTEN_ON": "unix:/tmp/k-991"},
			event.Terminal{Kind: "kitty", ID: "991,4", Listen: "unix:/tmp/k-991"}},
		{"kitty started from iTerm2", vars{"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "4", "KITTY_PID": "991", "TERM_PROGRAM": "iTerm.app", "ITERM_SESSION_ID": "w0t0p0:X"},
			event.Terminal{Kind: "kitty", ID: "991,4"}},
		{"kitty's ssh kitten", vars{"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "4", "SSH_CONNECTION": "10.0.0.9 50001 10.0.0.1 22", "SSH_TTY": "/dev/pts/4"},
			event.Terminal{Kind: "ssh", ID: "50001,/dev/pts/4", Outer: "kitty", SSH: true}},
		{"WezTerm", vars{"TERM_PROGRAM": "WezTerm", "WEZTERM_PANE": "0", "WEZTERM_UNIX_SOCKET": "/run/user/1/wezterm/gui-sock-55"},
			event.Terminal{Kind: "wezterm", ID: "/run/user/1/wezterm/gui-sock-55,0"}},
		{"Ghostty", vars{"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty", "GHOSTTY_RESOURCES_DIR": "/r"}, event.Terminal{Kind: "ghostty"}},
		{"VS Code", vars{"TERM_PROGRAM": "vscode", "VSCODE_GIT_ASKPASS_NODE": "/usr/share/code/code", "VSCODE_IPC_HOOK_CLI": "/run/secret.sock"},
			event.Terminal{Kind: "vscode"}},
		{"Cursor", vars{"TERM_PROGRAM": "vscode", "CURSOR_TRACE_ID": "t"}, event.Terminal{Kind: "cursor"}},
		{"Cursor on a server", vars{"TERM_PROGRAM": "vscode", "VSCODE_GIT_ASKPASS_NODE": "/home/u/.cursor-server/bin/1/node"}, event.Terminal{Kind: "cursor"}},
		{"Windsurf on Windows", vars{"TERM_PROGRAM": "vscode", "VSCODE_GIT_ASKPASS_NODE": `C:\Programs\Windsurf\Windsurf.exe`}, event.Terminal{Kind: "windsurf"}},
		{"VS Code of a user called cursor", vars{"TERM_PROGRAM": "vscode", "VSCODE_GIT_ASKPASS_NODE": "/home/cursor/code/code"}, event.Terminal{Kind: "vscode"}},
		{"VS Code started from Windows Terminal", vars{"TERM_PROGRAM": "vscode", "WT_SESSION": "g-1"}, event.Terminal{Kind: "vscode"}},
		{"JetBrains started from Apple Terminal", vars{"TERM_PROGRAM": "Apple_Terminal", "TERMINAL_EMULATOR": "JetBrains-JediTerm", "TERM_SESSION_ID": "j-1"},
			event.Terminal{Kind: "jetbrains", ID: "j-1"}},
		{"Windows Terminal", vars{"WT_SESSION": "g-1"}, event.Terminal{Kind: "windows-terminal", ID: "g-1"}},
		{"Alacritty", vars{"TERM": "alacritty", "ALACRITTY_WINDOW_ID": "77", "ALACRITTY_SOCKET": "/run/Alacritty-:0-9.sock"},
			event.Terminal{Kind: "alacritty", ID: "/run/Alacritty-:0-9.sock,77"}},
		{"Konsole", vars{"KONSOLE_DBUS_SERVICE": ":1.7", "KONSOLE_DBUS_SESSION": "/Sessions/2"}, event.Terminal{Kind: "konsole", ID: ":1.7,/Sessions/2"}},
		{"GNOME Terminal", vars{"GNOME_TERMINAL_SCREEN": "/org/gnome/Terminal/screen/5b_1", "VTE_VERSION": "7000"}, event.Terminal{Kind: "gnome-terminal", ID: "5b_1"}},
		{"Warp", vars{"TERM_PROGRAM": "WarpTerminal"}, event.Terminal{Kind: "warp"}},
		{"one that is not in the list", vars{"TERM_PROGRAM": "Hyper"}, event.Terminal{Kind: "hyper"}},
		{"plain ssh", vars{"TERM": "xterm-256color", "SSH_CONNECTION": "10.0.0.9 50001 10.0.0.1 22", "SSH_TTY": "/dev/pts/4"},
			event.Terminal{Kind: "ssh", ID: "50001,/dev/pts/4", SSH: true}},
		{"ssh from iTerm2", vars{"LC_TERMINAL": "iTerm2", "SSH_CONNECTION": "10.0.0.9 50001 10.0.0.1 22", "SSH_TTY": "/dev/pts/4"},
			event.Terminal{Kind: "ssh", ID: "50001,/dev/pts/4", Outer: "iterm2", SSH: true}},
		{"ssh without a terminal", vars{"SSH_CONNECTION": "10.0.0.9 50001 10.0.0.1 22"}, event.Terminal{SSH: true}},
	} {
		if got := Terminal(mapEnv(tt.env)); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

// No variable that may contain a secret is even read.
func TestTerminalReadsNoSecrets(t *testing.T) {
	for _, base := range []map[string]string{{}, {"TERM_PROGRAM": "vscode"}, {"TMUX": "/tmp/s,77,1", "TMUX_PANE": "%0"}, {"TERM": "xterm-kitty", "KITTY_PID": "1"}} {
		Terminal(func(k string) string {
			for _, secret := range []string{"TOKEN", "SECRET", "KEY", "PASS", "IPC", "SOCK_", "MESSAGING"} {
				if strings.Contains(k, secret) && k != "VSCODE_GIT_ASKPASS_NODE" {
					t.Errorf("reads %s", k)
				}
			}
			return base[k]
		})
	}
}

// A terminal's id names a pane for as long as it exists; without a pane there is
// none.
func TestTerminalID(t *testing.T) {
	pane := map[string]string{"TMUX": "/tmp/s,77,1", "TMUX_PANE": "%0"}
	a := Terminal(mapEnv(pane))
	if a.Kind != "tmux" || a.ID != "/tmp/s,77,%0" {
		t.Errorf("got %+v", a)
	}
	pane["TMUX"] = "/tmp/s,78,1"
	if b := Terminal(mapEnv(pane)); b.ID == a.ID {
		t.Error("%0 of a new server is another pane")
	}
	for _, none := range []map[string]string{{}, {"TERM_PROGRAM": "ghostty"}, {"TMUX": "/tmp/s,77,1"}, {"TERM": "xterm-kitty", "KITTY_PID": "5"}, {"WEZTERM_UNIX_SOCKET": "/s", "TERM_PROGRAM": "WezTerm"}} {
		if id := Terminal(mapEnv(none)).ID; id != "" {
			t.Errorf("%v: got %q", none, id)
		}
	}
}

// FuzzTerminal checks that the result is bounded, printable UTF-8, whatever the environment
// contains.
func FuzzTerminal(f *testing.F) {
	f.Add("/tmp/s,77,1", "%0", "tmux", "iTerm.app", "w0:\x1b]0;x\a")
	f.Add("", "", "xterm-kitty", "", strings.Repeat("é", 400))
	f.Fuzz(func(t *testing.T, tmux, pane, term, program, rest string) {
		got := Terminal(func(k string) string {
			switch k {
			case "TMUX":
				return tmux
			case "TMUX_PANE":
				return pane
			case "TERM":
				return term
			case "TERM_PROGRAM":
				return program
			}
			return rest
		})
		for _, s := range []string{got.Kind, got.ID, got.Outer, got.Tmux.Session, got.Tmux.Pane} {
			if len(s) > event.MaxID || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
				t.Errorf("got %q", s)
			}
		}
	})
}
