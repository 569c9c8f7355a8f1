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

// Status says how one host is.
type Status struct {
	Name  string     `json:"name"`
	User  string     `json:"user,omitempty"`  // whose it is, in a fleet
	AsOf  *time.Time `json:"as_of,omitempty"` // this machine's time of the last good answer
	Stale bool       `json:"stale"`           // it has not answered when it was asked last
	Left  bool       `json:"left,omitempty"`  // it said that it goes
	Error string     `json:"error,omitempty"` // why, in ssh's words or the program's there
}

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
	answer answer
	err    error
	asked  bool
}

// answer is what a host said, as it is kept on disk.
type answer struct {
	Name string       `json:"name"`
	AsOf time.Time    `json:"as_of"`
	Rows []render.Row `json:"sessions"`
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
			h.hosts = append(h.hosts, &host{name: name, answer: h.kept(name)})
		}
	}
	return h, nil
}

// kept reads the last good answer of a host; none is not an error.
func (h *Hosts) kept(name string) answer {
	var a answer
	data, err := h.st.Host(name, maxAnswer)
	if err != nil || json.Unmarshal(data, &a) != nil || a.Name != name || h.now().Sub(a.AsOf) > keep {
		return answer{}
	}
	return a
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
		o.answer = answer{Name: o.name, AsOf: at.UTC(), Rows: rows}
	}
	a := o.answer
	h.mu.Unlock()
	if err != nil {
		return
	}
	if data, err := json.Marshal(a); err == nil && len(data) < maxAnswer {
		_ = h.st.KeepHost(a.Name, append(data, '\n')) // that it cannot only costs the next start
	}
}

// Snapshot returns the rows of all hosts as they are known now, and how each
// host is. The rows are the caller's.
func (h *Hosts) Snapshot() ([]render.Row, []Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rows []render.Row
	status := make([]Status, 0, len(h.hosts))
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

func (o *host) status() Status {
	st := Status{Name: o.name, Stale: o.err != nil || !o.asked}
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
