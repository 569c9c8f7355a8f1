package setup

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/event/run"
	"beckon/installer"
	"beckon/render/term"
)

// shell returns the name of the user's shell.
func (m *machine) shell() string {
	_, name := filepath.Split(m.Getenv("SHELL"))
	return name
}

// startup returns the step that adds a line to a start-up file. A line that the user wrote, which has
// any of the words, is left alone.
func (m *machine) startup(s Step, shell, line string, on bool, words ...string) Step {
	path := installer.StartupPath(shell, runtime.GOOS, m.Getenv)
	if path == "" {
		s.Absent = cmp.Or(s.Absent, fmt.Sprintf("the start-up file of %s is not known: bash, zsh and fish are",
			cmp.Or(shell, "the shell (SHELL is not set)")))
		return s
	}
	program, problem := installer.StablePath(m.beckon, m.Getenv("HOME"))
	part, err := m.own(path).Line(shell, line, cmp.Or(program, m.beckon))
	if err = cmp.Or(err, problem); err != nil {
		s.Absent = cmp.Or(s.Absent, err.Error())
	}
	ours, theirs := installer.InStartup(path, line, words...)
	s.Fixed = !ours && (on || theirs)
	s.On = ours || s.Fixed
	s.Parts = []installer.Part{part}
	if err != nil {
		return s
	}
	return s.outdated()
}

// pathStep adds the programs' directory to the shell's PATH.
func (m *machine) pathStep() Step {
	dir := filepath.Dir(m.beckon)
	export := "export PATH=" + run.CommandLine(dir) + ":$PATH"
	short := term.Tilde(dir, home.Dir(m.Getenv))
	s := Step{Name: installer.PathLine, Title: "let the shell find beckon in " + short, Want: true,
		Then: "shells that run already find it after: " + export}
	if m.shell() == "fish" {
		s.Then = "a shell that runs already finds it after: exec fish"
	}
	s = m.startup(s, m.shell(), installer.PathLine, slices.Contains(filepath.SplitList(m.Getenv("PATH")), dir))
	if s.Absent != "" {
		s.Absent += "; beckon is found after: " + export
	}
	return s
}

// tmuxStep adds the segment and the keys to tmux.
func (m *machine) tmuxStep() Step {
	file := installer.StartupPath("tmux", runtime.GOOS, m.Getenv)
	s := Step{Name: "tmux", Title: "show what needs you in tmux; prefix b goes there",
		Want: m.Getenv("TMUX") != "" || plainfile.Exists(file), Then: "tmux source-file " + file + " loads it now"}
	if !cli.Found("tmux") {
		s.Absent = "tmux is not installed"
	}
	return m.startup(s, "tmux", installer.PromptLine, false, "beckon init")
}

func (m *machine) promptStep() Step {
	s := Step{Name: "prompt", Title: "show in the shell's prompt what needs you", Then: "new shells have it"}
	return m.startup(s, m.shell(), installer.PromptLine, false, "beckon init")
}

func (m *machine) completionStep() Step {
	s := Step{Name: "completion", Title: "complete beckon's commands in the shell", Want: true, Then: "new shells have it"}
	return m.startup(s, m.shell(), installer.CompletionLine, false, "beckon completion", "--completion")
}
