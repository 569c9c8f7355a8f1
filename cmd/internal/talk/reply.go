package talk

import (
	"fmt"
	"io"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/state"
	"beckon/state/offer"
)

// ReplyCmd is `beckon reply`.
type ReplyCmd struct {
	Session string   `arg:"" help:"${session}."`
	Text    []string `arg:"" help:"What you say; - reads it from stdin."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

// Run wakes a session whose turn is over with a reply.
func (c *ReplyCmd) Run(a *cli.App) error {
	text := strings.Join(c.Text, " ")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.Stdin, 64<<10+1))
		if err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
		text = string(b)
	}
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	if hasMod(&v) && !v.Status.State.AtWork() && (!v.Status.State.Asks() || v.Status.Rule == state.RuleAsked) {
		if done, err := c.byMod(a, &v, text); done || err != nil {
			return err
		}
	}
	list, err := Offers(a, func(o *offer.Offer) bool { return o.Kind == offer.Reply && o.Record == v.Session.Record() })
	if err != nil {
		return err
	}
	if len(list) == 0 {
		what := "is at work"
		if !v.Status.State.AtWork() {
			what = "has no hook that waits for a reply"
		}
		return cli.Hint("a reply reaches a session whose turn is over, from the first one after beckon install --answers", "session %s %s: %w", cli.ShortID(v.Session.ID), what, cli.ErrNotFound)
	}
	if err := mayAnswer(a); err != nil {
		return err
	}
	o := list[len(list)-1]
	ans := offer.Answer{Offer: o.ID, Digest: o.Digest, Word: offer.Say, Message: text, From: offer.Terminal}
	if err := o.Fits(ans); err != nil {
		return cli.Usage("%w", err)
	}
	o.Card.Title = "a reply"
	return give(a, &o, ans, c.JSON)
}

// byMod has the mod in the session's client submit the text, and reports whether it did.
func (c *ReplyCmd) byMod(a *cli.App, v *state.Seen, text string) (done bool, err error) {
	if err := mayAnswer(a); err != nil {
		return false, err
	}
	s := offer.Said{Reply: text}
	if err := s.Check(); err != nil {
		return false, cli.Usage("%w", err)
	}
	if done, err = leave(a, v, s); !done || err != nil {
		return false, err
	}
	if c.JSON {
		return true, cli.WriteJSON(a.Stdout, given{Schema: 1, Word: offer.Say, Taken: true})
	}
	_, err = fmt.Fprintf(a.Stdout, "said: to session %s, as its next prompt\n", cli.ShortID(v.Session.ID))
	return true, err
}

// StopCmd is `beckon stop`.
type StopCmd struct {
	Session string `arg:"" help:"${session}."`
}

// Run has a session end its turn: at once where its client has the mod, else at its
// next call; and its subagents at theirs.
func (c *StopCmd) Run(a *cli.App) error {
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	name := cli.ShortID(v.Session.ID)
	if !v.Status.State.InTurn() {
		return fmt.Errorf("session %s is not at work: there is nothing to stop", name)
	}
	if err := mayAnswer(a); err != nil {
		return err
	}
	if err := offer.In(a.Store.Dir).Stop(v.Session.Record(), offer.Terminal, a.User(), time.Now()); err != nil {
		return fmt.Errorf("stopping the session: %w", err)
	}
	if hasMod(&v) {
		done, err := leave(a, &v, offer.Said{Stop: true})
		if err != nil {
			return err
		}
		if done {
			fmt.Fprintf(a.Stdout, "session %s stops, its subagents at their next call\n", name)
			return nil
		}
	}
	fmt.Fprintf(a.Stdout, "session %s stops at its next call, its subagents at theirs\n", name)
	return nil
}

// AwayCmd is `beckon away`.
type AwayCmd struct {
	For string `arg:"" optional:"" help:"For how long: 2h, 30m (default: until beckon back)."`
}

// Run notes that nobody sits at the sessions.
func (c *AwayCmd) Run(a *cli.App) error {
	if err := mayAnswer(a); err != nil {
		return err
	}
	var until time.Time
	if c.For != "" {
		at, err := render.Until(c.For, time.Now())
		if err != nil {
			return cli.Usage("%q: %w", c.For, err)
		}
		until = at.Time().Local()
	}
	if err := offer.In(a.Store.Dir).GoAway(until); err != nil {
		return fmt.Errorf("noting that you are away: %w", err)
	}
	end := "until beckon back"
	if !until.IsZero() {
		end = "until " + until.Format("15:04")
	}
	fmt.Fprintf(a.Stdout, "away %s: what subagents ask is held for your answer, and shows no dialog at its session\n", end)
	return nil
}

// BackCmd is `beckon back`.
type BackCmd struct{}

// Run notes that the user is back.
func (BackCmd) Run(a *cli.App) error {
	was, err := offer.In(a.Store.Dir).Back()
	if err != nil {
		return fmt.Errorf("noting that you are back: %w", err)
	}
	if was {
		fmt.Fprintln(a.Stdout, "back: what subagents ask from now on shows its dialog")
	} else {
		fmt.Fprintln(a.Stdout, "you were not away")
	}
	return nil
}
