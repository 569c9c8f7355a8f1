package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
)

// A seat is the row by which a user knows a session. It survives /clear, compaction and resume.
// A terminal alone is no proof: a nested agent inherits it from its parent.

// Method names how a session found its seat. The names are those that the tracker's HTTP
// interface returns as correlation_method.
type Method string

// The methods, in the order in which they are tried.
const (
	BySessionID Method = "session_id"
	ByProcess   Method = "process"
	ByLauncher  Method = "launcher_id"
	ByTerminal  Method = "tmux_pane_id"
	ByDirectory Method = "working_directory"
	Created     Method = "created"
)

// claim is an entry of the seat index: what it says about a process, launcher, terminal or
// directory.
type claim struct {
	Seat  string       `json:"seat_id"`
	Key   Key          `json:"key"` // the session that made the claim
	Since event.Millis `json:"since"`
}

// candidate is a claim for the seat of a session.
type candidate struct {
	claim
	by    Method
	taken bool   // the session that made the claim still sits there, and is another one
	id    string // of the entry; empty if nothing is known to look it up by
}

// choose returns the first of claims whose seat the session may have, a new seat if there is
// none, or its known one.
func choose(known string, claims []candidate) candidate {
	if known != "" {
		return candidate{claim: claim{Seat: known}, by: BySessionID}
	}
	for _, c := range claims {
		// One process cannot be two sessions at once: /clear and the interactive /resume give it
		// a new session id.
		if c.Seat != "" && (!c.taken || c.by == ByProcess) {
			return c
		}
	}
	return candidate{claim: claim{Seat: "s" + unique()}, by: Created}
}

// place sets the event's origin, if that is due, and gives the session its seat. For a new
// session it returns the method that found the seat.
func (h *locked) place(u *Update) Method {
	e := u.Change.Event
	if e == nil {
		return ""
	}
	u.fillOrigin(h.s)
	o := e.Origin
	switch {
	case o == nil && h.s.Seat != "", o != nil && o.Seat != "": // known, or from a replay
		return ""
	case o == nil:
		o = &event.Origin{}
		e.Origin = o
	}
	_, o.Part, _ = cutPart(string(h.key))
	claims := h.claims(o, u)
	found := choose(h.s.Seat, claims)
	o.Seat, o.SeatAt = found.Seat, h.since(claims, found.Seat, u.Change.At)
	for _, c := range claims {
		switch {
		case c.id == "" || c.by == ByDirectory:
		case c.Seat == o.Seat && c.Key == h.key: // noted already
		case c.taken && c.Seat != o.Seat && c.by != ByProcess: // a nested agent does not take its parent's pane
		default:
			h.writeClaim(c.id, o)
		}
	}
	if h.s.Seq > 0 {
		return ""
	}
	h.claimDirectory(o, e, found.by)
	var before state.Session // the one that had the seat
	if found.Key == "" || found.Key == h.key || !h.st.live(found.Key, &before) {
		return found.by
	}
	if e.Kind == event.SessionStart && e.Source == "clear" {
		// The user meant the agent, and only the user's next prompt ends it.
		if until, aside := before.SetAside(u.Change.At); aside {
			h.aside = &state.Action{Kind: state.ActBackburner, Until: until}
		}
	}
	if !state.StandsIn(e.SessionID) && found.by != ByProcess && state.StandsIn(before.ID) && !over(&before) {
		// Both are the same agent, and the one without an id of its own must not come back when
		// this one ends. If another process has locked it, it has just got an event and goes on.
		remove := Update{Change: state.Change{At: u.Change.At, Action: &state.Action{Kind: state.ActRemove}}}
		_, _ = h.st.fold(found.Key, &remove, new(Result))
	}
	return found.by
}

// since returns when the seat was first seen. Rows are sorted by it, as it does not change
// with the seat's sessions.
func (h *locked) since(claims []candidate, seat string, now event.Millis) event.Millis {
	if h.s.Seat == seat {
		return min(now, cmp.Or(h.s.Origin.SeatAt, h.s.Created))
	}
	for _, c := range claims {
		if c.Seat == seat && c.Since > 0 {
			now = min(now, c.Since)
		}
	}
	return now
}

// claims reads the seat index for the event's process, launcher, terminal and directory.
func (h *locked) claims(o *event.Origin, u *Update) []candidate {
	e := u.Change.Event
	list := []candidate{
		{by: ByProcess, id: processID(o.Process)},
		{by: ByLauncher, id: launcherID(o.Launcher)},
		{by: ByTerminal, id: terminalID(o, e.Agent)},
	}
	if h.s.Seat == "" && !state.StandsIn(e.SessionID) {
		list = append(list, candidate{by: ByDirectory, id: directoryID(o, e)})
	}
	for i := range list {
		c := &list[i]
		c.claim = h.st.readClaim(c.id)
		var s state.Session
		sits := c.Key != "" && c.Key != h.key && h.st.live(c.Key, &s) && !over(&s)
		switch {
		case c.by == ByDirectory:
			c.taken = !sits // only a session that has no id of its own can be taken over
		case sits && s.Origin.Process.Pid == 0:
			c.taken = o.Process.Pid != 0 // of two without a process only the terminal is known
		case sits:
			c.taken = u.Alive == nil || u.Alive(s.Origin.Process, s.Activity) != state.Gone
		}
	}
	return list
}

// live reads the file of a live session, which needs no lock as it is always whole.
func (st *Store) live(k Key, s *state.Session) bool {
	_, err := readSession(st.session(k), s)
	return err == nil
}

// claimDirectory notes that a session without an id of its own is in a directory, or removes
// that note if another session took it over.
func (h *locked) claimDirectory(o *event.Origin, e *event.Event, method Method) {
	id := directoryID(o, e)
	switch {
	case id == "":
	case state.StandsIn(e.SessionID):
		h.writeClaim(id, o)
	case method == ByDirectory:
		_ = os.Remove(h.st.path(seatsDir, id+".json"))
	}
}

// writeClaim writes an entry of the seat index, which only saves a search: one that cannot be
// written is made again at the next start.
func (h *locked) writeClaim(id string, o *event.Origin) {
	_ = h.st.write(seatsDir, id+".json", append(jsonenc.Append(nil, &claim{o.Seat, h.key, o.SeatAt}), '\n'))
}

// readClaim returns an entry of the seat index; the zero claim if there is none, or it cannot be
// read.
func (st *Store) readClaim(id string) (c claim) {
	if id == "" {
		return claim{}
	}
	data, err := readFile(st.path(seatsDir, id+".json"), maxFile)
	if err != nil || !jsonenc.Decode(string(data), &c) || !isKey(string(c.Key)) {
		return claim{}
	}
	return c
}

func processID(p event.Process) string {
	if p.Pid == 0 || p.Start == "" {
		return ""
	}
	return indexID("process", p.Host, p.Boot, p.NS, strconv.Itoa(p.Pid), p.Start)
}

func launcherID(launcher string) string {
	if launcher == "" {
		return ""
	}
	return indexID("launcher", launcher)
}

// terminalID returns the index id of a terminal pane and the agent in it, since two agents may
// use a pane one after the other.
func terminalID(o *event.Origin, agent string) string {
	t := o.Terminal
	if t.ID == "" {
		return ""
	}
	return indexID("terminal", o.Host, t.Kind, t.ID, t.Tmux.Socket, strconv.Itoa(t.Tmux.Server), t.Tmux.Pane, agent)
}

// directoryID returns the index id of the agent's project, or of its directory.
func directoryID(o *event.Origin, e *event.Event) string {
	dir := cmp.Or(o.Project, e.Cwd)
	if dir == "" {
		return ""
	}
	return indexID("directory", o.Host, dir, e.Agent)
}

// indexID returns a file name for the parts.
func indexID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// A user may run one session in two terminals at once (claude --continue, --resume): both
// clients send its id. The first process has the session's own record. Any other has a
// separate record, with its own file, lock and meter, so that the end, the death or
// the Esc of one does not affect the other. A process that resumes the session after the
// previous one is gone continues its record.

// PartOf returns the name of the part of a session that belongs to process p, or "" if too
// little is known about p.
func PartOf(p event.Process) string {
	id := processID(p)
	return id[:min(len(id), partLen)]
}

// RecordOf returns the record (state.Session.Record) of session id that belongs to the
// caller's client. other and alive are as in Update.
func (st *Store) RecordOf(id string, other func(event.Process) event.Process, alive Alive) string {
	k := KeyOf(id)
	s, err := st.Load(k)
	if err != nil || s.Origin.Process.Pid == 0 {
		return id
	}
	_, part, _ := cutPart(string(st.ownerOf(k, &s, other(s.Origin.Process), true, alive)))
	return state.Record(id, part)
}

// owner returns the key of the record that u belongs to. s is the session's own record, and k
// its key.
func (st *Store) owner(k Key, s *state.Session, u *Update) Key {
	e := u.Change.Event
	if u.Other == nil || s.Origin.Process.Pid == 0 {
		return k
	}
	p := u.Other(s.Origin.Process)
	begins := e != nil && e.Kind == event.SessionStart && e.Source != "compact"
	own := st.ownerOf(k, s, p, begins, u.Alive)
	if own == k && PartOf(p) != "" && e != nil && e.Origin == nil && u.Origin != nil {
		e.Origin = u.Origin() // the session continues in p
	}
	return own
}

// ownerOf returns the key of the record of process p; p is the zero Process if it is that of
// s. A process that begins the session takes over s unless the other process is known to run.
// For a process on another machine that is never known, and a session that moved here with its
// files is one row, not two.
func (st *Store) ownerOf(k Key, s *state.Session, p event.Process, begins bool, alive Alive) Key {
	part := PartOf(p)
	if part == "" {
		return k
	}
	own := k.part(part)
	is := state.Unread
	if alive != nil {
		is = alive(s.Origin.Process, s.Activity)
	}
	switch {
	case exists(st.session(own)), exists(st.archived(own)), exists(st.latePath(own, "")):
		return own
	case begins && (s.End.At != 0 || is != state.Alive):
		return k
	case s.End.At == 0 && (s.Lost.At != 0 || is == state.Gone):
		return k // the start of p was missed
	}
	return own
}

// fillOrigin sets the origin of u's event if it is new. due is set if the session is new,
// starts, or has changed its directory.
//
// A hook finds out everything itself when it is due. Other senders report what they know with
// each event (Update.Complete is set); what they leave out stays as it was.
func (u *Update) fillOrigin(s *state.Session) {
	e := u.Change.Event
	fresh, started := s.Seat == "", e.Kind == event.SessionStart
	moved := e.AgentID == "" && e.Cwd != "" && e.Cwd != s.Cwd
	due := fresh || started || moved
	if u.Complete == nil {
		if e.Origin == nil && due && u.Origin != nil {
			e.Origin = u.Origin()
		}
		return
	}
	var sent event.Origin
	if e.Origin != nil {
		sent = *e.Origin
	}
	e.Origin = nil
	if e.AgentID != "" && !fresh {
		return // a subagent may be elsewhere
	}
	o := sent
	if !fresh {
		o = join(s.Origin, sent, started)
	}
	if due {
		o = u.complete(s, o, sent.Git, moved)
	}
	if fresh || o != s.Origin {
		o.Seat = "" // to be found again
		e.Origin = &o
	}
}

// complete adds what this machine can find out. It finds that out anew, and keeps what only
// the sender can know.
func (u *Update) complete(s *state.Session, o event.Origin, sent event.Git, moved bool) event.Origin {
	if moved {
		o.Project = ""
	}
	if moved || o.Git.Worktree != "" {
		o.Git = sent
	}
	if p := o.Process; p.Pid != 0 && u.Alive != nil && u.Alive(p, s.Activity) == state.Gone {
		o.Process = event.Process{} // another process continues the session
	}
	return u.Complete(o)
}

// join returns known, updated with what an event reported. The first launcher and the first
// name of a tmux session are kept.
func join(known, sent event.Origin, started bool) event.Origin {
	o := known
	if sent.Host != "" && sent.Host != known.Host && known.Process.Pid == 0 {
		o.Host, o.Git, o.Project, o.ProjectID = sent.Host, event.Git{}, "", ""
	}
	o.Launcher = cmp.Or(o.Launcher, sent.Launcher)
	o.Entry = cmp.Or(o.Entry, sent.Entry)
	o.Git.Branch = cmp.Or(sent.Git.Branch, o.Git.Branch)
	o.Git.Repo = cmp.Or(sent.Git.Repo, o.Git.Repo)
	o.Terminal = joinTerminal(known, sent.Terminal, started)
	return o
}

// joinTerminal returns the terminal of known, or the reported one if the session moved there.
// It moved if both are of the same kind, or if known was only reported too. Otherwise known
// was found by the session's own process and is more precise than the report (which may name
// the program around a tmux), so the report counts only at a start.
func joinTerminal(known event.Origin, sent event.Terminal, started bool) event.Terminal {
	t := known.Terminal
	session := cmp.Or(t.Tmux.Session, sent.Tmux.Session)
	switch {
	case sent.ID == "":
	case t.Is(sent):
		t.Kind = cmp.Or(t.Kind, sent.Kind)
		t.Outer, t.Listen = cmp.Or(sent.Outer, t.Outer), cmp.Or(sent.Listen, t.Listen)
		t.SSH = t.SSH || sent.SSH
	case t.ID == "" || started || sent.Kind == t.Kind || known.Process.Pid == 0:
		sent.SSH = sent.SSH || t.SSH && known.Process.Pid == 0
		t = sent
	}
	t.Tmux.Session = session
	return t
}

// Identify sets the session id of an event whose sender named none: the id of the session that
// the event belongs to (state.Addressee), or one that stands for its terminal or directory. It
// reports whether the event now has an id. host is this machine's name.
func (st *Store) Identify(e *event.Event, host string) (bool, error) {
	if e.SessionID != "" {
		return true, nil
	}
	sessions, problems, err := st.Live()
	for _, p := range problems {
		err = errors.Join(err, p.Err)
	}
	e.SessionID = cmp.Or(state.Addressee(sessions, e, host), state.StandIn(e))
	return e.SessionID != "", err
}
