package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/render"
	"beckon/render/hosts"
)

// view is what a viewer knows about a fleet. It is not safe for concurrent use.
type view struct {
	nodes  map[string]node // by their keys
	offset time.Duration   // from this machine's clock to the server's
	timed  bool
}

// node is a host, with the server's time of its newest value.
type node struct {
	report
	at time.Time
}

// message is a value of a key, or says that it is gone.
type message struct {
	key  string
	data []byte
	gone bool
}

// lost is Lost, but in tests.
var lost = Lost

func newView() *view { return &view{nodes: map[string]node{}} }

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
	was, known := v.nodes[m.key]
	if m.gone {
		delete(v.nodes, m.key)
		return known
	}
	is, ok := unpack(m.data)
	user, host, two := strings.Cut(m.key, ".")
	if !ok || !two || strings.Contains(host, ".") || len(m.key) > 160 {
		return false
	}
	// The server ensures that nobody publishes under another's key. The name that a host gives
	// itself, which is used to go to it, must be its own.
	if token(is.User) != user || token(is.Host) != host {
		is.User, is.Host = user, host
	}
	if news = !known || !is.Changed.Equal(was.Changed) || server.Sub(was.at) > Lost; news {
		was.report = is
		was.Sessions = readRows(is.List, server.UTC())
	}
	v.nodes[m.key] = node{was.report, server}
	return news
}

// readRows returns the rows that an untrusted host sent, and that the server received at a time.
func readRows(list render.List, at time.Time) []render.Row {
	rows := hosts.Accept(&list, at, 0)
	for i := range rows {
		r := &rows[i]
		*r = permitted(r, func(s string) string { return cut(s, fullText) })
		if r.UpdatedAt = at; r.Since.After(at) || at.Sub(r.Since) > maxAge {
			r.Since = at
		}
	}
	return rows
}

// snapshot returns the rows of all hosts, unordered, and the hosts, sorted by name.
func (v *view) snapshot(now time.Time) (rows []render.Row, all []render.Host) {
	for key, n := range v.nodes {
		asOf, name := v.here(n.at).UTC(), word(n.Host)
		if now.Sub(asOf) > Keep {
			delete(v.nodes, key)
			continue
		}
		h := render.Host{Name: name, User: word(n.User), AsOf: &asOf, Stale: now.Sub(asOf) > lost}
		remote := render.Remote{Name: name, User: h.User, AsOf: asOf, Stale: h.Stale}
		for _, r := range n.Sessions {
			r.Since, r.UpdatedAt = v.here(r.Since), v.here(r.UpdatedAt)
			r.CreatedAt, r.FirstSeen, r.Host, r.Remote = r.Since, r.Since, name, &remote
			rows = append(rows, r)
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b render.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User))
	})
	return rows, all
}
