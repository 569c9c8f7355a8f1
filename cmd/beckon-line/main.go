// Command beckon-line is `beckon prompt` and `beckon statusline` in a program that starts in
// half the time: shells run one at every prompt, the client runs the other all day. It passes
// arguments that it does not understand on to beckon, next to it.
package main

import (
	"fmt"
	"os"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/segment"
	"beckon/event/home"
)

func main() {
	args := os.Args[1:]
	code, ok := segment.Main(&cli.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}, args, nil)
	if !ok {
		code, ok = hook.Become(home.Beside("beckon"), args)
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "beckon-line: the program beckon is not beside it\n  hint: beckon-line prints what beckon prompt and beckon statusline do")
		code = cli.ExitError
	}
	os.Exit(code)
}
