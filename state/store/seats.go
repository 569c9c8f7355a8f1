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
	"beckon/state/correlate"
)

// place sets the event's origin, if that is due, and gives the session its seat, by which the
// user knows it across /clear and resume. For a new session it returns the method that found
// the seat.
func (h *holder) place(u *Update) string {
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
	in := h.claims(o, u)
	seat, method := correlate.Seat(in)
	o.Seat, o.SeatAt = seat, h.since(&in, seat, u.Change.At)
	h.claim(o, e.Agent, u.Alive)
	if h.s.Seq > 0 {
		return ""
	}
	h.claimDirectory(o, u, method)
	if e.Kind == event.SessionStart && e.Source == "clear" {
		before := in.Holder(method)
		if method == correlate.Process {
			before = in.Process.Key
		}
		h.inherit(Key(before), u.Change.At)
	}
	if !state.StandsIn(e.SessionID) {
		h.retire(Key(in.Holder(method)), u.Change.At)
	}
	return string(method)
}

// inherit sets the session aside if the one before /clear, with key k, is: the user meant the
// agent, and only the user's next prompt ends it.
func (h *holder) inherit(k Key, now event.Millis) {
	var s state.Session
	if k == "" || k == h.key || readSession(h.st.session(k), &s) != nil {
		return
	}
	if until, aside := s.SetAside(now); aside {
		h.aside = &state.Action{Kind: state.ActBackburner, Until: until}
	}
}

// since returns when the seat was first seen. Rows are sorted by it, as it does not change
// with the seat's sessions.
func (h *holder) since(in *correlate.Input, seat string, now event.Millis) event.Millis {
	first := now
	for _, c := range [...]correlate.Claim{in.Process, in.Launcher, in.Terminal, in.Directory} {
		if c.Seat == seat && c.Since > 0 {
			first = min(first, event.Millis(c.Since))
		}
	}
	if h.s.Seat == seat {
		first = min(first, cmp.Or(h.s.Origin.SeatAt, h.s.Created))
	}
	return first
}

// claims reads the seat index for the event's process, launcher, terminal and directory.
func (h *holder) claims(o *event.Origin, u *Update) correlate.Input {
	in := correlate.Input{Known: h.s.Seat, New: newSeat}
	if h.s.Seat != "" {
		return in
	}
	in.Process = h.st.readClaim(processID(o.Process))
	in.Launcher = h.st.readClaim(launcherID(o.Launcher))
	in.Terminal = h.st.readClaim(terminalID(o, u.Change.Event.Agent))
	if !state.StandsIn(u.Change.Event.SessionID) {
		in.Directory = h.st.readClaim(directoryID(o, u.Change.Event))
	}
	for _, c := range []*correlate.Claim{&in.Launcher, &in.Terminal} {
		c.Taken = c.Seat != "" && c.Key != string(h.key) && h.st.occupied(c, o, u.Alive)
	}
	in.Directory.Taken = !h.st.standsIn(in.Directory)
	return in
}

// standsIn reports whether the session that claimed a directory can still be taken over.
func (st *Store) standsIn(c correlate.Claim) bool {
	var s state.Session
	return c.Key != "" && readSession(st.session(Key(c.Key)), &s) == nil && !over(&s)
}

// claimDirectory notes that a session without an id of its own is in a directory, or removes
// that note if another session took it over.
func (h *holder) claimDirectory(o *event.Origin, u *Update, method correlate.Method) {
	id := directoryID(o, u.Change.Event)
	switch {
	case id == "":
	case state.StandsIn(u.Change.Event.SessionID):
		h.writeClaim(id, o)
	case method == correlate.Directory:
		_ = os.Remove(h.st.path(seatsDir, id+".json"))
	}
}

// occupied reports whether the claim's session may still occupy the place that a new session
// at o wants. It does not if it is over or its process is gone. If neither session has a
// process, only the terminal is known of both, and the new session takes the place.
func (st *Store) occupied(c *correlate.Claim, o *event.Origin, alive func(event.Process, event.Millis) state.Presence) bool {
	var s state.Session
	if c.Key == "" || readSession(st.session(Key(c.Key)), &s) != nil || over(&s) { // no lock is needed: the file is always whole
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
		if c.Seat == o.Seat && c.Key == string(h.key) {
			continue
		}
		if c.Seat != "" && c.Seat != o.Seat && id != process && h.st.occupied(&c, o, alive) {
			continue // a nested agent does not take its parent's pane
		}
		h.writeClaim(id, o)
	}
}

// claim is an entry of the seat index.
type claim struct {
	Seat  string `json:"seat_id"`
	Key   Key    `json:"key"`
	Since int64  `json:"since"`
}

func (h *holder) writeClaim(id string, o *event.Origin) {
	b := append(jsonenc.Append(nil, &claim{o.Seat, h.key, int64(o.SeatAt)}), '\n')
	// The seat index only saves a search. An entry that cannot be written is made again at the
	// next start.
	_ = h.st.write(id+"."+string(h.key), seatsDir, id+".json", b)
}

func (st *Store) readClaim(id string) (c correlate.Claim) {
	if id == "" {
		return c
	}
	data, err := readFile(st.path(seatsDir, id+".json"), maxFile)
	var r claim
	if err != nil || !jsonenc.Decode(string(data), &r) || !isKey(string(r.Key)) {
		return c
	}
	return correlate.Claim{Seat: r.Seat, Key: string(r.Key), Since: r.Since}
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
