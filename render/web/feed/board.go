package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/render"
	"beckon/render/hosts"
	"beckon/render/web/respond"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/store"
)

// card is one live session.
type card struct {
	seen  state.Seen
	alert state.AlertState
}

// said is what was said in a row.
type said struct {
	row  string
	line render.TurnLine
}

// look is what one look has found: rows, what was said in them, and alerts.
type look struct {
	about  func(key string) bool // which rows it is about; those of them that it does not have are gone
	rows   []render.Row
	turns  []said
	alerts map[string]state.Alert // by record
	seen   []state.Seen           // the sessions of its rows, also those that are over
}

// take passes changes on.
func (f *Feed) take(u live.Update) {
	for _, p := range u.Problems {
		f.o.Log(p.Err)
	}
	due := map[string]bool{} // the rows to check
	for _, k := range u.Gone {
		if c, is := f.cards[k]; is { // it is archived, or its file is gone
			due[rowOf(&c.seen.Session)] = true
			delete(f.cards, k)
		}
	}
	f.readHistory(u.Changed)
	l := look{about: func(key string) bool { return due[key] }, alerts: map[string]state.Alert{}}
	for _, v := range u.Changed {
		if c, known := f.cards[store.KeyOf(v.Session.Record())]; known {
			due[rowOf(&c.seen.Session)] = true // its seat is known only after the first event
		}
		due[rowOf(&v.Session)] = true
		if alert, ok := f.put(v, u.Now); ok {
			l.alerts[v.Session.Record()] = alert
		}
	}
	l.turns = f.takeTurns(u.Rechecked)
	for _, c := range f.cards {
		if due[rowOf(&c.seen.Session)] {
			l.seen = append(l.seen, c.seen)
		}
	}
	l.rows = render.Rows(l.seen, false)
	f.change(u.Now.Time(), func() { f.publish(&l) })
}

// lately is how old the alert of a session may be that was not there at the last look: an older one
// was published before.
const lately = event.Millis(60_000)

// put adds a session, or updates it, and returns the alert that it has reached.
func (f *Feed) put(v state.Seen, now event.Millis) (alert state.Alert, ok bool) {
	k := store.KeyOf(v.Session.Record())
	was, known := f.cards[k]
	is := state.AlertStateOf(v.Session, v.Evidence, now)
	f.cards[k] = card{v, is}
	f.o.Meter.newest(v.Session.Last.At, v.Session.Last.Reason)
	if f.begun == 0 {
		return alert, false
	}
	alert, ok = state.AlertSeen(was.alert, known, is, max(f.begun, now-lately))
	// Only the page that gets the event can know what its user looks at, and has chosen.
	hearing := state.Hearing{Now: now, Focus: state.FocusElsewhere}
	return alert, ok && state.Decide(alert, state.Rules{On: state.AlertKinds[:]}, hearing).Verdict == state.Notify
}

// heard is what the history has of a session.
type heard struct {
	seq   int64        // of the newest line
	turns []store.Turn // to be published
	old   bool         // nothing else was known of the session at a recheck
}

func (f *Feed) hear(k store.Key) *heard {
	if f.heard[k] == nil {
		f.heard[k] = &heard{}
	}
	return f.heard[k]
}

// readHistory reads until the history has what the changed sessions have. A hook writes it a moment
// after the session, or not at all if it is killed: what comes later is published with the next
// look, at the latest with the next recheck.
func (f *Feed) readHistory(changed []state.Seen) {
	lacks := func(v state.Seen) bool { return v.Session.Seq > f.hear(store.KeyOf(v.Session.Record())).seq }
	for try := 0; ; try++ {
		err := f.tail.Read(func(l *store.Line) {
			f.o.Meter.line(l)
			h := f.hear(l.Key)
			h.seq = max(h.seq, l.Change.Seq)
			if t := l.Change.Turn; t != nil {
				h.turns = append(h.turns, store.Turn{Seq: l.Change.Seq, Turn: *t})
			}
		})
		if err != nil {
			f.o.Log(err)
		}
		if f.begun == 0 || try == 20 || !slices.ContainsFunc(changed, lacks) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	for i := range changed {
		h := f.hear(store.KeyOf(changed[i].Session.Record()))
		h.seq = max(h.seq, changed[i].Session.Seq)
	}
}

// takeTurns returns what was said in the live sessions. A line may be read before its session
// is: it is kept until a recheck has found no such session.
func (f *Feed) takeTurns(rechecked bool) (all []said) {
	for k, h := range f.heard {
		c, is := f.cards[k]
		switch {
		case is:
			for _, line := range render.TurnLines(&c.seen.Session, h.turns) {
				all = append(all, said{rowOf(&c.seen.Session), line})
			}
			h.turns, h.old = nil, false
		case rechecked && h.old:
			delete(f.heard, k)
		case rechecked:
			h.old = true
		}
	}
	return all
}

// Keys of rows without a seat of this machine. A name contains no control characters.
const (
	unseated  = "session\x00"
	elsewhere = "elsewhere\x00"
)

// rowOf returns the key of the row that a session is part of: its seat, or itself if it has none.
func rowOf(s *state.Session) string { return cmp.Or(s.Seat, unseated+s.Record()) }

func keyOf(r *render.Row) string {
	if r.Remote != nil {
		return elsewhere + r.Remote.Name + "\x00" + cmp.Or(r.SeatID, r.Record())
	}
	return cmp.Or(r.SeatID, unseated+r.Record())
}

// publish reports how the rows of a look differ from those that were published: new rows, what was
// said, changed rows, alerts, and rows that are gone.
func (f *Feed) publish(l *look) {
	there, changed := map[string]bool{}, map[string]*shown{} // and as they were
	for i := range l.rows {
		r := &l.rows[i]
		key := keyOf(r)
		there[key] = true
		now, was := newShown(*r), f.rows[key]
		if was != nil && was.isSame(now) {
			continue
		}
		if f.rows[key] = now; was != nil {
			changed[key] = was
		} else {
			f.emit("session_created", now, nil, "")
		}
	}
	for _, t := range l.turns {
		m := message{name: "turn_created", session: t.line.SessionID, seat: t.line.AgentID}
		if s := f.rows[t.row]; s != nil { // it may not be shown
			m.now = s.row.State
		}
		f.report(m, t.line)
	}
	for key, was := range changed {
		f.emit("session_updated", f.rows[key], was, "")
	}
	for i := range l.rows {
		if alert, ok := l.alerts[l.rows[i].Record()]; ok {
			f.notify(alert, f.rows[keyOf(&l.rows[i])])
		}
	}
	for key, was := range f.rows {
		if l.about(key) && !there[key] {
			delete(f.rows, key)
			f.end(key, was, l.seen)
		}
	}
}

// isSame reports whether nothing of a row has changed. The times of another machine's move a little
// with every message, and being heard again is not a change.
func (s *shown) isSame(now *shown) bool {
	if now.row.Remote == nil {
		return bytes.Equal(s.json, now.json)
	}
	r, remote := now.row, *now.row.Remote
	remote.AsOf = s.row.Remote.AsOf
	r.Remote, r.Since, r.CreatedAt = &remote, s.row.Since, s.row.CreatedAt
	r.FirstSeen, r.UpdatedAt = s.row.FirstSeen, s.row.UpdatedAt
	return bytes.Equal(newShown(r).json, s.json) && now.row.Since.Sub(s.row.Since).Abs() < time.Second
}

// end publishes the end of a row, with its last state.
func (f *Feed) end(key string, was *shown, seen []state.Seen) {
	last, reason := was, "removed"
	for _, r := range render.Rows(seen, true) {
		if keyOf(&r) != key {
			continue
		}
		last = newShown(r)
		if !r.State.Live() {
			reason = string(r.State)
		}
	}
	f.emit("session_ended", last, was, reason)
}

// change is the data of session_created, session_updated and session_ended.
type change struct {
	AgentID   string          `json:"agent_id"` // the seat
	ProjectID string          `json:"project_id,omitempty"`
	Timestamp string          `json:"timestamp"`
	Reason    string          `json:"reason,omitempty"` // of an end: ended, lost, removed
	Session   json.RawMessage `json:"session"`
}

func (f *Feed) emit(name string, s, was *shown, reason string) {
	m := s.message(name)
	if was != nil {
		m.before, m.previous = was.row.State, was.row.SessionID
	}
	f.report(m, change{s.row.SeatID, s.row.ProjectID, respond.Time(f.at), reason, s.json})
}

// notice is the data of a notification event: something about a session that its user may want
// to know.
type notice struct {
	AgentID   string          `json:"agent_id"`
	SessionID string          `json:"session_id"`
	Part      string          `json:"part,omitempty"`
	ProjectID string          `json:"project_id,omitempty"`
	Kind      string          `json:"kind"` // needs_you or done
	Alert     state.AlertKind `json:"edge"` // permission, question, failed, refused or done
	State     state.State     `json:"state"`
	Reason    string          `json:"reason,omitempty"`
	Title     string          `json:"title"` // the project
	Text      string          `json:"text"`
	Timestamp string          `json:"timestamp"`
}

// notify publishes an alert of the session shown in a row.
func (f *Feed) notify(alert state.Alert, s *shown) {
	r := &s.row
	kind := "needs_you"
	if alert.Kind.Over() {
		kind = "done"
	}
	f.report(s.message("notification"), notice{
		AgentID:   r.SeatID,
		SessionID: r.SessionID,
		Part:      r.Part,
		ProjectID: r.ProjectID,
		Kind:      kind,
		Alert:     alert.Kind,
		State:     r.State,
		Reason:    r.Reason,
		Title:     r.Project,
		Text:      r.What(),
		Timestamp: respond.Time(alert.At.Time()),
	})
}

// others takes the rows of other machines. This machine's own, read back from where it published
// them, are left out; after /clear they come with the record before, so the seat counts, too. Of a
// session that several machines report, always the same one's is shown.
func (f *Feed) others(rows []render.Row) {
	f.change(time.Now(), func() {
		var own []render.Row
		for _, s := range f.rows {
			if s.row.Remote == nil {
				own = append(own, s.row)
			}
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(r render.Row) bool {
			return !r.State.Live() || r.SeatID != "" && f.rows[r.SeatID] != nil
		})
		slices.SortStableFunc(rows, func(a, b render.Row) int { return strings.Compare(a.Remote.Name, b.Remote.Name) })
		l := look{about: func(key string) bool { return strings.HasPrefix(key, elsewhere) }}
		for _, r := range hosts.Distinct(own, rows) {
			if r.Remote != nil {
				l.rows = append(l.rows, *r)
			}
		}
		f.publish(&l)
	})
}
