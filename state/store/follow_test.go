package store

import (
	"fmt"
	"os"
	"testing"

	"beckon/event"
	"beckon/state"
)

// follower follows a journal and checks that every line comes once, in order.
type follower struct {
	t    *testing.T
	st   *Store
	k    Key
	at   Place
	seqs []int64
}

func (f *follower) follow() {
	f.t.Helper()
	next, err := f.st.Follow(f.k, f.at, func(l Line) { f.seqs = append(f.seqs, l.Change.Seq) })
	if err != nil {
		f.t.Fatal(err)
	}
	f.at = next
}

func (f *follower) want(last int64) {
	f.t.Helper()
	f.follow()
	if f.at.Seq != last || len(f.seqs) == 0 || f.seqs[len(f.seqs)-1] != last {
		f.t.Fatalf("followed to %+v, lines %v, want %d", f.at, f.seqs, last)
	}
	for i, s := range f.seqs {
		if s != int64(i+1) {
			f.t.Fatalf("lines %v", f.seqs)
		}
	}
}

func TestFollow(t *testing.T) {
	old := segment
	segment = 4 << 10
	defer func() { segment = old }()
	st := Open(t.TempDir())
	k := KeyOf("s")
	fold := func(i int) int64 {
		e := event.Event{Agent: event.ClaudeCode, Kind: event.Notification, Name: "Notification", SessionID: "s", At: event.Millis(1000 + i), Message: fmt.Sprint("note ", i)}
		res, err := st.Fold(k, Update{Change: state.Change{At: e.At, Event: &e}})
		if err != nil {
			t.Fatal(err)
		}
		return res.After.Seq
	}
	f := follower{t: t, st: st, k: k}
	f.follow() // nothing is there
	every := follower{t: t, st: st, k: k}
	rotated := false
	for i := range 60 {
		seq := fold(i)
		every.want(seq)
		if i%7 == 0 {
			f.want(seq) // several lines at once, across rotations
		}
		segs, _ := st.segments(k)
		rotated = rotated || len(segs) > 0
	}
	if !rotated {
		t.Fatal("the journal was not rotated")
	}
	// From where a session stands, only what is new comes, and it is read from
	// there alone.
	s, err := st.Load(k)
	if err != nil {
		t.Fatal(err)
	}
	late := follower{t: t, st: st, k: k, at: Place{s.Seq, s.Offset}}
	late.follow()
	if len(late.seqs) != 0 || late.at != (Place{s.Seq, s.Offset}) {
		t.Fatalf("nothing is new, but %v came and the place is %+v", late.seqs, late.at)
	}
	seq := fold(99)
	late.follow()
	if len(late.seqs) != 1 || late.seqs[0] != seq {
		t.Fatalf("lines %v, want %d", late.seqs, seq)
	}
	// Half a line is left for the next time.
	j, err := os.OpenFile(st.journal(k), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.WriteString(`{"seq":`); err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	before := late.at
	late.follow()
	if late.at != before {
		t.Fatalf("half a line moved the place to %+v", late.at)
	}
	seq = fold(100) // the holder cuts it off
	late.follow()
	if late.at.Seq != seq || late.seqs[len(late.seqs)-1] != seq {
		t.Fatalf("after half a line: %v", late.seqs)
	}
}

func TestStale(t *testing.T) {
	st := Open(t.TempDir())
	k := KeyOf("s")
	e := event.Event{Agent: event.ClaudeCode, Kind: event.Stop, Name: "Stop", SessionID: "s", At: 1}
	res, err := st.Fold(k, Update{Change: state.Change{At: 1, Event: &e}})
	if err != nil {
		t.Fatal(err)
	}
	if st.Stale(k, &res.After) {
		t.Error("what was just folded is stale")
	}
	if keys, err := st.LiveKeys(); err != nil || len(keys) != 1 || keys[0] != k {
		t.Errorf("keys %v: %v", keys, err)
	}
	if _, err := st.Fold(k, Update{Change: state.Change{At: 2, Event: &e}}); err != nil {
		t.Fatal(err)
	}
	if !st.Stale(k, &res.After) {
		t.Error("what has changed is not stale")
	}
	for name, want := range map[string]bool{"s.json": true, "s.json.tmp": false, "s": false, ".json": false, "../s.json": false} {
		if _, ok := KeyOfFile(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
}
