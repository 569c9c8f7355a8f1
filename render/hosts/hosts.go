// Package hosts shows the sessions of other machines in the same list, with
// no server to run there: it asks each by ssh for its `beckon list
// --json`.
//
// It guarantees: a host that does not answer holds nobody up beyond Deadline
// and keeps its last good answer, marked as stale; a host's name never becomes
// an option or text for a shell; what a host says is cleaned of control
// characters before anybody sees it. It asks nothing of the user: a host that
// wants a password is an unreachable one.
package hosts

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"beckon/render"
	"beckon/state/store"
)

// Deadline is the longest that one question to one host takes.
const Deadline = 5 * time.Second

// keep is how long the answer of an unreachable host is shown.
const keep = 14 * 24 * time.Hour

// Hosts are the other machines to ask. Its methods may be called at the same
// time.
type Hosts struct {
	st  *store.Store
	ask func(ctx context.Context, name string) ([]byte, error)
	now func() time.Time

	mu    sync.Mutex
	hosts []*host
}

// host is what is known of one of them.
type host struct {
	name   string
	answer Kept // the last good one
	err    error
	asked  bool
}

// Kept is what other machines said, as it is kept on disk for who does not wait for
// them.
type Kept struct {
	Name  string        `json:"name"`
	AsOf  time.Time     `json:"as_of"`
	Rows  []render.Row  `json:"sessions"`
	Hosts []render.Host `json:"hosts,omitempty"` // of a fleet
}

// Keep keeps k under its name. That it cannot costs only who looks next.
func (k Kept) Keep(st *store.Store) {
	if data, err := json.Marshal(k); err == nil && len(data) < maxAnswer {
		_ = st.KeepHost(k.Name, append(data, '\n'))
	}
}

// KeptOf reads what is kept under a name and is not older than age at now. None is not
// an error.
func KeptOf(st *store.Store, name string, age time.Duration, now time.Time) (Kept, bool) {
	var k Kept
	data, err := st.Host(name, maxAnswer)
	if err != nil || json.Unmarshal(data, &k) != nil || k.Name != name || now.Sub(k.AsOf) > age {
		return Kept{}, false
	}
	return k, true
}

// Open returns the hosts that specs name ("ssh:NAME", see Parse), with what
// they said last. It asks nobody yet.
func Open(st *store.Store, specs ...string) (*Hosts, error) {
	h := &Hosts{st: st, ask: ask, now: time.Now}
	for _, spec := range specs {
		name, err := Parse(spec)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(h.hosts, func(o *host) bool { return o.name == name }) {
			last, _ := KeptOf(st, name, keep, h.now())
			h.hosts = append(h.hosts, &host{name: name, answer: last})
		}
	}
	return h, nil
}

// Poll asks all hosts at once and returns when each has answered or Deadline
// is over.
func (h *Hosts) Poll(ctx context.Context) {
	var all sync.WaitGroup
	for _, o := range h.hosts {
		all.Go(func() { h.question(ctx, o) })
	}
	all.Wait()
}

// question asks one host.
func (h *Hosts) question(ctx context.Context, o *host) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	data, err := h.ask(ctx, o.name)
	at := h.now()
	var rows []render.Row
	if err == nil {
		rows, err = decode(data, at)
	}
	h.mu.Lock()
	o.asked, o.err = true, err
	if err == nil {
		o.answer = Kept{Name: o.name, AsOf: at.UTC(), Rows: rows}
	}
	a := o.answer
	h.mu.Unlock()
	if err == nil {
		a.Keep(h.st)
	}
}

// Snapshot returns the rows of all hosts as they are known now, and how each
// host is. The rows are the caller's.
func (h *Hosts) Snapshot() ([]render.Row, []render.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rows []render.Row
	status := make([]render.Host, 0, len(h.hosts))
	for _, o := range h.hosts {
		st := o.status()
		status = append(status, st)
		for _, r := range o.answer.Rows {
			r.Remote = &render.Remote{Name: o.name, AsOf: o.answer.AsOf, Stale: st.Stale}
			rows = append(rows, r)
		}
	}
	return rows, status
}

func (o *host) status() render.Host {
	st := render.Host{Name: o.name, Stale: o.err != nil || !o.asked}
	if !o.answer.AsOf.IsZero() {
		st.AsOf = &o.answer.AsOf
	}
	if o.err != nil {
		st.Error = o.err.Error()
	}
	return st
}

// Merge puts the rows of other hosts among the local ones, in the order of
// render.Sort. A session that is here too (a shared home, this machine under
// another name) is shown once, as the local one.
func Merge(local, remote []render.Row) []render.Row {
	here := make(map[string]bool, len(local))
	for i := range local {
		here[local[i].Record()] = true
	}
	out := slices.Clone(local)
	for _, r := range remote {
		if !here[r.Record()] {
			out = append(out, r)
			here[r.Record()] = true
		}
	}
	render.Sort(out)
	return out
}
