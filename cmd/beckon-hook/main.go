// Command beckon-hook is what the installed hooks run, once per event of the agent, and what
// shells, bars and the client's status line run all day: `beckon-hook prompt` and
// `beckon-hook statusline` print what beckon prints, and start in half the time. See package
// hook for what a hook promises.
package main

import (
	"os"
	"path/filepath"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/noblock"
	"beckon/cmd/internal/segment"
	_ "beckon/cmd/internal/stack"
	"beckon/event/home"
)

func main() {
	args := os.Args[1:]
	line := strings.HasPrefix(filepath.Base(os.Args[0]), "beckon-line") // its name in earlier versions
	if line || len(args) > 0 && (args[0] == "prompt" || args[0] == "statusline") {
		noblock.Exit(show(args))
	}
	noblock.Exit(hook.Start(args, os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// show prints a prompt or a status line. What it does not link, beckon does.
func show(args []string) int {
	a := &cli.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if code, ok := segment.Main(a, args, nil); ok {
		return code
	}
	if code, ok := hook.Become(home.Beside("beckon"), args); ok {
		return code
	}
	return a.Fail(cli.Hint("beckon-hook prints what beckon prompt and beckon statusline do",
		"the program beckon is not beside beckon-hook"))
}
