package notify

import (
	"cmp"
	"context"
	"strings"
	"time"

	"beckon/event/redact"
	"beckon/render/card"
	"beckon/state/alert"
	"beckon/state/offer"
)

// Ask is an offer as a notification puts it to the user: a text and buttons.
type Ask struct {
	Note
	Digest  string       // of the offer
	Text    string       // of several lines, all of which print
	Buttons []offer.Word // what may be answered: Allow only where Text is all of the call
	Expires time.Time
}

// Asker is a channel whose notifications may have buttons.
type Asker interface {
	Channel
	// Asks reports whether they do, by the user's choice.
	Asks() bool
	// Words says how much of an offer the channel shows.
	Words() Words
	// Ask shows a until one of its buttons is pressed, and returns that word. It
	// returns none when the user put the notification away or ctx ended. become,
	// never nil, then says in the notification's place what became of it; nothing
	// said only takes it away.
	Ask(ctx context.Context, a Ask) (word offer.Word, become func(said string), err error)
}

// Words is how much of an offer a channel shows.
type Words struct {
	Rows int  // of text, of which a glance takes in no more
	Full bool // else project and tool only
	Away bool // the text leaves this machine: secrets are taken out
}

// AskOf puts an offer into the words of a channel. What does not show whole
// cannot be allowed: the user would not know what.
func AskOf(o *offer.Offer, host string, w Words) Ask {
	kind := o.Kind.Edge()
	project := cmp.Or(base(o.Project), base(o.Cwd), "a session")
	a := Ask{Digest: o.Digest, Expires: o.Expires.Time().Local(), Text: card.Line1(cmp.Or(o.Tool, string(o.Kind))), Note: Note{
		Schema: Schema, Kind: kind, Title: card.Line1(project + " " + alert.Verb(kind)), Project: project, Tool: o.Tool,
		Cwd: o.Cwd, Branch: o.Branch, Since: o.Made.Time(), Host: o.Host, Offer: o.ID,
	}}
	a.SessionID, a.Part, _ = strings.Cut(o.Record, "~")
	if o.Kind == offer.Permission || o.Kind == offer.Plan {
		a.Buttons = []offer.Word{offer.Deny}
	}
	whole := false
	if w.Full {
		c := card.Of(o, host)
		a.Text, whole = c.Brief(w.Rows)
	}
	if w.Away {
		a.Title = redact.Text(a.Title)
		text := redact.Text(a.Text)
		a.Text, whole = text, whole && text == a.Text
	}
	if whole && len(a.Buttons) > 0 {
		a.Buttons = []offer.Word{offer.Allow, offer.Deny}
	}
	a.Body = a.Text
	return a
}

var buttonLabels = map[offer.Word]string{offer.Allow: "Allow", offer.Deny: "Deny"}
