package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/render/web/respond"
)

// sizes are the memory for bodies while they are received and folded, 22 MiB in all: a number
// of slots of each size. A body takes a slot of the smallest size before its first byte is
// read, and moves to a larger one when it outgrows it.
var sizes = [...]struct{ bytes, slots int }{
	{4 << 10, 256}, // nearly all events
	{smallBody, 12},
	{1 << 20, 2},
	{maxBody, 1},
}

const (
	maxBody   = 16 << 20
	smallBody = 256 << 10 // a body up to this size keeps no slot while the policy decides
	// patience is how long a body may take while others wait for its slot: then it is dropped.
	// Over loopback the largest takes a few milliseconds.
	patience = 500 * time.Millisecond
)

// pool is the slots of one size.
type pool struct {
	bytes int
	slots chan struct{}

	mu     sync.Mutex
	coming []*slot // not received completely, the oldest first
}

// slot is the right to hold one body of the pool's size.
type slot struct {
	pool   *pool
	since  time.Time
	giveUp func()
}

func newPools() (all []*pool) {
	for _, s := range sizes {
		all = append(all, &pool{bytes: s.bytes, slots: make(chan struct{}, s.slots)})
	}
	return all
}

// take waits for a slot. giveUp must end the reading of the body.
func (p *pool) take(ctx context.Context, giveUp func()) (*slot, *respond.Fault) {
	select {
	case p.slots <- struct{}{}:
		return p.begin(giveUp), nil
	default:
	}
	again := time.NewTicker(patience / 5)
	defer again.Stop()
	for {
		p.makeRoom(time.Now())
		select {
		case p.slots <- struct{}{}:
			return p.begin(giveUp), nil
		case <-again.C:
		case <-ctx.Done():
			return nil, errBusy
		}
	}
}

func (p *pool) begin(giveUp func()) *slot {
	s := &slot{p, time.Now(), giveUp}
	p.mu.Lock()
	p.coming = append(p.coming, s)
	p.mu.Unlock()
	return s
}

// makeRoom drops the body that has been received for the longest time, if that is long.
func (p *pool) makeRoom(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.coming) > 0 && now.Sub(p.coming[0].since) > patience {
		p.coming[0].giveUp()
		p.coming = p.coming[1:]
	}
}

// came records that the body is complete: it is not dropped any more.
func (s *slot) came() {
	s.pool.mu.Lock()
	s.pool.coming = slices.DeleteFunc(s.pool.coming, func(o *slot) bool { return o == s })
	s.pool.mu.Unlock()
}

func (s *slot) free() {
	s.came()
	<-s.pool.slots
}

// What may be wrong with a body. The hook endpoints report it in their own format.
var (
	errTooLarge = respond.NewFault(http.StatusRequestEntityTooLarge, "bad_body", "body is larger than 16 MiB", "")
	errNotJSON  = respond.NewFault(http.StatusBadRequest, "bad_body", "Content-Type must be application/json", "")
	errBusy     = respond.NewFault(http.StatusServiceUnavailable, "bad_body", "too many requests at once", "")
	errBody     = respond.NewFault(http.StatusRequestTimeout, "bad_body", "body could not be read", "")
)

// body reads a JSON request body. done must be called when it is no longer used; calling it
// again is harmless.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (b []byte, done func(), wrong *respond.Fault) {
	done = func() {}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" && !strings.HasSuffix(t, "+json") {
		return nil, done, errNotJSON
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close")
		return nil, done, errTooLarge
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	rc := http.NewResponseController(w)
	giveUp := func() {
		cancel() // it may wait for a larger slot
		_ = rc.SetReadDeadline(time.Now())
	}
	in := http.MaxBytesReader(w, r.Body, maxBody)
	var has *slot
	for _, p := range s.bodies {
		next, busy := p.take(ctx, giveUp)
		if has != nil {
			has.free()
		}
		if busy != nil {
			return nil, done, busy
		}
		has = next
		room := p.bytes
		if r.ContentLength >= 0 {
			room = min(room, int(r.ContentLength))
		}
		var err error
		if b, err = readMore(in, b, room+1); err != nil { // one byte more, to see the end
			has.came()
			return b, sync.OnceFunc(has.free), wrongWith(err)
		}
	}
	return nil, sync.OnceFunc(has.free), errTooLarge // one byte too many ends the reading before this
}

// readMore appends to b from in until b has room bytes, or with the error that ends the reading.
func readMore(in io.Reader, b []byte, room int) (_ []byte, err error) {
	b = append(make([]byte, 0, room), b...)
	for n := 0; err == nil && len(b) < room; b = b[:len(b)+n] {
		n, err = in.Read(b[len(b):room])
	}
	return b, err
}

// wrongWith returns what is wrong with a body whose reading ended with err.
func wrongWith(err error) *respond.Fault {
	var tooLarge *http.MaxBytesError
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, &tooLarge):
		return errTooLarge
	}
	return errBody
}
