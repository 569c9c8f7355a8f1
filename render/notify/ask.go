package notify

import (
	"cmp"
	"context"
	"strings"
	"time"

	"beckon/event/redact"
	"beckon/render/card"
	"beckon/render/run"
	"beckon/state/alert"
	"beckon/state/request"
)

// Ask is an offer as a notification: a text and buttons.
type Ask struct {
	Note
	Digest  string         // of the offer
	Text    string         // several printable lines
	Buttons []request.Word // the possible answers: Allow only if Text is the whole call
	Expires time.Time
}

// Asker is a channel whose notifications may have buttons.
type Asker interface {
	Channel
	// Asks reports whether they do, by the user's configuration.
	Asks() bool
	// Words says how much of an offer the channel shows.
	Words() Words
	// Ask shows a until one of its buttons is pressed, and returns that word. It returns no
	// word if the user dismissed the notification or ctx ended. become, never nil, replaces
	// the notification's text by the result; an empty text removes it.
	Ask(ctx context.Context, a Ask) (word request.Word, become func(said string), err error)
}

// Words is how much of an offer a channel shows.
type Words struct {
	Rows int  // of text, the limit of what people read at a glance
	Full bool // else only project and tool
	Away bool // the text leaves this machine
	Open bool // others can read the text, as they can what is Away: secrets are removed
}

// AskOf prepares an offer for a channel. One that it does not show whole cannot be allowed,
// because the user would not know what they allow.
func AskOf(o *request.Request, host string, w Words) Ask {
	kind := o.Kind.Alert()
	project := cmp.Or(run.Base(o.Project), run.Base(o.Cwd), "a session")
	a := Ask{Digest: o.Digest, Expires: o.Expires.Time().Local(), Text: card.Line1(cmp.Or(o.Tool, string(o.Kind))),
		Note: Note{
			Schema: Schema, Kind: kind, Title: card.Line1(project + " " + alert.Verb(kind)), Project: project, Tool: o.Tool,
			Cwd: o.Cwd, Branch: o.Branch, Since: o.Made.Time(), Host: o.Host, Offer: o.ID,
		}}
	a.SessionID, a.Part, _ = strings.Cut(o.Record, "~")
	if o.Kind == request.Permission || o.Kind == request.Plan {
		a.Buttons = []request.Word{request.Deny}
	}
	whole := false
	if w.Full {
		c := card.Of(o, host)
		a.Text, whole = c.Brief(w.Rows)
	}
	if w.Away || w.Open {
		a.Title = redact.Text(a.Title)
		text := redact.Text(a.Text)
		a.Text, whole = text, whole && text == a.Text
	}
	if whole && len(a.Buttons) > 0 {
		a.Buttons = []request.Word{request.Allow, request.Deny}
	}
	a.Body = a.Text
	return a
}

var buttonLabels = map[request.Word]string{request.Allow: "Allow", request.Deny: "Deny"}
