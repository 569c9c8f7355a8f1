// Package cli is what beckon's commands share: the edges of the process, errors and
// their exit codes, the configuration, and the sessions of this machine.
package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"beckon/cmd/internal/config"
	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/agents"
	"beckon/render"
	"beckon/render/term"
	"beckon/state/evidence"
	"beckon/state/store"

	terminal "golang.org/x/term"
)

// App is one run of the program.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Store          *store.Store
	Command        string          // as its help is asked for: "beckon list"
	Unread         []store.Problem // what the last look could not read
	Unwarned       bool            // a prompt or a status line: no place for warnings
	Brief          bool            // the process looks once and ends

	config *config.Config // once it was read
}

// Open opens the state directory.
func (a *App) Open() error {
	dir, err := store.Dir(a.Getenv)
	if err != nil {
		return err
	}
	a.Store = store.Open(dir)
	a.Store.Texts = hook.Texts(a.Getenv)
	return nil
}

// ClaudeDir is the client's own directory.
func (a *App) ClaudeDir() string {
	if d := a.Getenv("CLAUDE_CONFIG_DIR"); d != "" {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".claude")
}

// ProjectRoot is the directory whose .claude the client reads: the nearest
// one that has a .claude or a .git, else dir.
func ProjectRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".claude", ".git"} {
			if _, err := os.Stat(filepath.Join(d, mark)); err == nil {
				return d
			}
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// User is who uses the program, as people name them.
func (a *App) User() string {
	return cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME"), a.Getenv("USERNAME"))
}

// Configured returns the configuration in force. What is wrong in the file is a
// warning, the same one in every command, and keeps nothing from working.
func (a *App) Configured() config.Config {
	if a.config == nil {
		if err := a.CheckConfig(); err != nil && !a.Unwarned {
			a.print(err, "warning: ")
		}
	}
	return *a.config
}

// CheckConfig reads the configuration and returns what is wrong in the file.
// Configured says no more of it then.
func (a *App) CheckConfig() error {
	cfg := config.Default()
	a.config = &cfg
	path, err := config.Path(a.Getenv)
	if err != nil {
		return nil // no home, no file
	}
	cfg, _, err = config.Load(path)
	return err
}

// InClient reports whether an agent's client started this process, in however
// many steps. Tests replace it: they may themselves be run by an agent.
var InClient = evidence.InClient

// InAgent is an error for what only the user may do: an agent that could switch
// its own guard off has none.
func (a *App) InAgent(what string) error {
	shell := func(ag *agents.Agent) bool { return ag.ShellVar != "" && a.Getenv(ag.ShellVar) != "" }
	if a.Getenv("CLAUDECODE") == "" && a.Getenv("CLAUDE_CODE_CHILD_SESSION") == "" && !slices.ContainsFunc(event.Agents(), shell) && !InClient() {
		return nil
	}
	return Hint("run it in a terminal of your own", "%s is yours to do, and this shell belongs to an agent", what)
}

// Colored is the flag of the commands that draw.
type Colored struct {
	Color string `enum:",auto,always,never" default:"" placeholder:"WHEN" help:"Use colours: auto, always or never (default: as configured)."`
}

// ColorChoice returns the choice of a flag, else the configured one.
func (a *App) ColorChoice(flag string) string { return cmp.Or(flag, a.Configured().Color) }

// Color reports whether stdout may be coloured: only a terminal, and not
// against NO_COLOR or TERM=dumb; CLICOLOR_FORCE forces it.
func (a *App) Color(choice string) bool {
	switch {
	case choice == "always":
		return true
	case choice == "never" || a.Getenv("NO_COLOR") != "":
		return false
	case a.Getenv("CLICOLOR_FORCE") != "" && a.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return a.Getenv("TERM") != "dumb" && a.Width() > 0
}

// Style says how to draw on this terminal, with the colours that a flag chose.
func (a *App) Style(choice string) term.Style {
	return term.Style{Color: a.Color(a.ColorChoice(choice)), Rich: a.Rich(), Width: a.Width(), Now: a.Now().Time(), Marks: a.Configured().Marks}
}

// Rich reports whether the terminal has 256 colours, as package colorprofile finds it:
// to link that package would cost each prompt a tenth of its time.
func (a *App) Rich() bool {
	name := a.Getenv("TERM")
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case name == "dumb":
		return false
	case name == "" && runtime.GOOS == "windows", a.Getenv("WT_SESSION") != "":
		return true
	case strings.HasSuffix(name, "256color"), strings.HasSuffix(name, "direct"), has("tmux"), has("screen"):
		return true
	case slices.ContainsFunc([]string{"alacritty", "contour", "foot", "ghostty", "kitty", "rio", "st", "wezterm"}, has):
		return true
	}
	return slices.Contains([]string{"truecolor", "24bit", "yes", "true"}, strings.ToLower(a.Getenv("COLORTERM")))
}

// Attended reports whether the user's terminal is this program's, in and out.
func (a *App) Attended() bool {
	in, ok := a.Stdin.(*os.File)
	return ok && terminal.IsTerminal(int(in.Fd())) && a.Width() > 0
}

// Width returns the columns of the terminal on stdout, or 0.
func (a *App) Width() int {
	f, ok := a.Stdout.(*os.File)
	if !ok || !terminal.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	w, _, err := terminal.GetSize(int(f.Fd()))
	if err != nil {
		return 80
	}
	return w
}

// WriteJSON writes v as JSON for people and programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// ShortID is the part of an id that people read.
func ShortID(id string) string { return render.OneLine(id[:min(len(id), 8)]) }

// Found reports whether PATH has the program.
func Found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
