package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/fleets"
	"beckon/render"
	"beckon/render/card"
	"beckon/render/fleet/ctl"
	"beckon/state/offer"
)

// far is the flag of the commands that act on sessions.
type far struct {
	Fleet bool `help:"The session is on another machine of the fleet, which must allow it; name it NAME or HOST:NAME."`
}

// notHere extends the error for a session that was not found by where else it may be.
func notHere(a *cli.App, err error) error {
	if cli.Code(err) == cli.ExitNotFound && fleets.Joined(a) {
		return cli.Hint("beckon list shows this machine's sessions; --fleet answers on the other machines of the fleet", "%w", err)
	}
	return err
}

func findFar(a *cli.App, arg string) (*fleets.Reached, render.Row, error) {
	r, err := fleets.Reach(a, true)
	if err != nil {
		return nil, render.Row{}, err
	}
	row, err := r.Find(arg)
	if err != nil {
		r.Close()
	}
	return r, row, err
}

// refused returns the error for an order that another machine refused.
func refused(r *render.Row, err error) error {
	var said *ctl.Refused
	if errors.As(err, &said) {
		return cli.Late("%s: %s", fleets.Label(r), render.OneLine(said.Why))
	}
	return fmt.Errorf("%s: %w", fleets.Label(r), err)
}

// farOffers returns the session's requests, as this machine can show them.
func farOffers(ctx context.Context, c *ctl.Client, r *render.Row) ([]card.Offered, error) {
	list, err := c.Look(ctx, r.Remote.Link, r.Record())
	if err != nil {
		return nil, err
	}
	var out []card.Offered
	for _, o := range list {
		o.Host = "" // the files are on that machine, whatever it says
		of := card.Offered{Offer: o, Name: fleets.Label(r), Card: card.Of(&o, "here"), Far: r}
		if o.Payload == nil {
			of.Card.Whole, of.Card.Why = false, "it is too long to be sent"
		}
		if of.Card.Host = card.Line1(r.Remote.Name); of.Kind != offer.Reply {
			out = append(out, of)
		}
	}
	return out, nil
}

// elsewhere answers requests of other machines' sessions, or lists them.
func (c *AnswerCmd) elsewhere(a *cli.App) error {
	if c.All {
		return cli.Usage("--all is for the sessions of this machine")
	}
	if len(c.Words) == 0 {
		return c.listFar(a)
	}
	if len(c.Words) > 1 {
		if err := mayAnswer(a); err != nil {
			return err
		}
	}
	s, row, err := findFar(a, c.Words[0])
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := farOffers(context.Background(), s.Client, &row)
	switch {
	case err != nil:
		return refused(&row, err)
	case len(list) == 0:
		return cli.NotFound("", "%s asks nothing that can be answered from elsewhere", fleets.Label(&row))
	}
	words := c.Words[1:]
	if len(words) > 0 {
		if i := byID(list, words[0]); i >= 0 {
			list, words = list[i:i+1], words[1:]
		}
	}
	return c.one(a, list, words, func(o *card.Offered, ans offer.Answer) error {
		if _, err := s.Client.Answer(context.Background(), row.Remote.Link, row.Record(), ans); err != nil {
			return refused(&row, err)
		}
		return gave(a, given{Schema: 1, Offer: ans.Offer, Word: ans.Word, Taken: true}, titleOf(o), c.JSON)
	})
}

// listFar prints the requests of other machines' sessions.
func (c *AnswerCmd) listFar(a *cli.App) error {
	r, err := fleets.Reach(a, true)
	if err != nil {
		return err
	}
	defer r.Close()
	asking := slices.DeleteFunc(r.Rows, func(row render.Row) bool { return !row.NeedsYou || row.Remote.Stale })
	found, failed := make([][]card.Offered, len(asking)), make([]error, len(asking))
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range asking {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i], failed[i] = farOffers(context.Background(), r.Client, &asking[i])
		})
	}
	all.Wait()
	for i, err := range failed {
		if err != nil {
			fmt.Fprintf(a.Stderr, "beckon: %v\n", refused(&asking[i], err))
		}
	}
	return c.list(a, slices.Concat(found...))
}

// send gives a session of another machine an order of the user at this terminal, and returns
// that machine's response.
func send(a *cli.App, session string, how func(c *ctl.Client, link, record string) (string, error)) (row render.Row, said string, err error) {
	if err := mayAnswer(a); err != nil {
		return row, "", err
	}
	s, row, err := findFar(a, session)
	if err != nil {
		return row, "", err
	}
	defer s.Close()
	if said, err = how(s.Client, row.Remote.Link, row.Record()); err != nil {
		return row, "", refused(&row, err)
	}
	return row, render.OneLine(said), nil
}

func (c *ReplyCmd) elsewhere(a *cli.App, text string) error {
	row, _, err := send(a, c.Session, func(to *ctl.Client, link, record string) (string, error) {
		return to.Say(context.Background(), link, record, text)
	})
	if err != nil {
		return err
	}
	return gave(a, given{Schema: 1, Word: offer.Say, Taken: true}, "a reply in "+card.Line1(fleets.Label(&row)), c.JSON)
}

func (c *StopCmd) elsewhere(a *cli.App) error {
	row, said, err := send(a, c.Session, func(to *ctl.Client, link, record string) (string, error) {
		return to.Stop(context.Background(), link, record)
	})
	if err == nil {
		_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", row.Remote.Name, said)
	}
	return err
}

// PageFar answers other machines' sessions for a page. The server checks who is at the browser, as for this
// machine's sessions.
func PageFar(client func() (*ctl.Client, error)) card.Far {
	return hands{func() error { return nil }, client, false}
}

// hands implements card.Far. may reports whether the person may act; named makes it name the
// machine.
type hands struct {
	may    func() error
	client func() (*ctl.Client, error)
	named  bool
}

func (h hands) reach(r *render.Row) (*ctl.Client, error) {
	if r.Remote == nil || r.Remote.Link == "" {
		return nil, errors.New("it is asked by ssh, which carries no answers: beckon jump goes there")
	}
	if err := h.may(); err != nil {
		return nil, err
	}
	return h.client()
}

// Ask implements card.Far, as the three methods below do.
func (h hands) Ask(ctx context.Context, r render.Row) ([]card.Offered, error) {
	c, err := h.reach(&r)
	if err != nil {
		return nil, err
	}
	list, err := farOffers(ctx, c, &r)
	if err != nil {
		return nil, errors.New(render.OneLine(err.Error()))
	}
	return list, nil
}

func (h hands) Answer(ctx context.Context, r render.Row, o card.Offered, ans offer.Answer) (string, error) {
	if err := o.Card.May(ans.Word); err != nil {
		return "", err
	}
	return h.send(r, func(c *ctl.Client, link, record string) (string, error) { return c.Answer(ctx, link, record, ans) })
}

func (h hands) Say(ctx context.Context, r render.Row, words string) (string, error) {
	return h.send(r, func(c *ctl.Client, link, record string) (string, error) { return c.Say(ctx, link, record, words) })
}

func (h hands) Stop(ctx context.Context, r render.Row) (string, error) {
	return h.send(r, func(c *ctl.Client, link, record string) (string, error) { return c.Stop(ctx, link, record) })
}

func (h hands) send(r render.Row, how func(c *ctl.Client, link, record string) (string, error)) (string, error) {
	c, err := h.reach(&r)
	var text string
	if err == nil {
		text, err = how(c, r.Remote.Link, r.Record())
	}
	switch {
	case err != nil && h.named:
		return "", fmt.Errorf("%s: %s", r.Host, render.OneLine(err.Error()))
	case err != nil:
		return "", err
	case h.named:
		text = r.Host + ": " + text
	}
	return render.OneLine(text), nil
}
