package talk

import (
	"errors"
	"os"
	"os/exec"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/render"
	"beckon/render/jump"
)

// far is the flag of the commands that act on sessions.
type far struct {
	Fleet bool `help:"The session is on another machine of yours, where the command is run, by ssh or as jump_by says; name it NAME or HOST:NAME."`
}

// notHere extends the error for a session that was not found by where else it may be.
func notHere(a *cli.App, err error) error {
	if cli.Code(err) == cli.ExitNotFound && fleets.Joined(a) {
		return cli.Hint("beckon list shows this machine's sessions; with --fleet those of other machines are found", "%w", err)
	}
	return err
}

// elsewhere runs a command of beckon for a session of another machine there, in this terminal:
// that machine shows what it allows, asks and refuses as for anybody at its own terminal. verb
// is the command, with its flags; words follow the session.
func elsewhere(a *cli.App, session string, verb []string, words ...string) error {
	if err := mayAnswer(a); err != nil {
		return err
	}
	row, err := fleets.Find(a, session)
	if err != nil {
		return err
	}
	c, err := command(a, &row, append(verb, "--"), words...)
	if err != nil {
		return err
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, a.Stdout, a.Stderr
	err = cmd.Run()
	if code, ok := errors.AsType[*exec.ExitError](err); ok {
		return cli.Ended(code.ExitCode()) // it has said why
	}
	return err
}

// command returns what runs a command of beckon where a session of another machine runs.
func command(a *cli.App, row *render.Row, verb []string, words ...string) (jump.Command, error) {
	return fleets.Jumper(a).There(row, slices.Concat(verb, []string{row.Record()}, words)...)
}
