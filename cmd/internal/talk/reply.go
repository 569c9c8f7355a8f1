package talk

import (
	"cmp"
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
	JSON    bool     `name:"json" help:"Print JSON."`
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
	dir := request.In(a.Store.Dir)
	list, err := dir.List(time.Now())
	if err != nil {
		return fmt.Errorf("reading the requests: %w", err)
	}
	list = slices.DeleteFunc(list, func(o request.Request) bool {
		return o.Kind != request.Reply || o.Record != v.Session.Record()
	})
	if len(list) == 0 {
		what := "is at work"
		if !v.Status.State.AtWork() {
			what = "has no hook that waits for a reply"
		}
		return cli.NotFound(
			"a reply reaches a session whose turn is over, from the first one after beckon setup answers",
			"session %s %s", cli.ShortID(v.Session.ID), what)
	}
	ans := request.Answer{Word: request.Say, Message: text, From: request.Terminal}
	out, err := give(a, &list[len(list)-1], ans, pin.Asked(dir))
	if err != nil {
		return err
	}
	row := render.Rows([]state.Seen{v}, true)[0]
	return out.print(a, "a reply in "+card.Line1(cmp.Or(row.Label(), cli.ShortID(v.Session.ID))), c.JSON)
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
	v, err := found(a, c.Session)
	if err != nil {
		return err
	}
	text, err := halt(a, &v, request.Terminal)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, text)
	return err
}

// halt ends a session's turn, and returns when it will end.
func halt(a *cli.App, v *state.Seen, from request.From) (string, error) {
	if err := request.In(a.Store.Dir).Halt(v, from, a.User()); err != nil {
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
	if c.For == "off" {
		return back(a)
	}
	until, err := render.Until(c.For, time.Now())
	if err != nil {
		return cli.Usage("%q: %w", c.For, err)
	}
	if err := request.In(a.Store.Dir).GoAway(until); err != nil {
		return fmt.Errorf("noting that you are away: %w", err)
	}
	end := "until beckon away off"
	if until != 0 {
		end = "until " + until.Time().Local().Format("15:04")
	}
	fmt.Fprintf(a.Stdout, "away %s: what subagents ask is held for your answer, and shows no dialog at its session\n", end)
	return nil
}

// back records that the user is back.
func back(a *cli.App) error {
	was, err := request.In(a.Store.Dir).Back()
	if err != nil {
		return fmt.Errorf("noting that you are back: %w", err)
	}
	text := "you were not away"
	if was {
		text = "back: what subagents ask from now on shows its dialog"
	}
	_, err = fmt.Fprintln(a.Stdout, text)
	return err
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

// result is what became of an answer, in the format of `answer --json`.
type result struct {
	Schema  int             `json:"schema"`
	Request string          `json:"offer"`
	Word    request.Word    `json:"word"`
	Taken   bool            `json:"taken"`
	Why     string          `json:"why,omitempty"`
	By      *request.Answer `json:"answered,omitempty"` // who was first

	did string // what the answer did, for people
}

// effects are what answers do to the kinds of requests, and how the user is asked whether to.
var effects = map[request.Kind]struct {
	ask string
	did map[request.Word]string
}{
	request.Permission: {"Allow this?", map[request.Word]string{request.Allow: "allowed", request.Deny: "refused"}},
	request.Question:   {"Answer this?", map[request.Word]string{request.Allow: "answered", request.Deny: "refused"}},
	request.Plan:       {"Approve this?", map[request.Word]string{request.Allow: "approved", request.Deny: "sent back"}},
	request.Reply:      {did: map[request.Word]string{request.Say: "sent"}},
}

// give gives an answer to a request, and waits for its outcome.
func give(a *cli.App, r *request.Request, ans request.Answer, unlock request.Unlock) (result, error) {
	ans.By = a.User()
	became, err := request.In(a.Store.Dir).Answer(r, ans, unlock)
	out := result{1, r.ID, ans.Word, became.Taken, became.Why, nil, effects[r.Kind].did[ans.Word]}
	if taken, ok := errors.AsType[*request.TakenError](err); ok {
		out.By = &taken.By
	}
	if request.Late(err) {
		out.Why, err = err.Error(), nil
	}
	return out, err
}

// failed returns why the answer did nothing, nil if it did.
func (r result) failed() error {
	if r.Taken {
		return nil
	}
	return errors.New(r.Why)
}

// print prints what became of the answer to the request called title.
func (r result) print(a *cli.App, title string, asJSON bool) (err error) {
	if asJSON {
		err = cli.WriteJSON(a.Stdout, r)
	} else if r.Taken {
		_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", r.did, title)
	}
	switch {
	case r.Taken || err != nil:
		return err
	case asJSON:
		return cli.Late("%w", cli.ErrSilent)
	}
	return cli.Late("%s: %s", title, r.Why)
}

// Give gives the answer of a notification's button, and returns its outcome in words.
func Give(a *cli.App, r *request.Request, ans request.Answer) (became string, err error) {
	out, err := give(a, r, ans, request.NoPIN)
	if why := cmp.Or(err, out.failed()); why != nil {
		return "not answered: " + why.Error(), err
	}
	return out.did, nil
}

// titleOf names a request where the outcome of its answer is printed.
func titleOf(r *card.Request) string { return r.Card.Title + " in " + card.Line1(r.Name) }

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
	_, err = fmt.Fprintln(a.Stdout, text)
	return err
}
