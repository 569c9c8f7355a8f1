package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/web/respond"
	"beckon/state"
)

// window is how many events a returning client gets, and step how many are written to a stream
// at once.
const (
	window = 1000
	step   = 256
)

// maxClients is how many event streams are served at once.
const maxClients = 100

// message is one event, ready to be written.
type message struct {
	name  string
	frame []byte // "id: ...\nevent: ...\ndata: ...\n\n"
	// What filters check. A session that leaves a state, or gives its row to another, is a
	// change for clients that filter by it, so both are here.
	session, seat string
	now           state.State
	previous      string // the session that had the row before
	before        state.State
}

// shown is one row as clients see it.
type shown struct {
	row  render.Row
	json []byte
}

func newShown(row render.Row) *shown {
	s := &shown{row: row}
	s.json, _ = json.Marshal(&s.row) // rows always encode
	return s
}

// message returns an event of that name about the row.
func (s *shown) message(name string) message {
	return message{name: name, session: s.row.SessionID, seat: s.row.SeatID, now: s.row.State}
}

// gap is the data of gap: events are missing, and a snapshot follows.
type gap struct {
	Reason string `json:"reason"`
}

// Payloads returns a value of the data of each event, by name.
func Payloads() map[string]any {
	return map[string]any{
		"snapshot":        listWithRequests{},
		"gap":             gap{},
		"session_created": change{},
		"session_updated": change{},
		"session_ended":   change{},
		"turn_created":    render.TurnLine{},
		"notification":    notice{},
		"offer_created":   requestNews{},
		"offer_ended":     requestEnd{},
		"away":            awayNews{},
	}
}

// id returns the id of event n.
func (f *Feed) id(n uint64) string { return f.epoch + "-" + strconv.FormatUint(n, 10) }

// change calls do, which changes the rows and publishes it, in one step: a snapshot has either both
// or neither. The events have the time at.
func (f *Feed) change(at time.Time, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.n
	f.at = at
	do()
	if f.n != n {
		close(f.wake)
		f.wake = make(chan struct{})
	}
}

// report publishes an event and counts it. v is a type of this package that always encodes.
func (f *Feed) report(m message, v any) {
	data, _ := respond.Encode(v)
	f.n++
	m.frame = frame(f.id(f.n), m.name, data)
	f.ring[f.n%window] = m
	f.o.Meter.Count("beckon_sse_events_total", "event", m.name)
}

// frame returns an event in the format of the stream.
func frame(id, name string, data []byte) []byte {
	return fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, name, bytes.TrimRight(data, "\n"))
}

// since returns the frames after event n that filter accepts, at most step of them, the number of
// the newest that was looked at, and false if some are gone: then a snapshot is due. wake is
// closed when there are more.
func (f *Feed) since(n uint64, filter Filter) (frames []byte, newest uint64, wake <-chan struct{}, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n > f.n || f.n-n > window {
		return nil, f.n, f.wake, false
	}
	for newest = n; newest < f.n && newest < n+step; {
		newest++
		if m := &f.ring[newest%window]; filter.wants(m) {
			frames = append(frames, m.frame...)
		}
	}
	return frames, newest, f.wake, true
}

// List returns the rows that filter accepts, in the format of `list --json`.
func (f *Feed) List(filter Filter) render.List {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.list(filter)
}

func (f *Feed) list(filter Filter) render.List {
	l := render.List{Schema: render.ListSchema, GeneratedAt: f.at, Sessions: make([]render.Row, 0, len(f.rows))}
	for _, s := range f.rows {
		if filter.Shows(&s.row) {
			l.Sessions = append(l.Sessions, s.row)
		}
	}
	l.Sessions = f.o.Queue.Arrange(l.Sessions)
	return l
}

// Find returns this machine's row of a record, a session or a seat. If two processes run one
// session it is the one that needs the user most. Other machines may claim any id.
func (f *Feed) Find(id string) (render.Row, bool) {
	list := f.List(Filter{})
	i := slices.IndexFunc(list.Sessions, func(r render.Row) bool {
		return r.Remote == nil && (r.Record() == id || r.SessionID == id || r.SeatID == id)
	})
	if i < 0 {
		return render.Row{}, false
	}
	return list.Sessions[i], true
}

// snapshotFrame returns a snapshot event for filter and its number.
func (f *Feed) snapshotFrame(filter Filter) ([]byte, uint64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	data, _ := respond.Encode(listWithRequests{f.list(filter), f.requestsOf(filter), f.away}) // rows always encode
	return frame(f.id(f.n), "snapshot", data), f.n
}

// Clients returns how many streams are open.
func (f *Feed) Clients() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.clients
}

// Filter is what one client wants to receive.
type Filter struct {
	session string // session or seat id, empty for all
	states  []state.State
}

// ParseFilter returns what the query of r selects.
func ParseFilter(r *http.Request) (Filter, error) {
	q := r.URL.Query()
	f := Filter{session: q.Get("session")}
	for _, list := range q["state"] {
		for word := range strings.SplitSeq(list, ",") {
			st := state.State(strings.ToLower(strings.TrimSpace(word)))
			if !slices.Contains(state.States[:], st) {
				return f, respond.NewFault(http.StatusBadRequest, "bad_state",
					fmt.Sprintf("no such state %q", event.Cut(word, 64)), "the states are those of list --json")
			}
			f.states = append(f.states, st)
		}
	}
	return f, nil
}

func (f Filter) wants(m *message) bool {
	if f.session != "" && f.session != m.session && f.session != m.seat && f.session != m.previous {
		return false
	}
	return f.states == nil || slices.Contains(f.states, m.now) || slices.Contains(f.states, m.before)
}

// Shows reports whether the client receives a row.
func (f Filter) Shows(r *render.Row) bool {
	return (f.session == "" || f.session == r.SessionID || f.session == r.SeatID) &&
		(f.states == nil || slices.Contains(f.states, r.State))
}
