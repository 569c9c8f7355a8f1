package hook

import (
	"os"
	"path/filepath"
	"runtime"

	"beckon/state/store"
)

// PolicyFiles returns where policies may be: the global one beside the
// configuration, and the project's, as the client names the project. Either
// is empty when its place is not known.
func PolicyFiles(getenv func(string) string) (global, project string) {
	if d := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		global = filepath.Join(d, "beckon", "policy.json")
	} else {
		home := getenv("HOME")
		if home == "" {
			home = getenv("USERPROFILE")
		}
		if filepath.IsAbs(home) {
			global = filepath.Join(home, ".config", "beckon", "policy.json")
		}
	}
	if d := getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(d) {
		project = filepath.Join(d, ".beckon", "policy.json")
	}
	return global, project
}

// Policied reports whether there may be a policy to ask: whether either file
// is there, or cannot be told not to be. It costs two stats at most (DESIGN.md
// section 6).
func Policied(getenv func(string) string) bool { return policied(getenv, os.Stat) }

func policied(getenv func(string) string, stat func(string) (os.FileInfo, error)) bool {
	there := func(path string) bool {
		if path == "" {
			return false
		}
		_, err := stat(path)
		return err == nil || !os.IsNotExist(err)
	}
	global, project := PolicyFiles(getenv)
	return there(global) || there(project)
}

// unasked is what the user is told, at the events that show a text, when there
// is a policy and no program to ask.
const unasked = `{"systemMessage":"beckon: there is a policy, but the program beckon is not beside beckon-hook, so it is NOT in force: run beckon doctor"}` + "\n"

// Nothing, as the only argument, has beckon-hook end at once: what the process itself
// costs, for `beckon doctor` to compare with.
const Nothing = "--nothing"

// Start is beckon-hook. Without a policy it is Main; with one that may speak of
// the event it becomes the program beckon beside it, which can answer.
func Start(args []string, stdin *os.File, stdout *os.File, getenv func(string) string) int {
	if len(args) == 1 && args[0] == Nothing {
		return 0
	}
	if ParseArgs(args).foreign() || !Policied(getenv) || unspoken(ParseArgs(args).Event, getenv) {
		return Main(args, stdin, stdout, getenv)
	}
	if code, ok := become(sibling(), append([]string{"hook"}, args...)); ok {
		return code
	}
	if e := ParseArgs(args).Event; e == "SessionStart" || e == "UserPromptSubmit" {
		return say([]byte(unasked), args, stdin, stdout, getenv)
	}
	return Main(args, stdin, stdout, getenv)
}

// unspoken reports whether it is known that no policy speaks of the event.
func unspoken(event string, getenv func(string) string) bool {
	dir, err := store.Dir(getenv)
	return err == nil && SpeaksOf(getenv).silent(dir, event)
}

// foreign reports whether another agent sends the event: policies answer in
// Claude Code's words.
func (a Args) foreign() bool { return a.Agent != "" && a.Agent != "claude-code" }

// sibling is the program beckon in the directory of this one; empty when that
// is not known.
func sibling() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	name := "beckon"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(self), name)
}
