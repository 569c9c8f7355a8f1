package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/render"
)

// View is what a viewer knows of a fleet. It is not safe for use by several
// goroutines.
type View struct {
	nodes  map[string]*node // by the prefix of their keys
	round  int              // of Begin
	last   time.Time        // when something came, or was asked for, by this machine's clock
	offset time.Duration    // from this machine's clock to the server's
	timed  bool

	// Lost is after which silence a host is not heard any more.
	Lost time.Duration
}

// node is one machine.
type node struct {
	key      string
	presence Presence
	present  bool      // it has said something of itself
	heard    time.Time // the server's time of it
	rows     map[string]*held
	suspect  int // presences in a row that did not fit its rows
}

// held is a row with the server's times, or when it was dropped.
type held struct {
	stamp
	gone  bool
	row   render.Row
	at    time.Time // the server's
	round int
}

// NewView returns a view that knows nothing.
func NewView() *View { return &View{nodes: map[string]*node{}, Lost: Lost} }

// serverTime notes that the server's clock showed t when this machine's showed
// now. The largest difference that was ever seen is the one that was delayed
// least.
func (v *View) serverTime(t, now time.Time) {
	if d := t.Sub(now); !v.timed || d > v.offset {
		v.offset, v.timed = d, true
	}
}

// here is the server's time t by this machine's clock.
func (v *View) here(t time.Time) time.Time { return t.Add(-v.offset) }

// Begin says that all values are read anew from here, where a server's clock shows t
// and this machine's now. It may be another server than before.
func (v *View) Begin(t, now time.Time) {
	v.round++
	v.last, v.timed = now, false
	v.serverTime(t, now)
}

// Apply takes a message that the server received at a time of its own, and reports
// whether it is news, and whether it is one at all. now is this machine's time.
func (v *View) Apply(m Message, server, now time.Time) (news, ok bool) {
	v.serverTime(server, now)
	v.last = now
	key, seat, ok := splitKey(m.Key)
	n := v.nodes[key]
	if !ok || n == nil && len(v.nodes) >= maxHosts {
		return false, false
	}
	if n == nil {
		n = &node{key: key, rows: map[string]*held{}}
	}
	if seat == "" {
		news, ok = v.present(n, m, server)
	} else {
		news, ok = v.row(n, seat, m, server)
	}
	switch {
	case ok && m.Gone && seat == "":
		delete(v.nodes, key)
		return true, true
	case ok:
		v.nodes[key] = n
	}
	return news, ok
}

// row takes a row, unless a newer one is held.
func (v *View) row(n *node, seat string, m Message, server time.Time) (news, ok bool) {
	w, ok := readWire(m.Data)
	if !ok {
		if !m.Gone {
			return false, false
		}
		_, was := n.rows[seat] // the server took it off, or somebody by hand
		delete(n.rows, seat)
		return was, true
	}
	old := n.rows[seat]
	if old != nil && w.before(old.stamp) && !n.silent(server, old.at) {
		return false, true
	}
	if old == nil && len(n.rows) >= 2*maxRows {
		return false, false
	}
	if n.present && w.Epoch > n.presence.Epoch && n.heard.Sub(server) > announced {
		return false, true
	}
	news = old == nil || old.stamp != w.stamp
	h := &held{stamp: w.stamp, gone: w.Gone || m.Gone, at: server, round: v.round}
	if !h.gone {
		h.row = w.row(server)
	}
	n.rows[seat] = h
	return news, true
}

// silent reports whether a message of an older epoch counts all the same. A host
// whose files are a backup's counts from where that was made, and a server that
// forgot cannot tell it; what a server replays was received before, not later.
func (n *node) silent(server, last time.Time) bool {
	return server.Sub(last) > Lost && server.Sub(n.heard) > Lost
}

// present takes what a host says of itself.
func (v *View) present(n *node, m Message, server time.Time) (news, ok bool) {
	p, ok := readPresence(m.Data)
	if !ok {
		return false, m.Gone
	}
	if n.present && p.before(n.presence.stamp) && !n.silent(server, n.heard) {
		return false, true
	}
	// The server sees to it that nobody publishes under another's key. What a host
	// calls itself, and is gone to by, must be the name of its own.
	user, rest, _ := strings.Cut(n.key, ".")
	host, _, _ := strings.Cut(rest, ".")
	if Token(p.User) != user || Token(p.Host) != host {
		p.User, p.Host = word(user), word(host)
	}
	news = !n.present || p.Digest != n.presence.Digest || p.Epoch != n.presence.Epoch || p.Bye != n.presence.Bye || server.Sub(n.heard) > Lost
	n.presence, n.present, n.heard = p, true, server
	for seat, h := range n.rows {
		age := server.Sub(h.at)
		if h.Epoch < p.Epoch || h.gone && age > Lost || h.Epoch > p.Epoch && age > announced {
			delete(n.rows, seat)
		}
	}
	all := n.seqs(func(*held) bool { return true })
	if digest(all) == p.Digest || v.prune(n) { // the rows are those that it counts
		n.suspect = 0
	} else {
		n.suspect++
	}
	return news, true
}

// announced is how long after its rows a new epoch's presence may come. What comes
// later is of an epoch that somebody gave up.
const announced = Beat / 3

// seqs are the numbers of the rows of the newest epoch, by seat.
func (n *node) seqs(which func(*held) bool) map[string]uint64 {
	seqs := make(map[string]uint64, len(n.rows))
	for seat, h := range n.rows {
		if !h.gone && h.Epoch == n.presence.Epoch && which(h) {
			seqs[seat] = h.Seq
		}
	}
	return seqs
}

// prune drops the rows that this round did not deliver, if it delivered all there
// are.
func (v *View) prune(n *node) bool {
	if digest(n.seqs(func(h *held) bool { return h.round == v.round })) != n.presence.Digest {
		return false
	}
	for seat, h := range n.rows {
		if h.round != v.round {
			delete(n.rows, seat)
		}
	}
	return true
}

// Suspect reports whether everything must be read again: for two beats some host's
// rows were not as many as it counts, so something was lost on the way; or nothing
// was heard for so long that the connection may be dead.
func (v *View) Suspect(now time.Time) bool {
	if now.Sub(v.last) > Lost {
		return true
	}
	for _, n := range v.nodes {
		if n.suspect >= 2 {
			n.suspect = 0
			return true
		}
	}
	return false
}

// Rows counts the rows that are held.
func (v *View) Rows() (n int) {
	for _, node := range v.nodes {
		n += len(node.rows)
	}
	return n
}

// Snapshot returns the rows of all hosts, in no order, and the hosts, sorted by
// name.
func (v *View) Snapshot(now time.Time) ([]render.Row, []render.Host) {
	names := v.names(now)
	rows := make([]render.Row, 0, v.Rows())
	hosts := make([]render.Host, 0, len(names))
	for key, h := range names {
		n := v.nodes[key]
		remote := render.Remote{Name: h.Name, User: h.User, AsOf: *h.AsOf, Stale: h.Stale, Link: key + "." + Token(n.presence.Instance)}
		for _, o := range n.rows {
			if o.gone || n.present && o.Epoch < n.presence.Epoch {
				continue
			}
			rows = append(rows, o.row)
			r := &rows[len(rows)-1]
			r.Since, r.UpdatedAt = v.here(r.Since), v.here(r.UpdatedAt)
			r.CreatedAt, r.FirstSeen, r.Host, r.Remote = r.Since, r.Since, h.Name, &remote
		}
		hosts = append(hosts, *h)
	}
	slices.SortFunc(hosts, func(a, b render.Host) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User)) })
	return rows, hosts
}

// names gives every machine that is still of interest a name of its own.
func (v *View) names(now time.Time) map[string]*render.Host {
	out := make(map[string]*render.Host, len(v.nodes))
	type name struct{ user, host string }
	live, users := map[name]int{}, map[string]map[string]bool{}
	for key, n := range v.nodes {
		if !n.present {
			continue // its rows came first; it is about to say who it is
		}
		age := now.Sub(v.here(n.heard))
		if age > Keep {
			delete(v.nodes, key)
			continue
		}
		asOf := v.here(n.heard).UTC()
		h := &render.Host{Name: n.presence.Host, User: n.presence.User, AsOf: &asOf, Stale: age > v.Lost || n.presence.Bye, Left: n.presence.Bye}
		out[key] = h
		if !h.Stale {
			live[name{h.User, h.Name}]++
		}
		if users[h.Name] == nil {
			users[h.Name] = map[string]bool{}
		}
		users[h.Name][h.User] = true
	}
	for key, h := range out {
		several := len(users[h.Name]) > 1
		if !h.Stale && live[name{h.User, h.Name}] > 1 {
			h.Error = "several machines publish under this name, made from one another's files"
			h.Name += "~" + key[strings.LastIndexByte(key, '.')+1:]
		}
		if several {
			h.Name = h.User + "/" + h.Name
		}
	}
	return out
}
