package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"beckon/render"
	"beckon/render/hosts"
)

// view is what a viewer knows about a fleet. It is not safe for concurrent use.
type view struct {
	nodes  map[string]node // by their keys
	offset time.Duration   // from this machine's clock to the server's
}

// node is a host, with the server's time of its newest value.
type node struct {
	report
	user, host string
	at         time.Time
}

// lost is Lost, but in tests.
var lost = Lost

func newView() *view { return &view{map[string]node{}, math.MinInt64} }

// serverTime records that the server's clock showed t when this machine's showed now. The
// largest difference ever seen belongs to the least delayed message.
func (v *view) serverTime(t, now time.Time) {
	v.offset = max(v.offset, t.Sub(now))
}

func (v *view) here(t time.Time) time.Time { return t.Add(-v.offset) }

// apply applies a value that the server received at the time server, an empty one if the host has gone,
// and reports whether it changes what is shown. now is this machine's time. The server ensures that
// nobody publishes under another's key.
func (v *view) apply(key string, data []byte, server, now time.Time) (news bool) {
	v.serverTime(server, now)
	n, known := v.nodes[key]
	if len(data) == 0 {
		delete(v.nodes, key)
		return known
	}
	is, readable := unpack(data)
	user, host, named := namesOf(key)
	if !readable || !named {
		return false
	}
	if news = !known || !is.Changed.Equal(n.Changed) || server.Sub(n.at) > Lost; news {
		n.report, n.user, n.host = is, word(user), word(host)
		n.Sessions = readRows(is.List, server.UTC())
	}
	n.at = server
	v.nodes[key] = n
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
		asOf := v.here(n.at).UTC()
		if now.Sub(asOf) > Keep {
			delete(v.nodes, key)
			continue
		}
		h := render.Host{Name: n.host, User: n.user, AsOf: &asOf, Stale: now.Sub(asOf) > lost}
		remote := render.Remote{Name: n.host, User: n.user, AsOf: asOf, Stale: h.Stale}
		for _, r := range n.Sessions {
			r.Since, r.UpdatedAt = v.here(r.Since), v.here(r.UpdatedAt)
			r.CreatedAt, r.FirstSeen, r.Host, r.Remote = r.Since, r.Since, n.host, &remote
			rows = append(rows, r)
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b render.Host) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User))
	})
	return rows, all
}
