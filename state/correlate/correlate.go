// Package correlate finds the seat of a session: the row by which a developer knows it. It is
// pure: facts go in, the decision comes out, with the name of the strategy that made it.
//
// A seat survives /clear, compaction and resume. A terminal alone is no proof: a nested agent
// inherits it from its parent (CASE 7).
package correlate

// Method names a strategy.
type Method string

// The strategies, in the order in which they are tried. The names are those that the tracker's
// HTTP interface returns as correlation_method.
const (
	SessionID Method = "session_id"
	Process   Method = "process"
	Launcher  Method = "launcher_id"
	Terminal  Method = "tmux_pane_id"
	Directory Method = "working_directory"
	Created   Method = "created"
)

// Claim is what the seat index says about a process, launcher, terminal or directory. The zero
// value means nothing.
type Claim struct {
	Seat  string
	Since int64  // when the seat was first seen, in milliseconds; 0 if unknown
	Key   string // the session that made the claim
	// Taken: that session still sits there, and is another one.
	Taken bool
}

// Input is what is known of a session's surroundings.
type Input struct {
	Known     string // the seat that the session already has
	Process   Claim
	Launcher  Claim
	Terminal  Claim
	Directory Claim
	New       func() string // makes a seat
}

// strategies are tried in order: the first that gives a seat wins.
var strategies = [...]struct {
	method Method
	seat   func(Input) string
}{
	{SessionID, func(in Input) string { return in.Known }},
	// One process cannot be two sessions at once: /clear and the interactive /resume give it a
	// new session id.
	{Process, func(in Input) string { return in.Process.Seat }},
	{Launcher, func(in Input) string { return in.Launcher.free() }},
	{Terminal, func(in Input) string { return in.Terminal.free() }},
	{Directory, func(in Input) string { return in.Directory.free() }},
	{Created, func(in Input) string { return in.New() }},
}

// Holder returns the key of the session that held the seat which method found; empty unless
// the method is the launcher's, terminal's or directory's.
func (in Input) Holder(method Method) string {
	switch method {
	case Launcher:
		return in.Launcher.Key
	case Terminal:
		return in.Terminal.Key
	case Directory:
		return in.Directory.Key
	}
	return ""
}

func (c Claim) free() string {
	if c.Taken {
		return ""
	}
	return c.Seat
}

// Seat returns the seat of a session and the strategy that found it.
func Seat(in Input) (string, Method) {
	for _, s := range strategies {
		if seat := s.seat(in); seat != "" {
			return seat, s.method
		}
	}
	return "", Created
}
