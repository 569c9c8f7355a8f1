package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
	"beckon/state/stats"
)

const dayMs = event.Millis(24 * 60 * 60 * 1000)

// A question about some days opens no file of another day.
func TestDaysReadTheirFiles(t *testing.T) {
	st := Open(t.TempDir())
	for i := range event.Millis(10) {
		fold(t, st, tool("s", fmt.Sprint("c", i), t0+i*dayMs))
	}
	for _, other := range []string{dayOf(t0), dayOf(t0 + 2*dayMs)} { // a directory cannot be read
		path := st.path(historyDir, other+".jsonl")
		if err := errors.Join(os.Remove(path), os.MkdirAll(path, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := st.Counts(Select{Since: t0 + 3*dayMs}, func(_ Key, _ event.Millis, c *stats.Count) { n += int(c.Tools) }); err != nil || n != 7 {
		t.Errorf("%d tools, %v", n, err)
	}
	if err := st.Counts(Select{}, func(Key, event.Millis, *stats.Count) {}); err == nil {
		t.Error("all days, and no error")
	}
}

// A line that a killed writer left unfinished takes no other with it.
func TestTornHistory(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	whole := read(t, dayFile(st))
	for name, end := range map[string][]byte{"half a line": whole[:len(whole)/2], "zeros": make([]byte, 700), "nearly all": whole[:len(whole)-1]} {
		t.Run(name, func(t *testing.T) {
			write(t, dayFile(st), append(bytes.Clone(whole), end...))
			fold(t, st, tool("other", "b", t0))
			var got []string
			if err := st.Lines(Select{}, func(l *Line) { got = append(got, string(l.Key)) }); err != nil || !slices.Contains(got, "other") || got[0] != "s" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A tail returns each line once, whichever day it belongs to.
func TestTail(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "before", t0))
	tail := st.Tail()
	want := []string{"a", "b", "c"}
	for i, call := range want {
		fold(t, st, tool("s", call, t0+event.Millis(i%2)*dayMs))
		var got []string
		err := tail(func(l *Line) { got = append(got, l.Event.Tool.UseID) })
		if err != nil || !slices.Equal(got, want[i:i+1]) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// Times that no clock shows make a file that is read, and no other path.
func TestStrangeDays(t *testing.T) {
	st := Open(t.TempDir())
	for _, at := range []event.Millis{-5, 1, 1 << 50, 1 << 62} {
		fold(t, st, tool(fmt.Sprint("s", at), "c", at))
	}
	n := 0
	if err := st.Lines(Select{}, func(*Line) { n++ }); err != nil || n != 4 {
		t.Errorf("%d lines in %q, %v", n, list(t, st, historyDir), err)
	}
}

// Journals are converted once, into the lines that a fold of today writes, however often it is
// killed before it is done.
func TestConvert(t *testing.T) {
	st := Open(t.TempDir())
	var journal strings.Builder
	want := Open(t.TempDir())
	for i := range 6 {
		e := tool("s", fmt.Sprint("c", i), t0+event.Millis(i)*dayMs/2)
		e.Origin = &event.Origin{Seat: "x", Project: "/p"}
		fold(t, want, e)
		b := appendLine(nil, &Line{Seq: int64(i + 1), At: e.At, Kind: "event", Event: e})
		journal.Write(b)
	}
	text := journal.String()
	write(t, st.path("journal", "s.jsonl"), []byte(text+"half a li"))
	write(t, st.path("journal", "note.txt"), []byte("x"))
	sum := func(st *Store) (n stats.Count) {
		t.Helper()
		if err := st.Counts(Select{}, func(_ Key, _ event.Millis, c *stats.Count) {
			n.Tools, n.Ms = n.Tools+c.Tools, n.Ms+c.Ms
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := sum(st); got != sum(want) || got.Tools != 6 || got.Ms == 0 {
		t.Errorf("sums %+v, want %+v", got, sum(want))
	}
	if plainfile.Exists(st.path("journal", "")) {
		t.Error("the journals are still there")
	}
	days := list(t, st, historyDir)
	write(t, st.path("journal", "s.jsonl"), []byte(text)) // as if it had been killed before the end
	if got := sum(st); got != sum(want) || !slices.Equal(list(t, st, historyDir), days) {
		t.Errorf("again: sums %+v, want %+v", got, sum(want))
	}
	write(t, st.path("journal", "t.jsonl"), []byte(text)) // of an old hook that still ran
	if got := sum(st); got.Tools != 12 {
		t.Errorf("a later journal: %+v", got)
	}
	if left, err := filepath.Glob(filepath.Join(st.Dir, "journal*")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

// What a journal had when a part of it was cut off continues from its snapshot.
func TestConvertFromASnapshot(t *testing.T) {
	st := Open(t.TempDir())
	s := state.Apply(state.Session{}, state.Change{Seq: 40, At: t0, Event: kind(event.UserPromptSubmit, "s", t0)})
	snapshot := fmt.Sprintf(`{"seq":40,"at":%d,"kind":"snapshot","us":0,"snapshot":%s}`+"\n", t0, state.AppendJSON(nil, &s))
	stop := kind(event.Stop, "s", t0+5000)
	write(t, st.path("journal", "s.jsonl"), append([]byte(snapshot), appendLine(nil, &Line{Seq: 41, At: stop.At, Kind: "event", Event: stop})...))
	totals := stats.New(time.UTC)
	if err := st.Counts(Select{}, func(k Key, at event.Millis, n *stats.Count) { totals.Add(string(k), at, n) }); err != nil || totals.Busy("s") != 5*time.Second {
		t.Errorf("busy %v, %v", totals.Busy("s"), err)
	}
}

// Any bytes in a file of history give lines or none.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"key":"s","seq":1,"at":1,"kind":"action","action":{"kind":"seen"}}`), 3)
	f.Add([]byte("{\"key\":\"s\",\"seq\"\n\x00{\"key\":\"t\"}"), 40)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		st := Open(t.TempDir())
		if cut = max(0, min(cut, len(b))); cut > 0 {
			b = b[:cut]
		}
		write(t, dayFile(st), append(b, '\n'))
		fold(t, st, tool("other", "c", t0))
		found := false
		if err := st.Lines(Select{Key: "other"}, func(*Line) { found = true }); err != nil || !found {
			t.Errorf("%q hides the line after it: %v", b, err)
		}
	})
}
