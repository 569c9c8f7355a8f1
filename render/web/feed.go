package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/hosts"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/history"
	"beckon/state/live"
	"beckon/state/store"
)

// feed is what clients follow: a row for each live session, of this machine and of others, the open
// requests, and the events that change them. A client gets a snapshot and what happens afterwards. One
// that is too slow is disconnected, and starts with a snapshot again.
type feed struct {
	*live.Follower // Touch says that this server has changed a session
	o              *Options
	meter          meter
	push           func(ctx context.Context, seen []state.Seen, now time.Time) // tells devices

	sweeps atomic.Int64 // how often all transcripts were read
	swept  time.Time    // when; of sweep's goroutine

	// These belong to the follower's goroutine.
	tail        func(each func(*store.Line)) error
	seer        alert.Seer
	untold      []store.Line // what was said in sessions that were not seen yet
	transcripts *history.Sweeper

	mu             sync.Mutex
	rows           map[string]render.Row // as they were published, by keyOf
	seen           []state.Seen
	own, elsewhere []render.Row
	requests       []requestNews // that are open, oldest first
	away           *away
	at             time.Time  // of the evidence behind rows
	last           state.Mark // the newest event of any session
	streams        map[queue]bool
}

func newFeed(o *Options) *feed {
	f := &feed{
		o:           o,
		meter:       newMeter(),
		transcripts: history.NewSweeper(o.Store),
		rows:        map[string]render.Row{},
		streams:     map[queue]bool{},
	}
	f.Follower = live.NewFollower(live.NewReader(o.Store, o.Registry))
	f.Recheck = o.Timing.Recheck
	return f
}

// Timing is how often the server checks what nothing reports. Zero values are the defaults.
type Timing struct {
	Recheck time.Duration // of processes, registry and the live directory: 1 s
	Hooks   time.Duration // of transcripts, while hooks are active: 60 s
	Silent  time.Duration // of transcripts, when hooks are silent: 2 s
	Silence time.Duration // without an event for this long, hooks count as silent: 300 s
	Beat    time.Duration // a comment on an event stream without events: 15 s
}

func (t Timing) orDefault() Timing {
	return Timing{
		Recheck: cmp.Or(t.Recheck, time.Second),
		Hooks:   cmp.Or(t.Hooks, 60*time.Second),
		Silent:  cmp.Or(t.Silent, 2*time.Second),
		Silence: cmp.Or(t.Silence, 300*time.Second),
		Beat:    cmp.Or(t.Beat, 15*time.Second),
	}
}

// The modes of Timing.hybrid: where events come from.
const (
	modeHooks   = "hooks_active"
	modePolling = "polling_fallback"
)

// hybrid returns how often transcripts are compared with what hooks reported: occasionally
// while hooks arrive, often when they have been silent for longer than t.Silence. last is the
// newest event, zero for none.
func (t Timing) hybrid(last event.Millis, now time.Time) (mode string, every time.Duration) {
	if last != 0 && now.Sub(last.Time()) <= t.Silence {
		return modeHooks, t.Hooks
	}
	return modePolling, t.Silent
}

// start reads all sessions and requests, before any request is served.
func (f *feed) start() error {
	if err := os.MkdirAll(f.o.Store.SessionsDir(), 0o700); err != nil { // there must be something to watch
		return err
	}
	f.tail = f.o.Store.Tail()
	u, err := f.Look()
	if err != nil {
		return err
	}
	f.take(u, f.Seen())
	f.lookAtRequests()
	return nil
}

// run keeps the feed current until ctx ends.
func (f *feed) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { f.followRequests(ctx) })
	if f.o.Others != nil {
		work.Go(func() { f.o.Others(ctx, f.others) })
	}
	work.Go(func() { live.Watch(ctx, f.o.Timing.Recheck, func() { f.sweep(ctx) }) })
	work.Go(func() { live.Watch(ctx, f.o.Timing.Recheck, func() { f.remind(ctx) }) })
	f.Run(ctx, func(u live.Update, err error) {
		f.o.Log(err)
		f.take(u, f.Seen())
	})
}

// remind notifies the user, here and on their devices.
func (f *feed) remind(ctx context.Context) {
	seen, now, _ := f.local()
	f.o.Log(f.o.Notifier.Look(seen, now))
	f.push(ctx, seen, now)
}

// spoken is how long after a session's newest event its transcript is read at each look: what the agent
// says before a call is written about when the call's first hook runs, or a moment later.
const spoken = 5 * time.Second

// sweep reads all transcripts when that is due, otherwise those of sessions with a recent event.
func (f *feed) sweep(ctx context.Context) {
	now := time.Now()
	seen, _, last := f.local()
	_, every := f.o.Timing.hybrid(last.At, now)
	all := now.Sub(f.swept) >= every
	var sessions []state.Session
	for i := range seen {
		if s := &seen[i].Session; all || now.Sub(s.Last.At.Time()) < spoken {
			sessions = append(sessions, *s)
		}
	}
	if all {
		f.swept = now
		f.sweeps.Add(1)
	}
	f.o.Log(f.transcripts.Sweep(ctx, sessions, all))
}

// take publishes what an update, with all sessions that were seen, changes.
func (f *feed) take(u live.Update, seen []state.Seen) {
	for _, p := range u.Problems {
		f.o.Log(p.Err)
	}
	turns, alerts := f.turns(u, seen), f.seer.Look(seen, u.Now)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range u.Changed {
		if last := u.Changed[i].Session.Last; last.At > f.last.At {
			f.last = last
		}
	}
	f.at, f.seen = u.Now.Time(), seen
	if len(u.Changed)+len(u.Gone) > 0 {
		f.own = render.Rows(seen, false)
		f.publish(seen)
	}
	for i := range turns {
		f.report("turn_created", &turns[i])
	}
	for _, c := range alerts {
		// Only the page that gets the event can know what its user looks at, and has chosen.
		hearing := state.Hearing{Now: u.Now, Focus: state.FocusElsewhere}
		is := state.Decide(c.Alert, state.Rules{On: state.AlertKinds[:]}, hearing)
		for _, r := range f.rows {
			if is.Verdict == state.Notify && r.Remote == nil && r.Record() == c.Session.Record() {
				f.notify(c.Alert, &r)
			}
		}
	}
}

// turns returns what was said since the last look. A hook writes the history a moment after the
// session, so this waits a little for the lines of a changed one. What comes later is published with
// the next look, at the latest with the next recheck; what was said in a session that no recheck sees
// is forgotten.
func (f *feed) turns(u live.Update, seen []state.Seen) (said []render.TurnLine) {
	old := len(f.untold)
	for try, wait := 0, len(u.Changed) > 0; try == 0 || wait && try < 5; try++ {
		if try > 0 {
			time.Sleep(2 * time.Millisecond)
		}
		f.o.Log(f.tail(func(l *store.Line) {
			wait = false
			f.meter.line(l)
			if l.Turn != nil {
				f.untold = append(f.untold, *l)
			}
		}))
	}
	var kept []store.Line
	for i, l := range f.untold {
		at := slices.IndexFunc(seen, func(v state.Seen) bool { return store.KeyOf(v.Session.Record()) == l.Key })
		if at >= 0 {
			said = append(said, render.TurnLineOf(&seen[at].Session, store.Turn{Key: l.Key, Seq: l.Seq, Turn: *l.Turn}))
		} else if i >= old || !u.Rechecked {
			kept = append(kept, l)
		}
	}
	f.untold = kept
	return said
}

// isSame reports whether nothing of a row has changed. That another machine is heard again is no change.
func isSame(was, now render.Row) bool {
	if was.Remote != nil && now.Remote != nil {
		remote := *now.Remote
		remote.AsOf, now.Remote = was.Remote.AsOf, &remote
	}
	return reflect.DeepEqual(was, now)
}

// keyOf returns the key of a row: its seat, or its session if it has none. A name contains no control
// characters.
func keyOf(r *render.Row) string {
	key := cmp.Or(r.SeatID, "session\x00"+r.Record())
	if r.Remote != nil {
		key = r.Remote.Name + "\x00" + key
	}
	return key
}

// publish reports how the rows differ from those that were published. seen are the sessions of this
// machine, also those that are over.
func (f *feed) publish(seen []state.Seen) {
	there := map[string]bool{}
	for _, r := range hosts.Distinct(f.own, f.elsewhere) {
		key := keyOf(r)
		was, known := f.rows[key]
		there[key], f.rows[key] = true, *r
		if !known {
			f.emit("session_created", *r, "")
		} else if !isSame(was, *r) {
			f.emit("session_updated", *r, "")
		}
	}
	var all []render.Row
	for key, last := range f.rows {
		if there[key] {
			continue
		}
		delete(f.rows, key)
		if all == nil {
			all = render.Rows(seen, true)
		}
		reason := "removed"
		if i := slices.IndexFunc(all, func(r render.Row) bool { return keyOf(&r) == key }); i >= 0 {
			if last = all[i]; !last.State.Live() {
				reason = string(last.State)
			}
		}
		f.emit("session_ended", last, reason)
	}
}

// others takes the rows of other machines. This machine's own, read back from where it published
// them, are left out; after /clear they come with the record before, so the seat counts, too. Of a
// session that several machines report, always the same one's is shown.
func (f *feed) others(rows []render.Row, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = time.Now().UTC()
	f.elsewhere = slices.DeleteFunc(slices.Clone(rows), func(r render.Row) bool {
		return !r.State.Live() || r.SeatID != "" && f.rows[r.SeatID].SeatID != ""
	})
	slices.SortStableFunc(f.elsewhere, func(a, b render.Row) int { return strings.Compare(a.Remote.Name, b.Remote.Name) })
	f.publish(nil)
}

// list returns the rows, in the format of `list --json`.
func (f *feed) list() render.List {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listLocked()
}

func (f *feed) listLocked() render.List {
	rows := f.o.Queue.Arrange(slices.Collect(maps.Values(f.rows)))
	return render.List{Schema: render.ListSchema, GeneratedAt: f.at, Sessions: rows}
}

// local returns the sessions of this machine, the time of the evidence, and the newest event.
func (f *feed) local() ([]state.Seen, time.Time, state.Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen, f.at, f.last
}

// payloads are values of the data of each event, by name.
var payloads = map[string]any{
	"snapshot":        snapshot{},
	"session_created": change{},
	"session_updated": change{},
	"session_ended":   change{},
	"turn_created":    render.TurnLine{},
	"notification":    notice{},
	"offer_created":   requestNews{},
	"offer_ended":     requestEnd{},
	"away":            awayNews{},
}

// report sends an event to all streams. v is a type of payloads, and always encodes.
func (f *feed) report(name string, v any) {
	f.meter.count("beckon_sse_events_total", "event", name)
	data := frame(name, v)
	for c := range f.streams {
		select {
		case c <- data:
		default: // it is too slow, and may begin again
			delete(f.streams, c)
			close(c)
		}
	}
}

// frame returns an event in the format of a stream.
func frame(name string, v any) []byte {
	data, _ := json.Marshal(v)
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}

// change is the data of session_created, session_updated and session_ended.
type change struct {
	AgentID   string     `json:"agent_id"` // the seat
	ProjectID string     `json:"project_id,omitempty"`
	Timestamp time.Time  `json:"timestamp"`
	Reason    string     `json:"reason,omitempty"` // of an end: ended, lost, removed
	Session   render.Row `json:"session"`
}

func (f *feed) emit(name string, r render.Row, reason string) {
	f.report(name, change{r.SeatID, r.ProjectID, f.at, reason, r})
}

// notice is the data of a notification event: something about a session that its user may want
// to know.
type notice struct {
	AgentID   string          `json:"agent_id"`
	SessionID string          `json:"session_id"`
	Part      string          `json:"part,omitempty"`
	Kind      string          `json:"kind"` // needs_you or done
	Alert     state.AlertKind `json:"edge"` // permission, question, failed, refused or done
	Text      string          `json:"text"`
	Timestamp time.Time       `json:"timestamp"`
}

// notify publishes an alert of the session shown in a row.
func (f *feed) notify(alert state.Alert, r *render.Row) {
	kind := "needs_you"
	if alert.Kind.Over() {
		kind = "done"
	}
	f.report("notification", notice{r.SeatID, r.SessionID, r.Part, kind, alert.Kind, r.What(), alert.At.Time()})
}

const (
	maxStreams = 100              // event streams at once
	maxBehind  = 1024             // events that a stream may be behind
	writeWait  = 10 * time.Second // a client that reads nothing for this long is dropped
)

// queue is what is to be written to an event stream. It is closed when that is too much.
type queue chan []byte

// snapshot is the data of a snapshot event, with which each stream begins.
type snapshot struct {
	render.List
	Requests []requestNews `json:"offers,omitempty"`
	Away     *away         `json:"away,omitempty"`
}

// events serves GET /events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) (any, error) {
	c := s.feed.join()
	if c == nil {
		s.feed.meter.refused("too_many_clients")
		return nil, access.NewFault(http.StatusServiceUnavailable, "too_many_clients",
			fmt.Sprintf("%d event streams are open", maxStreams), "close some pages, or ask /api/sessions now and then")
	}
	defer s.feed.leave(c)
	rc := http.NewResponseController(w)
	_, over := s.guard.Session(r)
	_ = rc.SetReadDeadline(time.Time{}) // that of requests would end the stream
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Transfer-Encoding", "identity") // the stream ends with its connection, so no chunks around the events
	beat := time.NewTicker(s.o.Timing.Beat)
	defer beat.Stop()
	for {
		var data []byte
		select {
		case data = <-c:
		case <-beat.C:
			data = []byte(": heartbeat\n\n")
		case <-r.Context().Done():
		case <-over:
		}
		if data == nil {
			return nil, nil
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeWait))
		if _, err := w.Write(data); err != nil || rc.Flush() != nil {
			return nil, nil // it has gone
		}
	}
}

// join opens a stream, which begins with a snapshot. It returns nil if there are too many.
func (f *feed) join() queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.streams) >= maxStreams {
		return nil
	}
	c := make(queue, maxBehind)
	c <- append([]byte("retry: 1000\n\n"), frame("snapshot", snapshot{f.listLocked(), f.requests, f.away})...)
	f.streams[c] = true
	return c
}

func (f *feed) leave(c queue) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, c)
}

// clients returns how many streams are open.
func (f *feed) clients() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}
