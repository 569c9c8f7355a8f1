package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"beckon/render/run"
	"beckon/state/alert"
)

// commandLimit is the time limit of the user's own program.
const commandLimit = 10 * time.Second

// Command is the channel of a program of the user's choice. It gets the note as
// JSON on stdin and its main members in the environment.
type Command struct{ Argv []string }

// Name returns the channel's name in the configuration.
func (Command) Name() string { return alert.Command }

// Send runs the program, for at most ten seconds.
func (c Command) Send(ctx context.Context, n Note) error {
	if len(c.Argv) == 0 {
		return errors.New("notify_command is not set")
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	p := run.Program{Argv: c.Argv, Env: n.env(), Stdin: bytes.NewReader(append(data, '\n')), Limit: commandLimit}
	_, err = p.Output(ctx)
	return err
}

func (n Note) env() []string {
	return []string{
		"BECKON_KIND=" + string(n.Kind), "BECKON_TITLE=" + n.Title, "BECKON_BODY=" + n.Body,
		"BECKON_SESSION_ID=" + n.record(), "BECKON_PROJECT=" + n.Project, "BECKON_CWD=" + n.Cwd,
	}
}
