package event

import (
	"strconv"
	"strings"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// ParseEnvelope parses the unified envelope, which HTTP clients post:
//
//	{"agent", "event", "hookInput": {the agent's own payload},
//	 "terminal": {"sessionId", "cwd", "terminalType", "kittyListenOn", "kittyPid"},
//	 "git": {"branch", "repo"},
//	 "tmux": {"pane", "sessionName"}, "remoteHost"}
//
// All but event may be absent. hookInput is read as Parse reads it; the rest becomes the
// Origin, whose Process stays empty because it cannot be verified.
func ParseEnvelope(payload []byte) (Event, error) {
	d := documentOf(payload)
	v, err := d.object()
	if err != nil {
		return Event{}, err
	}
	input := v.Get("hookInput")
	if !input.IsObject() {
		input = gjson.Parse("{}")
	}
	e := parse(member(v, "agent", MaxID), member(v, "event", MaxID), input)
	if e.Cwd == "" {
		e.Cwd = member(v, "terminal.cwd", MaxPath)
	}
	e.Origin = envelopeOrigin(v)
	return e, nil
}

func member(v gjson.Result, path string, max int) string {
	return jsonenc.Unquote(v.Get(path).Raw, max)
}

func envelopeOrigin(v gjson.Result) *Origin {
	o := &Origin{
		Host: member(v, "remoteHost", MaxID),
		Git:  Git{Branch: member(v, "git.branch", MaxID), Repo: member(v, "git.repo", MaxID)},
		Terminal: Terminal{
			Kind: member(v, "terminal.terminalType", MaxID),
			ID:   member(v, "terminal.sessionId", MaxID),
			Tmux: Tmux{Pane: member(v, "tmux.pane", MaxID), Session: member(v, "tmux.sessionName", MaxID)},
		},
	}
	t := &o.Terminal
	t.SSH = o.Host != ""
	if t.Kind == "" && itermSession(t.ID) {
		t.Kind = "iterm2"
	}
	switch pid := v.Get("terminal.kittyPid").Int(); {
	case t.Tmux.Pane != "":
		t.Kind, t.ID, t.Outer = "tmux", t.Tmux.Pane, t.Kind
	case t.Kind == "kitty" && t.ID != "" && pid > 0:
		t.ID = strconv.FormatInt(pid, 10) + "," + t.ID // as the hook reads it: window ids count from 1 in each kitty
		t.Listen = member(v, "terminal.kittyListenOn", MaxPath)
	}
	if *o == (Origin{}) {
		return nil
	}
	return o
}

// itermSession recognises ITERM_SESSION_ID, "w0t0p0:UUID", which the first version of the
// envelope had without a terminalType.
func itermSession(id string) bool {
	window, _, ok := strings.Cut(id, ":")
	return ok && strings.HasPrefix(window, "w") && strings.Contains(window, "t") && strings.Contains(window, "p")
}

// Origin is where a hook ran: the agent's process, its terminal and the repository it works
// in. state/evidence reads it, and it is part of the event, so that folding the journal does
// not depend on the present.
type Origin struct {
	Process  Process  `json:"process,omitzero"`
	Terminal Terminal `json:"terminal,omitzero"`
	Git      Git      `json:"git,omitzero"`
	Host     string   `json:"host,omitempty"`     // host name
	Entry    string   `json:"entry,omitempty"`    // CLAUDE_CODE_ENTRYPOINT: cli, sdk-cli, ...
	Launcher string   `json:"launcher,omitempty"` // BECKON_AGENT_ID, given by a launcher
	Project  string   `json:"project,omitempty"`  // root of the project: git work tree, else nearest marker, else cwd

	// The store, not the reader, fills in what follows.
	Seat      string `json:"seat,omitempty"`
	SeatAt    Millis `json:"seat_at,omitempty"` // when the seat was first seen
	Part      string `json:"part,omitempty"`    // distinguishes the records of one session's processes
	ProjectID string `json:"project_id,omitempty"`
}

// Process identifies one process even if its pid is reused. Two processes are the same only if
// every field is equal.
type Process struct {
	Host    string `json:"host,omitempty"` // host name
	Boot    string `json:"boot,omitempty"` // boot id of the kernel, empty if unknown
	NS      string `json:"ns,omitempty"`   // pid namespace, empty if unknown
	Pid     int    `json:"pid,omitempty"`
	Machine string `json:"machine,omitempty"` // identifies the operating system's installation, empty if unknown
	Start   string `json:"start,omitempty"`   // start time in the platform's own unit (Linux: field 22 of /proc/PID/stat)
}

// Terminal is the innermost terminal or multiplexer the agent sits in.
type Terminal struct {
	Kind string `json:"kind,omitempty"` // tmux, iterm2, kitty, wezterm, zellij, ghostty, vscode, ssh, ...
	ID   string `json:"id,omitempty"`   // identifies the pane within Kind; never a secret

	Tmux Tmux `json:"tmux,omitzero"` // set when Kind is tmux

	Outer string `json:"outer,omitempty"` // the terminal program around a multiplexer, if known
	SSH   bool   `json:"ssh,omitempty"`   // the session came in over SSH

	// Listen is the address at which the terminal takes commands (kitty's KITTY_LISTEN_ON), so
	// that a jump can focus the pane.
	Listen string `json:"listen,omitempty"`
}

// Is reports whether two descriptions can be of the same pane. Missing fields do not
// distinguish them.
func (t Terminal) Is(o Terminal) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return t.ID != "" && t.ID == o.ID && same(t.Kind, o.Kind) && same(t.Tmux.Socket, o.Tmux.Socket) &&
		(t.Tmux.Server == 0 || o.Tmux.Server == 0 || t.Tmux.Server == o.Tmux.Server)
}

// Tmux identifies one pane of one server; pane ids alone restart from %0 with each server.
type Tmux struct {
	Socket  string `json:"socket,omitempty"`  // path of the server's socket
	Server  int    `json:"server,omitempty"`  // pid of the server
	Pane    string `json:"pane,omitempty"`    // %N
	Session string `json:"session,omitempty"` // BECKON_TMUX_SESSION, when a launcher set it
}

// Git is the repository state at a directory, read from files.
type Git struct {
	Branch   string `json:"branch,omitempty"`   // short branch name; empty when detached
	Head     string `json:"head,omitempty"`     // first 12 digits of HEAD when detached
	Repo     string `json:"repo,omitempty"`     // name for people: base of the main work tree
	Worktree string `json:"worktree,omitempty"` // root of the work tree that holds the directory
	Common   string `json:"common,omitempty"`   // the common git directory: equal for all work trees of a repository
	Linked   bool   `json:"linked,omitempty"`   // Worktree is a linked work tree or submodule
}

// ModelDir is the prefix of the temporary directory in which a policy runs an agent of its own
// to judge an event. Such an agent is not shown as a session.
const ModelDir = "beckon-judge-"
