package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/render"
)

// view is what a viewer knows about a fleet. It is not safe for concurrent use.
type view struct {
	nodes  map[string]*node // by the prefix of their keys
	offset time.Duration    // from this machine's clock to the server's
	timed  bool
}

type node struct {
	presence presence
	at       time.Time // the server's time of it, zero for none
	rows     map[string]copied
}

// copied is a row with the server's time of it.
type copied struct {
	run string
	row render.Row
	at  time.Time
}

// lost is Lost, but in tests.
var lost = Lost

func newView() *view { return &view{nodes: map[string]*node{}} }

// serverTime records that the server's clock showed t when this machine's showed now. The
// largest difference ever seen belongs to the least delayed message.
func (v *view) serverTime(t, now time.Time) {
	if d := t.Sub(now); !v.timed || d > v.offset {
		v.offset, v.timed = d, true
	}
}

func (v *view) here(t time.Time) time.Time { return t.Add(-v.offset) }

// apply applies a value that the server received at the time server, and reports whether it
// changes what is shown. now is this machine's time.
func (v *view) apply(m message, server, now time.Time) (news bool) {
	v.serverTime(server, now)
	key, seat, ok := splitKey(m.key)
	if !ok {
		return false
	}
	n := v.nodes[key]
	switch {
	case m.gone && seat == "":
		delete(v.nodes, key)
		return n != nil
	case m.gone && n == nil:
		return false
	case m.gone:
		_, was := n.rows[seat]
		delete(n.rows, seat)
		return was
	}
	if n == nil {
		n = &node{rows: map[string]copied{}}
	}
	if seat == "" {
		news, ok = n.present(key, m.data, server)
	} else {
		news, ok = n.put(seat, m.data, server)
	}
	if ok {
		v.nodes[key] = n
	}
	return news
}

// present applies a host's presence. Rows of an earlier run of its program that the present one
// has not put again are over: it puts all of them before it says that it is there.
func (n *node) present(key string, data []byte, server time.Time) (news, ok bool) {
	p, ok := readPresence(data)
	if !ok {
		return false, false
	}
	// The server ensures that nobody publishes under another's key. The name that a host gives
	// itself, which is used to go to it, must be its own.
	user, host, _ := strings.Cut(key, ".")
	if token(p.User) != user || token(p.Host) != host {
		p.User, p.Host = word(user), word(host)
	}
	news = p != n.presence || server.Sub(n.at) > Lost
	n.presence, n.at = p, server
	for seat, h := range n.rows {
		if h.run != p.Run && !h.at.After(server) {
			delete(n.rows, seat)
			news = true
		}
	}
	return news, true
}

func (n *node) put(seat string, data []byte, server time.Time) (news, ok bool) {
	h, ok := readRow(data, server.UTC())
	if _, known := n.rows[seat]; !ok || !known && len(n.rows) >= maxRows {
		return false, false
	}
	n.rows[seat] = h
	return true, true
}

// snapshot returns the rows of all hosts, unordered, and the hosts, sorted by name.
func (v *view) snapshot(now time.Time) (rows []render.Row, hosts []render.Host) {
	for key, n := range v.nodes {
		if n.at.IsZero() { // its rows came first; its presence follows
			continue
		}
		asOf, name := v.here(n.at).UTC(), n.presence.Host
		if now.Sub(asOf) > Keep {
			delete(v.nodes, key)
			continue
		}
		h := render.Host{Name: name, User: n.presence.User, AsOf: &asOf, Stale: now.Sub(asOf) > lost}
		remote := render.Remote{Name: name, User: h.User, AsOf: asOf, Stale: h.Stale}
		for _, o := range n.rows {
			r := o.row
			r.Since, r.UpdatedAt = v.here(r.Since), v.here(r.UpdatedAt)
			r.CreatedAt, r.FirstSeen, r.Host, r.Remote = r.Since, r.Since, name, &remote
			rows = append(rows, r)
		}
		hosts = append(hosts, h)
	}
	slices.SortFunc(hosts, func(a, b render.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User))
	})
	return rows, hosts
}
