package event

// Origin is where a hook ran: the agent's process, the terminal around it and
// the repository it works in. It is read by state/evidence and travels inside
// the event, so that folding the journal needs no reading of the present.
type Origin struct {
	Process  Process  `json:"process,omitzero"`
	Terminal Terminal `json:"terminal,omitzero"`
	Git      Git      `json:"git,omitzero"`
	Host     string   `json:"host,omitempty"`     // host name
	Entry    string   `json:"entry,omitempty"`    // CLAUDE_CODE_ENTRYPOINT: cli, sdk-cli, ...
	Launcher string   `json:"launcher,omitempty"` // BECKON_AGENT_ID, given by a launcher
	Project  string   `json:"project,omitempty"`  // root of the project: git work tree, else nearest marker, else cwd

	// What follows is filled in by the store, not by the reader.
	Seat      string `json:"seat,omitempty"`
	SeatAt    Millis `json:"seat_at,omitempty"` // when the seat was first seen
	Part      string `json:"part,omitempty"`    // tells the records of one session's processes apart
	ProjectID string `json:"project_id,omitempty"`
}

// Process names one process beyond reuse of its pid. Two processes
// are the same only if every field is equal.
type Process struct {
	Host    string `json:"host,omitempty"` // host name
	Boot    string `json:"boot,omitempty"` // boot id of the kernel, empty when not known
	NS      string `json:"ns,omitempty"`   // pid namespace, empty when not known
	Pid     int    `json:"pid,omitempty"`
	Machine string `json:"machine,omitempty"` // stands for the operating system's installation, empty when not known
	Start   string `json:"start,omitempty"`   // start time in the platform's own unit (Linux: field 22 of /proc/PID/stat)
}

// Terminal is the innermost terminal or multiplexer the agent sits in.
type Terminal struct {
	Kind string `json:"kind,omitempty"` // tmux, iterm2, kitty, wezterm, zellij, ghostty, vscode, windows-terminal, apple-terminal, ssh, ...
	ID   string `json:"id,omitempty"`   // what identifies the pane within Kind; never a secret

	Tmux Tmux `json:"tmux,omitzero"` // set when Kind is tmux

	Outer string `json:"outer,omitempty"` // the terminal program around a multiplexer, when known
	SSH   bool   `json:"ssh,omitempty"`   // the session came in over SSH

	// Listen is the address at which the terminal takes commands (kitty's
	// KITTY_LISTEN_ON); it lets a jump focus the pane.
	Listen string `json:"listen,omitempty"`
}

// Is reports whether two descriptions can be of the same pane. What one of them
// leaves out does not tell them apart.
func (t Terminal) Is(o Terminal) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return t.ID != "" && t.ID == o.ID && same(t.Kind, o.Kind) && same(t.Tmux.Socket, o.Tmux.Socket) &&
		(t.Tmux.Server == 0 || o.Tmux.Server == 0 || t.Tmux.Server == o.Tmux.Server)
}

// Tmux names one pane of one server; the pane id alone restarts from %0 with
// each server.
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

// JudgeDir begins the name of the directory, new each time, in which a policy runs
// an agent of its own to judge an event. Such an agent is not shown as a session.
const JudgeDir = "beckon-judge-"
