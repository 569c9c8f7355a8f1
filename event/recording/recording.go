// Package recording reads recordings of a real client: its hook payloads, status lines and
// registry, one JSON object per line. Tests and replay are built on the recordings in
// testdata/recordings.
package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"beckon/event"
)

// Step is one line of a recording.
type Step struct {
	Kind string       `json:"kind"` // "start", "statusline", "registry", or an event's name
	T    int64        `json:"t_ms"` // milliseconds from the first input; negative before it
	T0   event.Millis `json:"t0_epoch_ms"`
	At   event.Millis `json:"-"` // T as a wall time

	Payload  json.RawMessage   `json:"payload"`  // of a hook or status line: its stdin
	Env      map[string]string `json:"env"`      // the recorded part of a hook's environment
	Git      event.Git         `json:"git"`      // where a hook ran, if that was recorded
	Registry []Registry        `json:"sessions"` // of a registry step: all files at that moment
}

// Registry is the client's own record of one session, as a recording holds it.
type Registry struct {
	Pid             int          `json:"pid"`
	ProcStart       string       `json:"procStart"`
	SessionID       string       `json:"sessionId"`
	Kind            string       `json:"kind"`
	Status          string       `json:"status"`
	WaitingFor      string       `json:"waitingFor"`
	Cwd             string       `json:"cwd"`
	Name            string       `json:"name"`
	StatusUpdatedAt event.Millis `json:"statusUpdatedAt"`
	UpdatedAt       event.Millis `json:"updatedAt"`
	StartedAt       event.Millis `json:"startedAt"`
}

// Hook reports whether the step is a hook's payload.
func (s Step) Hook() bool {
	return s.Kind != "start" && s.Kind != "statusline" && s.Kind != "registry"
}

// Read reads a recording in the order it was written. An error names the line.
func Read(r io.Reader) ([]Step, error) {
	in := json.NewDecoder(r)
	var steps []Step
	var t0 event.Millis
	for {
		var step Step
		err := in.Decode(&step)
		if err == io.EOF {
			break
		}
		if err == nil && step.Kind == "" {
			err = errors.New("no kind")
		}
		if err != nil {
			return nil, fmt.Errorf("recording line %d: %w", len(steps)+1, err)
		}
		if step.Kind == "start" && t0 == 0 {
			t0 = step.T0
		}
		steps = append(steps, step)
	}
	if t0 == 0 {
		return nil, fmt.Errorf("recording has no start line with t0_epoch_ms")
	}
	for i := range steps {
		steps[i].At = t0 + event.Millis(steps[i].T)
	}
	return steps, nil
}

// Origin returns where the recorded hook ran, as far as its environment and the registry of
// that moment say. A process that the registry does not name yet gets an invented start time,
// so that it is one process.
func (s Step) Origin(registry []Registry, cwd string) *event.Origin {
	pid, _ := strconv.Atoi(cmp.Or(s.Env["CLAUDE_PID"], s.Env["ppid"]))
	o := &event.Origin{
		Host: "recording", Entry: s.Env["CLAUDE_CODE_ENTRYPOINT"], Project: cwd, Git: s.Git,
		Process: event.Process{Host: "recording", Pid: pid, Start: "recording"},
	}
	for _, r := range registry {
		if r.Pid == pid {
			o.Process.Start = r.ProcStart
		}
	}
	if tmux, pane := s.Env["TMUX"], s.Env["TMUX_PANE"]; pane != "" {
		socket, rest, _ := strings.Cut(tmux, ",")
		server, _, _ := strings.Cut(rest, ",")
		n, _ := strconv.Atoi(server)
		o.Terminal = event.Terminal{Kind: "tmux", ID: pane, Tmux: event.Tmux{Socket: socket, Server: n, Pane: pane}}
	}
	return o
}
