package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
	f.follow() // there is nothing yet
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
	// A follower that begins at a session's place reads and passes on only new lines.
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
	// Half a line is left for the next call.
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
	seq = fold(100) // the next holder cuts the half line off
	late.follow()
	if late.at.Seq != seq || late.seqs[len(late.seqs)-1] != seq {
		t.Fatalf("after half a line: %v", late.seqs)
	}
}

// An index reads only the files that changed, and drops sessions that are gone.
func TestIndex(t *testing.T) {
	st := Open(t.TempDir())
	x := st.Index()
	scan := func(when string, changed, gone []Key) {
		t.Helper()
		c, g, problems, err := x.Scan()
		slices.Sort(c)
		if !slices.Equal(c, changed) || !slices.Equal(g, gone) || len(problems) > 0 || err != nil {
			t.Errorf("%s: changed %q, gone %q, problems %v, %v", when, c, g, problems, err)
		}
	}
	scan("before anything", nil, nil)
	fold(t, st, kind(event.SessionStart, "a", t0))
	fold(t, st, kind(event.SessionStart, "b", t0))
	scan("two sessions", []Key{"a", "b"}, nil)
	scan("again", nil, nil)
	fold(t, st, kind(event.Stop, "a", t0+1))
	if changed, err := x.Refresh("a"); !changed || err != nil {
		t.Errorf("changed: %v, %v", changed, err)
	}
	if changed, err := x.Refresh("b"); changed || err != nil {
		t.Errorf("not changed: %v, %v", changed, err)
	}
	scan("after one was refreshed", nil, nil)
	fold(t, st, kind(event.Stop, "b", t0+1))
	scan("one event", []Key{"b"}, nil)
	if s, _ := x.Session("b"); s.Counts.Events != 2 {
		t.Errorf("%d events", s.Counts.Events)
	}
	if err := st.SetMeter("b", event.Meter{At: t0, Model: "m"}); err != nil {
		t.Fatal(err)
	}
	if c := x.Meters(); !slices.Equal(c, []Key{"b"}) || x.Meter("b").Model != "m" || x.Meter("a") != nil {
		t.Errorf("meters of %q", c)
	}
	remove := func(k Key) {
		t.Helper()
		if err := errors.Join(os.Remove(st.session(k)), os.Remove(st.journal(k))); err != nil {
			t.Fatal(err)
		}
	}
	remove("a")
	if _, err := x.Refresh("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	remove("b")
	scan("without its files", nil, []Key{"b"})
	for name, want := range map[string]bool{"s.json": true, "s.json.tmp": false, "s": false, ".json": false, "../s.json": false} {
		if _, ok := KeyOfFile(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
}

// Newest returns the whole events in the tail, no cut one, and no line of another kind.
func TestNewest(t *testing.T) {
	st := Open(t.TempDir())
	for i := range 50 {
		e := event.Event{Kind: event.PreToolUse, Name: "PreToolUse", SessionID: "s", At: event.Millis(i + 1), Prompt: fmt.Sprint(i)}
		if _, err := st.Fold("s", Update{Change: state.Change{At: e.At, Event: &e}, Elapsed: func() int64 { return int64(i + 1) }}); err != nil {
			t.Fatal(err)
		}
	}
	all := func(size int64) (us []int64) {
		if err := st.Newest("s", size, func(l Line) { us = append(us, l.Us) }); err != nil {
			t.Fatal(err)
		}
		return us
	}
	info, err := os.Stat(st.journal("s"))
	if err != nil {
		t.Fatal(err)
	}
	whole := all(1 << 30)
	if len(whole) != 50 || whole[0] != 1 || whole[49] != 50 {
		t.Fatalf("%v", whole)
	}
	for size := int64(0); size <= info.Size(); size += 97 {
		got := all(size)
		if !slices.Equal(got, whole[50-len(got):]) {
			t.Fatalf("the last %d bytes give %v", size, got)
		}
		if size > 2000 && len(got) == 0 {
			t.Fatalf("the last %d bytes give nothing", size)
		}
	}
	if err := st.Newest("none", 1000, func(Line) { t.Error("a session that is not there") }); err != nil {
		t.Error(err)
	}
}
