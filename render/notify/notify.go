// Package notify notifies the user of an alert through the channels that they chose: the
// desktop, a terminal, a program, a phone.
//
// It guarantees that the user is notified of an alert at most once, whichever program sees it
// (hook, watch, server); a channel that fails or hangs delays no other and ends by its own
// time limit; every decision is in the log that `beckon notify log` reads. Package state
// makes the decisions.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"beckon/event/redact"
	"beckon/event/run"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/request"
)

// Schema is the number of the format of Note. Members are only ever added.
const Schema = 1

// Note is a notification; as JSON it is the command's stdin.
type Note struct {
	Schema    int             `json:"schema"`
	Kind      state.AlertKind `json:"kind"`
	Title     string          `json:"title"` // one clean line
	Body      string          `json:"body"`  // one clean line, may be empty
	SessionID string          `json:"session_id"`
	Part      string          `json:"part,omitempty"` // of the session, if several processes run it
	SeatID    string          `json:"seat_id,omitempty"`
	Name      string          `json:"name,omitempty"` // that the user gave the session
	Project   string          `json:"project"`
	Tool      string          `json:"tool,omitempty"`  // of the dialog
	Request   string          `json:"offer,omitempty"` // id of the request that can be answered, see beckon answer
	Cwd       string          `json:"cwd,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Since     time.Time       `json:"since"` // UTC
	Host      string          `json:"host,omitempty"`
	Terminal  string          `json:"terminal,omitempty"` // its kind
	Pane      string          `json:"tmux_pane,omitempty"`
	Test      bool            `json:"test,omitempty"` // sent by `beckon notify test`
	Public    bool            `json:"-"`              // contains nothing about any session
}

func noteOf(s *state.Session, e state.Alert) Note {
	title, body := alert.Words(s, e)
	o := &s.Origin
	return Note{
		Schema: Schema, Kind: e.Kind, Title: title, Body: body, SessionID: s.ID, Part: s.Part, SeatID: s.Seat, Name: s.Name,
		Project: alert.Project(s), Tool: e.Call.Name,
		Cwd: s.Cwd, Branch: o.Git.Branch, Since: e.At.Time(), Host: o.Host, Terminal: o.Terminal.Kind,
		Pane: o.Terminal.Tmux.Pane,
	}
}

func (n *Note) record() string { return state.Record(n.SessionID, n.Part) }

// Channel is one way to the user.
type Channel struct {
	Name string // in the configuration
	// Send returns when the user was notified, or that failed, within its own time limit.
	Send func(ctx context.Context, n Note) error
	// Ask shows a request until one of its buttons is pressed, and returns that word. It returns no
	// word if the user dismissed the notification or ctx ended. become, never nil, replaces the
	// notification's text by the result; an empty text removes it. Without buttons Ask is nil.
	Ask func(ctx context.Context, a Ask) (word request.Word, become func(said string), err error)
	// Rows is how many rows of a request it shows, what people read at a glance; 0 for project and tool
	// alone. Others can read it, on this machine, too, so secrets are removed.
	Rows int
}

// Send sends n through all channels concurrently and returns a line for the log: the channels,
// with errors.
func Send(ctx context.Context, channels []Channel, n Note) string {
	said := make([]string, len(channels))
	var wait sync.WaitGroup
	for i, c := range channels {
		wait.Go(func() {
			said[i] = c.Name
			if err := c.Send(ctx, n); err != nil {
				said[i] += ": " + err.Error()
			}
		})
	}
	wait.Wait()
	return strings.Join(said, ", ")
}

// clicks are the notifications of the desktop that wait for a click.
var clicks sync.WaitGroup

// Wait waits until every notification was clicked or closed, at most two minutes.
func Wait() { clicks.Wait() }

// ErrNoDesktop means that there is no desktop, as over SSH or in a container.
var ErrNoDesktop = errors.New("no desktop here: there is no session bus")

// programLimit is the time limit of a program that shows a notification.
const programLimit = 5 * time.Second

// Ask is a request as a notification: its Body has several printable lines.
type Ask struct {
	Note
	Buttons []request.Word // the possible answers: Allow only if Body is the whole call
	Expires time.Time
}

// AskOf prepares a request for a channel of that many rows. One that it does not show whole cannot be allowed,
// because the user would not know what they allow.
func AskOf(r *request.Request, host string, rows int) Ask {
	text, whole := card.Line1(cmp.Or(r.Tool, string(r.Kind))), false
	if rows > 0 {
		c := card.Of(r, host)
		text, whole = c.Brief(rows)
	}
	s := state.Session{Cwd: r.Cwd}
	s.ID, s.Part, _ = strings.Cut(r.Record, "~")
	s.Origin.Project, s.Origin.Host, s.Origin.Git.Branch = r.Project, r.Host, r.Branch
	asks := state.Alert{Kind: r.Kind.Alert(), At: r.Made, Call: state.Call{Name: r.Tool}}
	a := Ask{Note: noteOf(&s, asks), Expires: r.Expires.Time().Local()}
	a.Title, a.Body, a.Request = redact.Text(a.Title), redact.Text(text), r.ID
	if r.Kind == request.Permission || r.Kind == request.Plan {
		if whole && a.Body == text {
			a.Buttons = append(a.Buttons, request.Allow)
		}
		a.Buttons = append(a.Buttons, request.Deny)
	}
	return a
}

var buttonLabels = map[request.Word]string{request.Allow: "Allow", request.Deny: "Deny"}

// Command is the channel of a program of the user's choice, which runs for at most ten seconds. It
// gets the note as JSON on stdin and its main members in the environment.
func Command(argv []string) Channel {
	return Channel{Name: alert.Command, Send: func(ctx context.Context, n Note) error {
		if len(argv) == 0 {
			return errors.New("notify_command is not set")
		}
		data, err := json.Marshal(n)
		if err != nil {
			return err
		}
		p := run.Program{Argv: argv, Env: n.env(), Stdin: bytes.NewReader(append(data, '\n')), Limit: 10 * time.Second}
		_, err = p.Output(ctx)
		return err
	}}
}

func (n Note) env() []string {
	return []string{
		"BECKON_KIND=" + string(n.Kind), "BECKON_TITLE=" + n.Title, "BECKON_BODY=" + n.Body,
		"BECKON_SESSION_ID=" + n.record(), "BECKON_PROJECT=" + n.Project, "BECKON_CWD=" + n.Cwd,
	}
}
