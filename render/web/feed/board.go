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

// happened is what this look has found out about a row.
type happened struct {
	turns  []render.TurnLine
	alerts []reached
}

// reached is an alert of a session.
type reached struct {
	record string
	alert  state.Alert
}

// groupOf identifies the row that a session is part of: its seat, or itself if it has none.
func groupOf(s *state.Session) string { return cmp.Or(s.Seat, "session "+s.Record()) }

// touch has the row of a session checked again.
func (f *Feed) touch(s *state.Session) *happened {
	group := groupOf(s)
	if f.due[group] == nil {
		f.due[group] = &happened{}
	}
	return f.due[group]
}

// take passes changes on.
func (f *Feed) take(u live.Update) {
	for _, p := range u.Problems {
		f.o.Log(p.Err)
	}
	for _, k := range u.Gone { // it is archived, or its file is gone
		if c, is := f.cards[k]; is {
			f.touch(&c.seen.Session)
			delete(f.cards, k)
		}
	}
	f.readHistory(u.Changed)
	for _, v := range u.Changed {
		f.put(v, u.Now)
	}
	f.takeTurns(u.Rechecked)
	f.publish(u.Now.Time())
}

// lately is how old the alert of a session may be that was not there at the last look: an older one
// was published before.
const lately = event.Millis(60_000)

// put adds a session, or updates it.
func (f *Feed) put(v state.Seen, now event.Millis) {
	k := store.KeyOf(v.Session.Record())
	was, known := f.cards[k]
	if known {
		f.touch(&was.seen.Session) // its seat is known only after the first event
	}
	row := f.touch(&v.Session)
	is := state.AlertStateOf(v.Session, v.Evidence, now)
	f.cards[k] = card{v, is}
	f.o.Meter.newest(v.Session.Last.At, v.Session.Last.Reason)
	if f.begun == 0 {
		return
	}
	alert, ok := state.AlertSeen(was.alert, known, is, max(f.begun, now-lately))
	// Only the page that gets the event can know what its user looks at, and has chosen.
	hearing := state.Hearing{Now: now, Focus: state.FocusElsewhere}
	if ok && state.Decide(alert, state.Rules{On: state.AlertKinds[:]}, hearing).Verdict == state.Notify {
		row.alerts = append(row.alerts, reached{v.Session.Record(), alert})
	}
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

// takeTurns has what was said in the live sessions published. A line may be read before its session
// is: it is kept until a recheck has found no such session.
func (f *Feed) takeTurns(rechecked bool) {
	for k, h := range f.heard {
		c, is := f.cards[k]
		switch {
		case is:
			if len(h.turns) > 0 {
				row := f.touch(&c.seen.Session)
				row.turns = append(row.turns, render.TurnLines(&c.seen.Session, h.turns)...)
			}
			h.turns, h.old = nil, false
		case rechecked && h.old:
			delete(f.heard, k)
		case rechecked:
			h.old = true
		}
	}
}

// publish reports changes of the rows that are due.
func (f *Feed) publish(at time.Time) {
	members := map[string][]state.Seen{}
	for _, c := range f.cards {
		if group := groupOf(&c.seen.Session); f.due[group] != nil {
			members[group] = append(members[group], c.seen)
		}
	}
	f.change(at, func() {
		f.at = at
		for group, h := range f.due {
			f.refresh(group, members[group], h)
		}
	})
	clear(f.due)
}

// refresh publishes what happened to the row of some sessions: its creation, what was said, its
// change, its alerts, its end. A new row is published before what was said in it, a changed one
// after.
func (f *Feed) refresh(group string, seen []state.Seen, h *happened) {
	was := f.rows[group]
	rows := render.Rows(seen, false)
	if len(rows) == 0 {
		f.said(h.turns, was)
		if was != nil {
			f.end(group, was, seen)
		}
		return
	}
	now := newShown(rows[0])
	f.rows[group] = now
	if was == nil {
		f.emit("session_created", now, nil, "")
	}
	f.said(h.turns, now)
	if was != nil && !bytes.Equal(was.json, now.json) {
		f.emit("session_updated", now, was, "")
	}
	for _, x := range h.alerts {
		if now.row.Record() == x.record { // else another one has its seat by now
			f.notify(x.alert, now)
		}
	}
}

// end publishes the end of a row, with its last state.
func (f *Feed) end(group string, was *shown, seen []state.Seen) {
	delete(f.rows, group)
	last, reason := was, "removed"
	if rows := render.Rows(seen, true); len(rows) > 0 {
		last = newShown(rows[0])
		if !rows[0].State.Live() {
			reason = string(rows[0].State)
		}
	}
	f.emit("session_ended", last, was, reason)
}

// news is the data of session_created, session_updated and session_ended.
type news struct {
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
	f.report(m, news{s.row.SeatID, s.row.ProjectID, respond.Time(f.at), reason, s.json})
}

// said publishes what was said in a row, which may not be shown: turn_created.
func (f *Feed) said(turns []render.TurnLine, s *shown) {
	for _, t := range turns {
		m := message{name: "turn_created", session: t.SessionID, seat: t.AgentID}
		if s != nil {
			m.now = s.row.State
		}
		f.report(m, t)
	}
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

// remotePrefix begins the keys of other machines' rows, which no seat of this machine has: names
// contain no control characters.
const remotePrefix = "elsewhere\x00"

// others publishes what changed in the rows of other machines. This machine's own rows, read back
// from where it published them, are left out; after /clear they come with the record before, so the
// seat counts, too.
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
		// Of a session that several machines report, always the same one's is shown.
		slices.SortStableFunc(rows, func(a, b render.Row) int { return strings.Compare(a.Remote.Name, b.Remote.Name) })
		there := map[string]bool{}
		for _, r := range hosts.Distinct(own, rows) {
			if r.Remote == nil {
				continue
			}
			key := remotePrefix + r.Remote.Name + "\x00" + cmp.Or(r.SeatID, r.Record())
			if !there[key] {
				there[key] = true
				f.putOther(key, *r)
			}
		}
		for key, was := range f.rows {
			if strings.HasPrefix(key, remotePrefix) && !there[key] {
				delete(f.rows, key)
				f.emit("session_ended", was, was, "removed")
			}
		}
	})
}

func (f *Feed) putOther(key string, row render.Row) {
	now, was := newShown(row), f.rows[key]
	name := "session_created"
	if was != nil {
		name = "session_updated"
		// Its times move a little with every message, and being heard again is not a change.
		old, remote := was.row, *row.Remote
		remote.AsOf = old.Remote.AsOf
		same := row
		same.Remote, same.Since, same.CreatedAt = &remote, old.Since, old.CreatedAt
		same.FirstSeen, same.UpdatedAt = old.FirstSeen, old.UpdatedAt
		if bytes.Equal(newShown(same).json, was.json) && row.Since.Sub(old.Since).Abs() < time.Second {
			return
		}
	}
	f.rows[key] = now
	f.emit(name, now, was, "")
}
