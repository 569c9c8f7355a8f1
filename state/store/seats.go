package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	taken bool // the session that made the claim still sits there, and is another one
}

// choose returns the first of claims whose seat the session may have, a new seat if there is
// none, or its known one.
func choose(known string, claims []candidate) candidate {
	if known != "" {
		return candidate{claim{Seat: known}, BySessionID, false}
	}
	for _, c := range claims {
		// One process cannot be two sessions at once: /clear and the interactive /resume give it
		// a new session id.
		if c.Seat != "" && (!c.taken || c.by == ByProcess) {
			return c
		}
	}
	return candidate{claim{Seat: newSeat()}, Created, false}
}

// place sets the event's origin, if that is due, and gives the session its seat. For a new
// session it returns the method that found the seat.
func (h *holder) place(u *Update) Method {
	e := u.Change.Event
	if e == nil {
		return ""
	}
	u.fillOrigin(&h.s)
	o := e.Origin
	if o == nil {
		if h.s.Seat != "" {
			return ""
		}
		o = &event.Origin{}
		e.Origin = o
	}
	if o.Seat != "" {
		return "" // from a replay
	}
	_, o.Part, _ = cutPart(string(h.key))
	claims := h.claims(o, u)
	found := choose(h.s.Seat, claims)
	o.Seat, o.SeatAt = found.Seat, h.since(claims, found.Seat, u.Change.At)
	h.claim(o, e.Agent, u.Alive)
	if h.s.Seq > 0 {
		return ""
	}
	h.claimDirectory(o, u, found.by)
	if e.Kind == event.SessionStart && e.Source == "clear" {
		h.inherit(found.Key, u.Change.At)
	}
	if !state.StandsIn(e.SessionID) && found.by != ByProcess {
		h.retire(found.Key, u.Change.At)
	}
	return found.by
}

// inherit sets the session aside if the one before /clear, with key k, is: the user meant the
// agent, and only the user's next prompt ends it.
func (h *holder) inherit(k Key, now event.Millis) {
	var s state.Session
	if k == "" || k == h.key || !readable(h.st.session(k), &s) {
		return
	}
	if until, aside := s.SetAside(now); aside {
		h.aside = &state.Action{Kind: state.ActBackburner, Until: until}
	}
}

// since returns when the seat was first seen. Rows are sorted by it, as it does not change
// with the seat's sessions.
func (h *holder) since(claims []candidate, seat string, now event.Millis) event.Millis {
	first := now
	for _, c := range claims {
		if c.Seat == seat && c.Since > 0 {
			first = min(first, c.Since)
		}
	}
	if h.s.Seat == seat {
		first = min(first, cmp.Or(h.s.Origin.SeatAt, h.s.Created))
	}
	return first
}

// claims reads the seat index for the event's process, launcher, terminal and directory.
func (h *holder) claims(o *event.Origin, u *Update) []candidate {
	if h.s.Seat != "" {
		return nil
	}
	e := u.Change.Event
	list := []candidate{
		{h.st.readClaim(processID(o.Process)), ByProcess, false},
		{h.st.readClaim(launcherID(o.Launcher)), ByLauncher, false},
		{h.st.readClaim(terminalID(o, e.Agent)), ByTerminal, false},
	}
	for i := range list[1:] {
		c := &list[1+i]
		c.taken = c.Seat != "" && c.Key != h.key && h.st.occupied(&c.claim, o, u.Alive)
	}
	if !state.StandsIn(e.SessionID) {
		c := h.st.readClaim(directoryID(o, e))
		list = append(list, candidate{c, ByDirectory, !h.st.standsIn(c)})
	}
	return list
}

// standsIn reports whether the session that claimed a directory can still be taken over.
func (st *Store) standsIn(c claim) bool {
	var s state.Session
	return c.Key != "" && readable(st.session(c.Key), &s) && !over(&s)
}

// readable reads a session file, which needs no lock as it is always whole.
func readable(path string, s *state.Session) bool {
	_, err := readSession(path, s)
	return err == nil
}

// claimDirectory notes that a session without an id of its own is in a directory, or removes
// that note if another session took it over.
func (h *holder) claimDirectory(o *event.Origin, u *Update, method Method) {
	id := directoryID(o, u.Change.Event)
	switch {
	case id == "":
	case state.StandsIn(u.Change.Event.SessionID):
		h.writeClaim(id, o)
	case method == ByDirectory:
		_ = os.Remove(h.st.path(seatsDir, id+".json"))
	}
}

// occupied reports whether the claim's session may still occupy the place that a new session
// at o wants. It does not if it is over or its process is gone. If neither session has a
// process, only the terminal is known of both, and the new session takes the place.
func (st *Store) occupied(c *claim, o *event.Origin, alive func(event.Process, event.Millis) state.Presence) bool {
	var s state.Session
	if c.Key == "" || !readable(st.session(c.Key), &s) || over(&s) {
		return false
	}
	if s.Origin.Process.Pid == 0 {
		return o.Process.Pid != 0
	}
	return alive == nil || alive(s.Origin.Process, s.Activity) != state.Gone
}

// claim notes that the session is now at o.
func (h *holder) claim(o *event.Origin, agent string, alive func(event.Process, event.Millis) state.Presence) {
	process := processID(o.Process)
	for _, id := range [...]string{process, launcherID(o.Launcher), terminalID(o, agent)} {
		if id == "" {
			continue
		}
		c := h.st.readClaim(id)
		if c.Seat == o.Seat && c.Key == h.key {
			continue
		}
		if c.Seat != "" && c.Seat != o.Seat && id != process && h.st.occupied(&c, o, alive) {
			continue // a nested agent does not take its parent's pane
		}
		h.writeClaim(id, o)
	}
}

func (h *holder) writeClaim(id string, o *event.Origin) {
	b := append(jsonenc.Append(nil, &claim{o.Seat, h.key, o.SeatAt}), '\n')
	// The seat index only saves a search. An entry that cannot be written is made again at the
	// next start.
	_ = h.st.write(id+"."+string(h.key), seatsDir, id+".json", b)
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

func newSeat() string { return "s" + unique() }
