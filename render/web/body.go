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
func (p *pool) take(ctx context.Context, giveUp func()) (*slot, error) {
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

// Errors about bodies, which each endpoint reports in its own format.
var (
	errTooLarge = errors.New("body is larger than 16 MiB")
	errNotJSON  = errors.New("Content-Type must be application/json")
	errBusy     = errors.New("too many requests at once")
	errBody     = errors.New("body could not be read")
)

// statusOf returns the status code of an error of a body.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	case errors.Is(err, errBody):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}

// body reads a JSON request body. done must be called when it is no longer used; calling it
// again is harmless.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (b []byte, done func(), err error) {
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
		next, err := p.take(ctx, giveUp)
		if has != nil {
			has.free()
		}
		if err != nil {
			return nil, done, err
		}
		has = next
		var whole bool
		if n := min(int(r.ContentLength), p.bytes); n > cap(b) { // growing step by step would leave as much garbage
			b = append(make([]byte, 0, n), b...)
		}
		if b, whole, err = readUpTo(in, b, p.bytes); err != nil || whole {
			has.came()
			return b, sync.OnceFunc(has.free), bodyError(err)
		}
	}
	return nil, sync.OnceFunc(has.free), errTooLarge // one byte too many ends the reading before this
}

// readUpTo appends to b from in, until there is no more or b has limit bytes.
func readUpTo(in io.Reader, b []byte, limit int) (_ []byte, whole bool, err error) {
	for len(b) < limit {
		if len(b) == cap(b) { // of unknown length, or at its end
			b = append(make([]byte, 0, min(max(2*cap(b), 1<<10), limit)), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, true, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	if limit == maxBody { // there is no larger size: the rest is the end, or an error
		if _, err = in.Read(make([]byte, 1)); err == io.EOF {
			return b, true, nil
		}
	}
	return b, false, err
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge
	case err != nil:
		return errBody
	}
	return nil
}
