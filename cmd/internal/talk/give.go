package talk

import (
	"cmp"
	"errors"
	"fmt"

	"beckon/cmd/internal/cli"
	"beckon/render/card"
	"beckon/state/request"
	"beckon/state/request/pin"
)

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
	out := result{Schema: 1, Request: r.ID, Word: ans.Word, Taken: became.Taken, Why: became.Why}
	out.did = effects[r.Kind].did[ans.Word]
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
