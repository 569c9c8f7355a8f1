package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/render"
)

// View is what a viewer knows about a fleet. It is not safe for concurrent use.
type View struct {
	nodes  map[string]*node // by the prefix of their keys
	round  int              // of Begin
	last   time.Time        // when something last arrived, or was requested, by this machine's clock
	offset time.Duration    // from this machine's clock to the server's
	timed  bool

	// Lost is the silence after which a host's rows count as stale.
	Lost time.Duration
}

// node is one machine.
type node struct {
	key      string
	presence Presence
	present  bool      // a presence has arrived
	heard    time.Time // its time, by the server's clock
	rows     map[string]*held
	suspect  int // consecutive presences that did not match its rows
}

// held is a row with the server's times, or when it was dropped.
type held struct {
	stamp
	gone  bool
	row   render.Row
	at    time.Time // the server's
	round int
}

// NewView returns an empty view.
func NewView() *View { return &View{nodes: map[string]*node{}, Lost: Lost} }

// serverTime records that the server's clock showed t when this machine's showed now. The
// largest difference ever seen belongs to the least delayed message.
func (v *View) serverTime(t, now time.Time) {
	if d := t.Sub(now); !v.timed || d > v.offset {
		v.offset, v.timed = d, true
	}
}

// here converts the server's time t to this machine's clock.
func (v *View) here(t time.Time) time.Time { return t.Add(-v.offset) }

// Begin marks the start of reading all values, when the server's clock shows t and this
// machine's now. It may be another server than before.
func (v *View) Begin(t, now time.Time) {
	v.round++
	v.last, v.timed = now, false
	v.serverTime(t, now)
}

// Apply applies a message that the server received at the time server, and reports whether it
// changes anything, and whether it is valid. now is this machine's time.
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

// row applies a row, unless a newer one is known.
func (v *View) row(n *node, seat string, m Message, server time.Time) (news, ok bool) {
	w, ok := readWire(m.Data)
	if !ok {
		if !m.Gone {
			return false, false
		}
		_, was := n.rows[seat] // the server removed it, or somebody by hand
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

// silent reports whether a message of an older epoch counts. A host restored from a backup
// continues from there, and a server that forgot cannot report it; a server's replay was
// received earlier, not later.
func (n *node) silent(server, last time.Time) bool {
	return server.Sub(last) > Lost && server.Sub(n.heard) > Lost
}

// present applies a host's presence.
func (v *View) present(n *node, m Message, server time.Time) (news, ok bool) {
	p, ok := readPresence(m.Data)
	if !ok {
		return false, m.Gone
	}
	if n.present && p.before(n.presence.stamp) && !n.silent(server, n.heard) {
		return false, true
	}
	// The server ensures that nobody publishes under another's key. The name that a host gives
	// itself, which is used to jump to it, must be its own.
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

// announced is how long after its rows a new epoch's presence may come. A later one belongs to
// an abandoned epoch.
const announced = Beat / 3

// seqs returns the numbers of the rows of the newest epoch, by seat.
func (n *node) seqs(which func(*held) bool) map[string]uint64 {
	seqs := make(map[string]uint64, len(n.rows))
	for seat, h := range n.rows {
		if !h.gone && h.Epoch == n.presence.Epoch && which(h) {
			seqs[seat] = h.Seq
		}
	}
	return seqs
}

// prune drops the rows that this round did not deliver, if it delivered all that exist.
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

// Suspect reports whether everything must be read again: a host's rows have not matched its
// count for two beats, so something was lost; or the connection was silent for so long that it
// may be dead.
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

// Rows returns the number of rows.
func (v *View) Rows() (n int) {
	for _, node := range v.nodes {
		n += len(node.rows)
	}
	return n
}

// Snapshot returns the rows of all hosts, unordered, and the hosts, sorted by name.
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

// names gives every relevant machine a unique name.
func (v *View) names(now time.Time) map[string]*render.Host {
	out := make(map[string]*render.Host, len(v.nodes))
	type name struct{ user, host string }
	live, users := map[name]int{}, map[string]map[string]bool{}
	for key, n := range v.nodes {
		if !n.present {
			continue // its rows came first; its presence follows
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
