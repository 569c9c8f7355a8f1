package feed

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/render"
	"beckon/render/web/meter"
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

// hub holds the rows and the newest events. Clients read the events from here at their own
// pace; none has a queue of its own, so a stalled one costs nothing and delays nobody.
type hub struct {
	meter *meter.Meter
	epoch string // changes with the process, because another one's numbers mean nothing

	mu         sync.RWMutex
	n          uint64 // number of the newest event
	released   uint64 // number of the newest that streams may read
	releasedAt time.Time
	timer      *time.Timer // of the next release; nil if none is due
	ring       [kept]message
	rows       map[string]*shown // by seat, else by session
	offers     map[string]offerNews
	away       *Away
	at         time.Time     // of the evidence behind rows
	wake       chan struct{} // closed when something was published
	clients    int
	snapshot   snapshot
	batch      batch
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

func newHub(m *meter.Meter) *hub {
	return &hub{meter: m, epoch: rand.Text()[:8], rows: map[string]*shown{}, offers: map[string]offerNews{}, wake: make(chan struct{})}
}

// id returns the id of event n.
func (h *hub) id(n uint64) string { return h.epoch + "-" + strconv.FormatUint(n, 10) }

// update changes the rows and publishes the change in one step: a snapshot has either both or
// neither.
func (h *hub) update(at time.Time, f func(p *publisher)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changeLocked(at, f)
	h.at = at
}

// change is update for changes other than evidence of sessions.
func (h *hub) change(f func(p *publisher)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changeLocked(h.at, f)
}

func (h *hub) changeLocked(at time.Time, f func(p *publisher)) {
	p := publisher{h: h, at: at}
	f(&p)
	if p.changed {
		h.snapshot = snapshot{}
	}
	if p.sent {
		h.release()
	}
}

// pace is the interval at which streams get events while they keep coming: each time all that
// have gathered. The first after a pause is sent at once. With a thousand streams it is 40 ms.
func pace(clients int) time.Duration { return time.Duration(clients) * 40 * time.Microsecond }

// release makes new events available to the streams, now or at the next interval.
func (h *hub) release() {
	if h.timer != nil {
		return
	}
	if wait := pace(h.clients) - time.Since(h.releasedAt); wait > time.Millisecond {
		h.timer = time.AfterFunc(wait, func() {
			h.mu.Lock()
			h.timer = nil
			h.releaseNow()
			h.mu.Unlock()
		})
		return
	}
	h.releaseNow()
}

func (h *hub) releaseNow() {
	h.released, h.releasedAt = h.n, time.Now()
	close(h.wake)
	h.wake = make(chan struct{})
}

// publisher is the hub within update.
type publisher struct {
	h             *hub
	at            time.Time
	changed, sent bool
}

// set shows row under key; drop removes it.
func (p *publisher) set(key string, s *shown) { p.h.rows[key], p.changed = s, true }
func (p *publisher) drop(key string)          { delete(p.h.rows, key); p.changed = true }
func (p *publisher) shown(key string) *shown  { return p.h.rows[key] }

// report publishes an event and counts it. v is a type of this package that always encodes.
func (p *publisher) report(m message, v any) {
	data, _ := respond.Encode(v)
	p.send(m, data)
	p.h.meter.Sent(m.name)
}

// send publishes an event. data must be JSON in one line.
func (p *publisher) send(m message, data []byte) {
	p.h.n++
	m.frame = frame(p.h.id(p.h.n), m.name, data)
	p.h.ring[p.h.n%kept] = m
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
func (h *hub) since(n uint64, f Filter) (frames []byte, newest uint64, wake <-chan struct{}, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case n > h.n || h.n-n > kept:
		return nil, h.n, h.wake, false
	case n >= h.released:
		return nil, n, h.wake, true
	}
	to, wake := h.released, (<-chan struct{})(h.wake)
	if to-n > step {
		to, wake = n+step, awake
	}
	if !f.all() {
		return h.frames(n, to, f), to, wake, true
	}
	if h.batch.from != n || h.batch.to != to {
		h.batch = batch{n, to, h.frames(n, to, f)}
	}
	return h.batch.frames, to, wake, true
}

// awake is a wake channel that is closed already.
var awake = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// frames joins the events after n up to to that f accepts.
func (h *hub) frames(n, to uint64, f Filter) []byte {
	size := 0
	for i := n + 1; i <= to; i++ {
		size += len(h.ring[i%kept].frame)
	}
	b := make([]byte, 0, size)
	for i := n + 1; i <= to; i++ {
		if m := &h.ring[i%kept]; f.wants(m) {
			b = append(b, m.frame...)
		}
	}
	return b
}

// holds reports whether everything after event n is there.
func (h *hub) holds(n uint64) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return n <= h.n && h.n-n <= window
}

// list returns the rows that f accepts, in the format of `list --json`.
func (h *hub) list(f Filter) render.List {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.listLocked(f)
}

func (h *hub) listLocked(f Filter) render.List {
	l := render.List{Schema: render.ListSchema, GeneratedAt: h.at, Sessions: make([]render.Row, 0, len(h.rows))}
	for _, s := range h.rows {
		if f.Shows(&s.row) {
			l.Sessions = append(l.Sessions, s.row)
		}
	}
	render.Sort(l.Sessions)
	return l
}

// find returns this machine's row of a record, a session or a seat. If two processes run one
// session it is the one that needs the user most. Other machines may claim any id.
func (h *hub) find(id string) (render.Row, bool) {
	list := h.list(Filter{})
	i := slices.IndexFunc(list.Sessions, func(r render.Row) bool {
		return r.Remote == nil && (r.Record() == id || r.SessionID == id || r.SeatID == id)
	})
	if i < 0 {
		return render.Row{}, false
	}
	return list.Sessions[i], true
}

// snapshotFrame returns a snapshot event for f and its number. Clients without a filter share
// one.
func (h *hub) snapshotFrame(f Filter) ([]byte, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := &h.snapshot; f.all() && s.frame != nil && s.n == h.n && s.at.Equal(h.at) {
		return s.frame, s.n
	}
	data, _ := respond.Encode(listWithOffers{h.listLocked(f), h.offersOf(f), h.away}) // rows always encode
	b := frame(h.id(h.n), "snapshot", data)
	if f.all() {
		h.snapshot = snapshot{b, h.n, h.at}
	}
	return b, h.n
}

// number parses the N of an id of this epoch.
func (h *hub) number(id string) (uint64, bool) {
	epoch, n, ok := strings.Cut(id, "-")
	if !ok || epoch != h.epoch {
		return 0, false
	}
	v, err := strconv.ParseUint(n, 10, 64)
	return v, err == nil
}

// join registers a client, unless there are too many.
func (h *hub) join() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients >= maxClients {
		return false
	}
	h.clients++
	return true
}

func (h *hub) leave() {
	h.mu.Lock()
	h.clients--
	h.mu.Unlock()
}

func (h *hub) count() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.clients
}
