// Command beckon-hook is what the installed hooks run, once per event of the
// agent. See package hook for what it promises.
package main

import (
	"os"

	"beckon/cmd/internal/hook"
	_ "beckon/cmd/internal/noblock"
)

func main() {
	hook.GrowStack()
	os.Exit(hook.Start(os.Args[1:], os.Stdin, os.Stdout, os.Getenv))
}
