package main

import (
	"os"
	"os/exec"

	"beckon/render/jump"
)

// become runs another program in this terminal and waits for it: Windows cannot
// replace a process.
func become(c jump.Command) error {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
