package talk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/render"
	"beckon/render/card"
	"beckon/render/jump"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// ReplyCmd is `beckon reply`.
type ReplyCmd struct {
	Session string   `arg:"" help:"${session}."`
	Text    []string `arg:"" help:"What to say; - reads it from stdin."`
	remote
}

// Run sends a reply to a session whose turn is over.
func (c *ReplyCmd) Run(a *cli.App) error {
	text := strings.Join(c.Text, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.Stdin, 64<<10+1))
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		text = string(b)
	}
	if c.Fleet {
		return elsewhere(a, c.Session, []string{"reply"}, text)
	}
	v, err := found(a, c.Session)
	if err != nil {
		return err
	}
	if err := request.CheckMessage(text); err != nil {
		return cli.Usage("%w", err)
	}
	list, err := Requests(a, v.Session.Record(), true)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		what := "is at work"
		if !v.Status.State.AtWork() {
			what = "has no hook that waits for a reply"
		}
		return cli.NotFound(
			"a reply reaches a session whose turn is over, from the first one after beckon setup answers",
			"session %s %s", cli.ShortID(v.Session.ID), what)
	}
	return give(a, &list[len(list)-1], request.Answer{Word: request.Say, Message: text, From: request.Terminal})
}

// found returns a session of this machine, for its user.
func found(a *cli.App, arg string) (state.Seen, error) {
	v, err := a.Find(arg)
	if err != nil {
		return v, notHere(a, err)
	}
	return v, mayAnswer(a)
}

// StopCmd is `beckon stop`.
type StopCmd struct {
	Session string `arg:"" help:"${session}."`
	remote
}

// Run ends a session's turn.
func (c *StopCmd) Run(a *cli.App) error {
	if c.Fleet {
		return elsewhere(a, c.Session, []string{"stop"})
	}
	text, err := halt(a, c.Session, request.Terminal)
	if err != nil {
		return err
	}
	return a.Printf("%s\n", text)
}

// halt ends a session's turn, and returns when it will end.
func halt(a *cli.App, session string, from request.From) (string, error) {
	v, err := found(a, session)
	if err == nil {
		err = request.In(a.Store.Dir).Halt(&v, from, a.User())
	}
	if err != nil {
		return "", err
	}
	return "session " + cli.ShortID(v.Session.ID) + " stops at its next call, its subagents at theirs", nil
}

// AwayCmd is `beckon away`.
type AwayCmd struct {
	For string `arg:"" optional:"" help:"For how long, as 30m or 2h (default: until beckon away off); off: you are back."`
}

// Run records that the user is away.
func (c *AwayCmd) Run(a *cli.App) error {
	if err := mayAnswer(a); err != nil {
		return err
	}
	dir := request.In(a.Store.Dir)
	if c.For == "off" {
		was, err := dir.Back()
		if err != nil {
			return fmt.Errorf("noting that you are back: %w", err)
		}
		text := "you were not away"
		if was {
			text = "back: what subagents ask from now on shows its dialog"
		}
		return a.Printf("%s\n", text)
	}
	until, err := render.Until(c.For, time.Now())
	if err != nil {
		return cli.Usage("%q: %w", c.For, err)
	}
	if err := dir.GoAway(until); err != nil {
		return fmt.Errorf("noting that you are away: %w", err)
	}
	end := "until beckon away off"
	if until != 0 {
		end = "until " + until.Time().Local().Format("15:04")
	}
	return a.Printf("away %s: what subagents ask is held for your answer, and shows no dialog at its session\n", end)
}

// remote is the flag of the commands that act on sessions.
type remote struct {
	Fleet bool `help:"The session is on another machine of yours, where the command is run, by ssh or as jump_by says; name it NAME or HOST:NAME."`
}

// notHere extends the error for a session that was not found by where else it may be.
func notHere(a *cli.App, err error) error {
	if cli.Code(err) == cli.ExitNotFound && fleets.Joined(a) {
		return cli.Hint("beckon list shows this machine's sessions; with --fleet those of other machines are found",
			"%w", err)
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

// give gives the user's answer to a request, and prints what became of it.
func give(a *cli.App, r *card.Request, ans request.Answer) error {
	dir := request.In(a.Store.Dir)
	ans.By = a.User()
	did, err := r.Answer(dir, ans, pin.Asked(dir))
	switch {
	case request.Late(err):
		return cli.Late("%w", err)
	case err != nil:
		return err
	}
	return a.Printf("%s\n", did)
}

// PINCmd is `beckon config pin`.
type PINCmd struct{}

// Run asks for a new PIN, and for the one there is first.
func (PINCmd) Run(a *cli.App) error {
	if err := mayAnswer(a); err != nil {
		return err
	}
	d := request.In(a.Store.Dir)
	if d.HasPIN() {
		if _, err := pin.Asked(d)(); err != nil {
			return err
		}
	}
	set, err := pin.New(d)
	if err != nil {
		return err
	}
	text := "answers take no PIN"
	if set {
		text = "answers now take your PIN; notifications have no buttons"
	}
	return a.Printf("%s\n", text)
}
