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

// window is how many events a returning client gets. More are kept for connected clients that
// fall behind: on an overloaded machine a second and more of a thousand events comes at once.
const (
	window = 1000
	kept   = 2048
	step   = 256 // events per write to a stream
)

// maxClients is how many event streams are served at once.
const maxClients = 1000

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

// snapshot is what clients without a filter start with. They share it as long as it is
// current: its number is where they continue, and a page sets its clock by its time.
type snapshot struct {
	frame []byte // nil when rows changed
	n     uint64
	at    time.Time
}

// batch is the frames of the events after from up to to. Streams without a filter share it.
type batch struct {
	from, to uint64
	frames   []byte
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
	p := publisher{feed: f, at: at}
	do(&p)
	if p.changed {
		f.snapshot = snapshot{}
	}
	if p.sent {
		f.release()
	}
}

// pace is the interval at which streams get events while they keep coming: each time all that
// have gathered. The first after a pause is sent at once. With a thousand streams it is 40 ms.
func pace(clients int) time.Duration { return time.Duration(clients) * 40 * time.Microsecond }

// release makes new events available to the streams, now or at the next interval.
func (f *Feed) release() {
	if f.timer != nil {
		return
	}
	if wait := pace(f.clients) - time.Since(f.releasedAt); wait > time.Millisecond {
		f.timer = time.AfterFunc(wait, func() {
			f.mu.Lock()
			f.timer = nil
			f.releaseNow()
			f.mu.Unlock()
		})
		return
	}
	f.releaseNow()
}

func (f *Feed) releaseNow() {
	f.released, f.releasedAt = f.n, time.Now()
	close(f.wake)
	f.wake = make(chan struct{})
}

// publisher is the feed within update.
type publisher struct {
	feed          *Feed
	at            time.Time
	changed, sent bool
}

// set shows row under key; drop removes it.
func (p *publisher) set(key string, s *shown) { p.feed.rows[key], p.changed = s, true }
func (p *publisher) drop(key string)          { delete(p.feed.rows, key); p.changed = true }
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
	p.feed.ring[p.feed.n%kept] = m
	p.sent = true
}

// frame returns an event in the format of the stream.
func frame(id, name string, data []byte) []byte {
	b := make([]byte, 0, len(id)+len(name)+len(data)+24)
	b = append(append(b, "id: "...), id...)
	b = append(append(b, "\nevent: "...), name...)
	b = append(append(b, "\ndata: "...), bytes.TrimRight(data, "\n")...)
	return append(b, "\n\n"...)
}

// since returns frames after event n, the number of the newest among them, and false if some
// are gone: then a snapshot is due. wake is closed when there are more, which it may be
// already: each call returns at most step events, so that a thousand streams that are behind
// do not hold a thousand windows. Nobody may write to frames.
func (f *Feed) since(n uint64, filter Filter) (frames []byte, newest uint64, wake <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case n > f.n || f.n-n > kept:
		return nil, f.n, f.wake, false
	case n >= f.released:
		return nil, n, f.wake, true
	}
	to, wake := f.released, (<-chan struct{})(f.wake)
	if to-n > step {
		to, wake = n+step, awake
	}
	if !filter.all() {
		return f.frames(n, to, filter), to, wake, true
	}
	if f.batch.from != n || f.batch.to != to {
		f.batch = batch{n, to, f.frames(n, to, filter)}
	}
	return f.batch.frames, to, wake, true
}

// awake is a wake channel that is closed already.
var awake = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// frames joins the events after n up to to that filter accepts.
func (f *Feed) frames(n, to uint64, filter Filter) []byte {
	size := 0
	for i := n + 1; i <= to; i++ {
		size += len(f.ring[i%kept].frame)
	}
	b := make([]byte, 0, size)
	for i := n + 1; i <= to; i++ {
		if m := &f.ring[i%kept]; filter.wants(m) {
			b = append(b, m.frame...)
		}
	}
	return b
}

// holds reports whether everything after event n is there.
func (f *Feed) holds(n uint64) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return n <= f.n && f.n-n <= window
}

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
	render.Sort(l.Sessions)
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

// snapshotFrame returns a snapshot event for filter and its number. Clients without a filter share
// one.
func (f *Feed) snapshotFrame(filter Filter) ([]byte, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := &f.snapshot; filter.all() && s.frame != nil && s.n == f.n && s.at.Equal(f.at) {
		return s.frame, s.n
	}
	data, _ := respond.Encode(listWithOffers{f.listLocked(filter), f.offersOf(filter), f.away}) // rows always encode
	b := frame(f.id(f.n), "snapshot", data)
	if filter.all() {
		f.snapshot = snapshot{b, f.n, f.at}
	}
	return b, f.n
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
