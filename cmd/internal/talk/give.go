package talk

import (
	"cmp"
	"errors"
	"fmt"

	"beckon/cmd/internal/cli"
	"beckon/render/card"
	"beckon/state/request"
)

// given is the format of `answer --json`.
type given struct {
	Schema int             `json:"schema"`
	Offer  string          `json:"offer"`
	Word   request.Word    `json:"word"`
	Taken  bool            `json:"taken"`
	Why    string          `json:"why,omitempty"`
	By     *request.Answer `json:"answered,omitempty"` // who was first

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

// hand gives an answer, signed if the user has a PIN, and waits for its outcome.
func hand(a *cli.App, o *request.Request, ans request.Answer, sign signer) (given, error) {
	ans.By = cmp.Or(ans.By, a.User())
	dir := request.In(a.Store.Dir)
	if dir.HasPIN() {
		k, err := sign()
		if err == nil {
			err = k.Sign(o, &ans)
		}
		if err != nil {
			return given{}, err
		}
	}
	became, err := dir.Deliver(o, ans)
	out := given{Schema: 1, Offer: ans.Request, Word: ans.Word, Taken: became.Taken, Why: became.Why}
	out.did = effects[o.Kind].did[ans.Word]
	if taken, ok := errors.AsType[*request.TakenError](err); ok {
		out.By = &taken.By
	}
	if request.Late(err) {
		out.Why, err = err.Error(), nil
	}
	return out, err
}

// outcome describes what an answer did, or returns the error why it did nothing.
func outcome(out given, err error) (string, error) {
	if err == nil && !out.Taken {
		err = errors.New(out.Why)
	}
	if err != nil {
		return "", err
	}
	return out.did, nil
}

// Give gives the answer of a notification's button, and returns its outcome in words.
func Give(a *cli.App, o *request.Request, ans request.Answer) (became string, err error) {
	out, err := hand(a, o, ans, noPIN)
	became, why := outcome(out, err)
	if why != nil {
		became = "not answered: " + why.Error()
	}
	return became, err
}

// give gives an answer and prints its outcome.
func give(a *cli.App, o *card.Request, ans request.Answer, asJSON bool) error {
	out, err := hand(a, &o.Request, ans, askPIN(a))
	if err != nil {
		return err
	}
	return gave(a, out, titleOf(o), asJSON)
}

// titleOf names a request where the outcome of its answer is printed.
func titleOf(o *card.Request) string { return o.Card.Title + " in " + card.Line1(o.Name) }

// gave prints the outcome for the request called title.
func gave(a *cli.App, out given, title string, asJSON bool) (err error) {
	if asJSON {
		err = cli.WriteJSON(a.Stdout, out)
	} else if out.Taken {
		_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", out.did, title)
	}
	if out.Taken || err != nil {
		return err
	}
	if asJSON {
		return cli.Late("%w", cli.ErrSilent)
	}
	return cli.Late("%s: %s", title, out.Why)
}
