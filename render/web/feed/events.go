package feed

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

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

// id returns the id of event n.
func (f *Feed) id(n uint64) string { return f.epoch + "-" + strconv.FormatUint(n, 10) }

// update changes the rows and publishes the change in one step: a snapshot has either both or
// neither.
func (f *Feed) update(at time.Time, do func(p *publisher)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changeLocked(at, do)
	f.at = at
}

// change is update for changes other than evidence of sessions.
func (f *Feed) change(do func(p *publisher)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changeLocked(f.at, do)
}

func (f *Feed) changeLocked(at time.Time, do func(p *publisher)) {
	n := f.n
	do(&publisher{feed: f, at: at})
	if f.n != n {
		close(f.wake)
		f.wake = make(chan struct{})
	}
}

// publisher is the feed within update.
type publisher struct {
	feed *Feed
	at   time.Time
}

// set shows row under key; drop removes it.
func (p *publisher) set(key string, s *shown) { p.feed.rows[key] = s }
func (p *publisher) drop(key string)          { delete(p.feed.rows, key) }
func (p *publisher) shown(key string) *shown  { return p.feed.rows[key] }

// report publishes an event and counts it. v is a type of this package that always encodes.
func (p *publisher) report(m message, v any) {
	data, _ := respond.Encode(v)
	p.send(m, data)
	p.feed.o.Meter.Sent(m.name)
}

// send publishes an event. data must be JSON in one line.
func (p *publisher) send(m message, data []byte) {
	p.feed.n++
	m.frame = frame(p.feed.id(p.feed.n), m.name, data)
	p.feed.ring[p.feed.n%window] = m
}

// frame returns an event in the format of the stream.
func frame(id, name string, data []byte) []byte {
	b := make([]byte, 0, len(id)+len(name)+len(data)+24)
	b = append(append(b, "id: "...), id...)
	b = append(append(b, "\nevent: "...), name...)
	b = append(append(b, "\ndata: "...), bytes.TrimRight(data, "\n")...)
	return append(b, "\n\n"...)
}

// since returns the frames after event n that filter accepts, at most step of them, the number of
// the newest that was looked at, and false if some are gone: then a snapshot is due. wake is
// closed when there are more.
func (f *Feed) since(n uint64, filter Filter) (frames []byte, newest uint64, wake <-chan struct{}, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.holdsLocked(n) {
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

// holds reports whether everything after event n is there.
func (f *Feed) holds(n uint64) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.holdsLocked(n)
}

func (f *Feed) holdsLocked(n uint64) bool { return n <= f.n && f.n-n <= window }

// List returns the rows that filter accepts, in the format of `list --json`.
func (f *Feed) List(filter Filter) render.List {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.listLocked(filter)
}

func (f *Feed) listLocked(filter Filter) render.List {
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
	data, _ := respond.Encode(listWithOffers{f.listLocked(filter), f.offersOf(filter), f.away}) // rows always encode
	return frame(f.id(f.n), "snapshot", data), f.n
}

// number parses the N of an id of this epoch.
func (f *Feed) number(id string) (uint64, bool) {
	epoch, n, ok := strings.Cut(id, "-")
	if !ok || epoch != f.epoch {
		return 0, false
	}
	v, err := strconv.ParseUint(n, 10, 64)
	return v, err == nil
}

// join registers a client, unless there are too many.
func (f *Feed) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clients >= maxClients {
		return false
	}
	f.clients++
	return true
}

func (f *Feed) leave() {
	f.mu.Lock()
	f.clients--
	f.mu.Unlock()
}

// Clients returns how many streams are open.
func (f *Feed) Clients() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.clients
}
