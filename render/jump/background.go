package jump

import (
	"strings"
)

// attachJob shows a session that the client runs in the background: `claude
// attach` opens it in a terminal. Inside tmux that is a new window of the
// caller's client; outside, the caller's own terminal, for which Become is left
// to the caller.
func (m *move) attachJob() (Result, error) {
	id := m.row.Job.ID
	attach := Command{Argv: []string{"claude", "attach", id}}
	if id == "" || id[0] == '-' || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return Result{}, &ByHand{"it runs in the background, under an id that is not valid", "claude agents"}
	}
	path, err := m.Find("claude")
	if err != nil {
		return Result{}, &ByHand{"it runs in the background, and claude is not in the PATH", attach.String()}
	}
	attach.Argv[0] = path
	s, c := m.own()
	switch {
	case c == nil && !m.Attended:
		return Result{}, &ByHand{"it runs in the background", "claude attach " + id}
	case c == nil:
		return Result{Did: "claude shows the background session " + id, Commands: []Command{attach}, Become: &attach}, nil
	}
	show := append(tmuxArgv(s.socket), "new-window", "-t", c.session+":", "-n", "claude-"+id)
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" { // the server may have another one
		show = append(show, "-e", "CLAUDE_CONFIG_DIR="+dir)
	}
	show = append(append(show, "--"), attach.Argv...)
	if out, err := m.do(Command{Argv: show}); err != nil {
		return Result{}, m.failed("tmux", out, err)
	}
	return Result{Did: "tmux shows the background session " + id + " in a new window", Commands: m.ran}, nil
}
