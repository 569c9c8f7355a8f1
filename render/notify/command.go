package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"beckon/event/run"
	"beckon/state/alert"
)

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
