package store

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"beckon/event"
	"beckon/state"

	"pgregory.net/rapid"
)

// aSession returns a store with one session of n events, with the calls c0, c1...
func aSession(t testing.TB, n int) *Store {
	t.Helper()
	st := Open(t.TempDir())
	for i, call := range names("c", n) {
		fold(t, st, tool("s", call, t0+event.Millis(i)))
	}
	return st
}

// However a journal is damaged, what its whole lines and the session's file contain is kept.
// Whatever is cut off, except a torn tail, goes to quarantine.
func TestDamagedJournal(t *testing.T) {
	const n = 4
	third := func(j []byte) (from, to int) {
		l := bytes.SplitAfter(j, []byte("\n"))
		return len(l[0]) + len(l[1]), len(l[0]) + len(l[1]) + len(l[2])
	}
	for _, tc := range []struct {
		name   string
		damage func(j []byte) []byte
		tools  int64  // calls in the session afterwards
		calls  string // calls in the journal afterwards, without the last
		kept   string // files in quarantine
		bad    string // what fsck finds afterwards
	}{
		{name: "missing", damage: func([]byte) []byte { return nil }, tools: n, calls: "..."},
		{name: "empty", damage: func([]byte) []byte { return []byte{} }, tools: n, calls: "..."},
		{name: "cut at a line", damage: func(j []byte) []byte { from, _ := third(j); return j[:from] }, tools: n, calls: "c0 c1 ..."},
		{name: "cut in a line", damage: func(j []byte) []byte { from, _ := third(j); return j[:from+40] }, tools: n, calls: "c0 c1 ..."},
		{name: "cut after the first bytes", damage: func(j []byte) []byte { return j[:4] }, tools: n, calls: "..."},
		{name: "without its last newline", damage: func(j []byte) []byte { return j[:len(j)-1] }, tools: n, calls: "c0 c1 c2 c3"},
		{name: "torn tail", damage: func(j []byte) []byte { return append(j, `{"seq":5,"at":17500`...) }, tools: n, calls: "c0 c1 c2 c3"},
		{name: "two bytes of a tail", damage: func(j []byte) []byte { return append(j, `{"`...) }, tools: n, calls: "c0 c1 c2 c3"},
		{name: "tail of zeros", damage: func(j []byte) []byte { return append(j, make([]byte, 5000)...) }, tools: n, calls: "c0 c1 c2 c3", kept: strings.Repeat("\x00", 5000)},
		{name: "long tail without a newline", damage: func(j []byte) []byte { return append(j, bytes.Repeat([]byte("x"), 3*maxLine)...) }, tools: n, calls: "c0 c1 c2 c3", kept: strings.Repeat("x", 3*maxLine)},
		{name: "long tail like ours", damage: func(j []byte) []byte { return append(append(j, lineStart...), bytes.Repeat([]byte("5"), 2*maxLine)...) }, tools: n, calls: "c0 c1 c2 c3", kept: lineStart + strings.Repeat("5", 2*maxLine)},
		{name: "overwritten in the middle", damage: func(j []byte) []byte {
			from, to := third(j)
			for i := from; i < to-1; i++ {
				j[i] = 'x'
			}
			return j
		}, tools: n, calls: "c0 c1 c3", bad: "1 journal lines do not parse"},
		{name: "a line too long in the middle", damage: func(j []byte) []byte {
			from, _ := third(j)
			return slices.Concat(j[:from], bytes.Repeat([]byte("x"), 2*maxLine+17), []byte("\n"), j[from:])
		}, tools: n, calls: "c0 c1 c2 c3", bad: "1 journal lines do not parse"},
		{name: "its end overwritten", damage: func(j []byte) []byte {
			from, to := third(j)
			copy(j[to-1:], bytes.Repeat([]byte("\x00"), len(j)))
			_ = from
			return j
		}, tools: n, calls: "c0 c1 ...", kept: "third\x00"},
		{name: "a line taken out", damage: func(j []byte) []byte { from, to := third(j); return slices.Concat(j[:from], j[to:]) }, tools: n - 1, calls: "c0 c1 c3"},
		{name: "garbage", damage: func([]byte) []byte { return []byte("garbage\nmore") }, tools: n, calls: "...", kept: "more", bad: "1 journal lines do not parse"},
		{name: "of the same length, garbage", damage: func(j []byte) []byte { return append(bytes.Repeat([]byte("x"), len(j)-1), '\n') }, tools: n, bad: "1 journal lines do not parse"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := aSession(t, n)
			old := read(t, st.journal("s"))
			from, to := third(old)
			tc.kept = strings.ReplaceAll(tc.kept, "third\x00", string(old[from:to-1])+strings.Repeat("\x00", len(old)-to+1))
			if damaged := tc.damage(bytes.Clone(old)); damaged != nil {
				write(t, st.journal("s"), damaged)
			} else if err := os.Remove(st.journal("s")); err != nil {
				t.Fatal(err)
			}
			if s := load(t, st, "s"); s.Counts.Tools < tc.tools {
				t.Errorf("a reader sees %d calls, want %d", s.Counts.Tools, tc.tools)
			}
			s := fold(t, st, tool("s", "next", t0+n))
			if tc.name != "overwritten in the middle" && s.Counts.Tools != tc.tools+1 {
				t.Errorf("session has %d calls, want %d", s.Counts.Tools, tc.tools+1)
			}
			var got []string
			_ = st.Lines("s", 0, func(l Line) {
				if l.Snapshot != nil {
					got = append(got, "...")
				} else {
					got = append(got, l.Change.Event.Tool.UseID)
				}
			})
			if want := append(strings.Fields(tc.calls), "next"); !slices.Equal(got, want) {
				t.Errorf("journal has %q, want %q", got, want)
			}
			quarantined(t, st, tc.kept)
			fsck(t, st, tc.bad)
		})
	}
}

func quarantined(t *testing.T, st *Store, want string) {
	t.Helper()
	var got string
	kept := list(t, st, quarantineDir)
	for _, n := range kept {
		got += string(read(t, st.path(quarantineDir, n)))
	}
	if got != want {
		t.Errorf("in quarantine: %d files, %d bytes, want %d", len(kept), len(got), len(want))
	}
}

// fsck checks that Check reports want and mends it, and that the session then accepts events.
func fsck(t *testing.T, st *Store, want string) {
	t.Helper()
	before := load(t, st, "s")
	findings, err := st.Check(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want == "" && len(findings) > 0 || want != "" && (len(findings) != 1 || findings[0].Problem != want || findings[0].Mended) {
		t.Errorf("Check: %v, want %q", findings, want)
	}
	findings, err = st.Check(true, nil)
	if err != nil || want != "" && (len(findings) != 1 || !findings[0].Mended) {
		t.Errorf("Check, rebuilding: %v, %v", findings, err)
	}
	clean(t, st)
	after := fold(t, st, tool("s", "later", before.Updated+1))
	if after.Seq != before.Seq+1 {
		t.Errorf("after the rebuild the next event is %d, the last was %d", after.Seq, before.Seq)
	}
	clean(t, st)
}

// fsck --rebuild mends what it finds, and leaves a sound store alone.
func TestRebuild(t *testing.T) {
	st := aSession(t, 3)
	s := read(t, st.session("s"))
	j := read(t, st.journal("s"))
	if findings, err := st.Check(true, nil); err != nil || len(findings) > 0 {
		t.Fatalf("Check of a sound store: %v, %v", findings, err)
	}
	if !bytes.Equal(s, read(t, st.session("s"))) || !bytes.Equal(j, read(t, st.journal("s"))) {
		t.Error("a sound file was touched")
	}
	for _, tc := range []struct {
		name, problem string
		damage        func(t *testing.T, st *Store)
	}{
		{"session file missing", "the session file is missing", func(t *testing.T, st *Store) {
			if err := os.Remove(st.session("s")); err != nil {
				t.Fatal(err)
			}
		}},
		{"session file edited", "the session file is not what its journal says", func(t *testing.T, st *Store) {
			write(t, st.session("s"), bytes.Replace(read(t, st.session("s")), []byte(`"cwd":"/tmp"`), []byte(`"cwd":"/xyz"`), 1))
		}},
		{"session file behind", "the session file is not what its journal says", func(t *testing.T, st *Store) {
			old := read(t, st.session("s"))
			fold(t, st, tool("s", "more", t0+9))
			write(t, st.session("s"), old)
		}},
		{"session file broken", "the session file does not parse", func(t *testing.T, st *Store) {
			write(t, st.session("s"), []byte("{"))
		}},
		{"journal missing", "the journal lacks lines that the session file has", func(t *testing.T, st *Store) {
			if err := os.Remove(st.journal("s")); err != nil {
				t.Fatal(err)
			}
		}},
		{"journal cut", "the journal lacks lines that the session file has", func(t *testing.T, st *Store) {
			j := read(t, st.journal("s"))
			write(t, st.journal("s"), j[:bytes.IndexByte(j, '\n')+1])
		}},
		{"journal torn", "the journal ends in half a line", func(t *testing.T, st *Store) {
			write(t, st.journal("s"), append(read(t, st.journal("s")), lineStart...))
		}},
		{"bad line", "1 journal lines do not parse", func(t *testing.T, st *Store) {
			write(t, st.journal("s"), append(read(t, st.journal("s")), "bad\n"...))
		}},
		{"bad line first", "1 journal lines do not parse", func(t *testing.T, st *Store) {
			write(t, st.journal("s"), append([]byte("bad\n"), read(t, st.journal("s"))...))
		}},
		{"directory for a journal", "the journal is not a file", func(t *testing.T, st *Store) {
			if err := os.Remove(st.journal("s")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(st.journal("s")+"/x", 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := aSession(t, 3)
			tc.damage(t, st)
			for _, rebuild := range []bool{false, true} {
				findings, err := st.Check(rebuild, nil)
				if err != nil || len(findings) != 1 || findings[0].Problem != tc.problem || findings[0].Mended != rebuild {
					t.Errorf("Check(%v): %v, %v", rebuild, findings, err)
				}
			}
			clean(t, st)
			if s := load(t, st, "s"); s.Counts.Tools < 3 || s.Cwd != "/tmp" {
				t.Errorf("rebuilt: %s", text(s))
			}
		})
	}
}

// Thousands of events make a bounded number of small segments. Every kept line is read once
// and in order, and the session is whole.
func TestRotation(t *testing.T) {
	setSegment(t, 16<<10)
	st := Open(t.TempDir())
	const n = 2000
	for i := range n {
		fold(t, st, tool("s", strconv.Itoa(i), t0+event.Millis(i)))
	}
	segs, err := st.segments("s")
	if err != nil || len(segs) != maxSegments {
		t.Errorf("%d segments, want %d: %v", len(segs), maxSegments, err)
	}
	for _, name := range append(segs, "s.jsonl") {
		if size := len(read(t, st.path(journalDir, name))); int64(size) > segment+4<<10 {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	var got []int64
	if err := st.Lines("s", 0, func(l Line) {
		if (l.Snapshot != nil) != (len(got) == 0) { // the lines before the first one are gone
			t.Errorf("line %d: %s", l.Change.Seq, l.Kind())
		}
		got = append(got, l.Change.Seq)
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) < 100 || got[len(got)-1] != n {
		t.Fatalf("%d lines, the last is %d", len(got), got[len(got)-1])
	}
	for i, seq := range got {
		if seq != got[0]+int64(i) {
			t.Fatalf("line %d follows %d", seq, got[i-1])
		}
	}
	for _, after := range []int64{got[0], got[10], got[len(got)/2], n - 1, n} {
		next := after + 1
		if err := st.Lines("s", after, func(l Line) {
			if l.Change.Seq != next {
				t.Errorf("Lines(%d): line %d where %d was due", after, l.Change.Seq, next)
			}
			next++
		}); err != nil || next != n+1 {
			t.Errorf("Lines(%d) ends before %d, %v", after, next, err)
		}
	}
	if s := load(t, st, "s"); s.Seq != n || s.Counts.Tools != n {
		t.Errorf("session is at %d with %d calls", s.Seq, s.Counts.Tools)
	}
	clean(t, st)
	if err := os.Remove(st.session("s")); err != nil {
		t.Fatal(err)
	}
	if s := load(t, st, "s"); s.Seq != n || s.Counts.Tools != n {
		t.Errorf("made again, session is at %d with %d calls", s.Seq, s.Counts.Tools)
	}
	clean(t, st)
}

// A rotation that is killed at any step loses no event.
func TestRotationKilled(t *testing.T) {
	rotated := func(t *testing.T) (st *Store, name string) {
		st = aSession(t, 5)
		name = st.path(journalDir, "s.5.jsonl")
		if err := os.Rename(st.journal("s"), name); err != nil {
			t.Fatal(err)
		}
		return st, name
	}
	for name, leave := range map[string]func(t *testing.T, st *Store){
		"before the new journal": func(*testing.T, *Store) {},
		"before the snapshot":    func(t *testing.T, st *Store) { write(t, st.journal("s"), nil) },
		"in the snapshot":        func(t *testing.T, st *Store) { write(t, st.journal("s"), []byte(`{"seq":5,"at":1,"ki`)) },
	} {
		t.Run(name, func(t *testing.T) {
			st, _ := rotated(t)
			leave(t, st)
			if s := load(t, st, "s"); s.Seq != 5 {
				t.Errorf("a reader sees %d", s.Seq)
			}
			if s := fold(t, st, tool("s", "next", t0+9)); s.Seq != 6 || s.Counts.Tools != 6 {
				t.Errorf("session is at %d", s.Seq)
			}
			if got, want := calls(t, st, "s"), append(names("c", 5), "next"); !slices.Equal(got, want) {
				t.Errorf("journal has %q, want %q", got, want)
			}
			clean(t, st)
			if n := len(list(t, st, quarantineDir)); n != 0 {
				t.Errorf("%d files in quarantine", n)
			}
		})
	}
}

// A kill after the first line of a rotated journal leaves a journal shorter than the offset in
// the session's file.
func TestRotationKilledAfterItsFirstLine(t *testing.T) {
	st := aSession(t, 50)
	file := read(t, st.session("s"))
	setSegment(t, 1)
	want := fold(t, st, tool("s", "next", t0+60))
	write(t, st.session("s"), file)
	if s := load(t, st, "s"); !equal(s, want) {
		t.Errorf("a reader sees %s", text(s))
	}
	clean(t, st)
}

// A session is continued from its offset only if its sequence number fits the journal line
// there.
func TestJournalOfAnotherSession(t *testing.T) {
	l := realLines()
	s := state.Session{Schema: state.Schema, ID: "s", Seq: 5, Offset: int64(len(l[0]))}
	journal := slices.Concat(l[0], l[1])
	got, err := replay(s, bytes.NewReader(journal), int64(len(journal)))
	if err != nil || !got.short || !equal(got.s, s) {
		t.Errorf("short is %v, %v: %s", got.short, err, text(got.s))
	}
	s.Seq = 1 // as in another session, or in an earlier state of this one
	if got, err = replay(s, bytes.NewReader(journal), int64(len(journal))); err != nil || got.short || got.s.Seq != 2 {
		t.Errorf("short is %v, %v: %s", got.short, err, text(got.s))
	}
}

// A journal that was deleted by hand starts at 1 again, so the name for the rotated journal
// may be taken. The file of that name goes to quarantine.
func TestRotationToTakenName(t *testing.T) {
	setSegment(t, 1)
	st := Open(t.TempDir())
	write(t, st.path(journalDir, "s.1.jsonl"), []byte("of another life\n"))
	fold(t, st, tool("s", "a", t0))
	fold(t, st, tool("s", "b", t0+1))
	if got := calls(t, st, "s"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("journal has %q", got)
	}
	quarantined(t, st, "of another life\n")
	clean(t, st)
}

// A journal that cannot be rotated grows on, and no event is lost.
func TestRotationFails(t *testing.T) {
	setSegment(t, 1)
	st := aSession(t, 1)
	write(t, st.path(journalDir, "s.1.jsonl"), nil)
	write(t, filepath.Join(st.Dir, quarantineDir), nil) // so that the name cannot be freed
	for i, call := range []string{"x", "y"} {
		if s := fold(t, st, tool("s", call, t0+event.Millis(i))); s.Seq != int64(i+2) {
			t.Errorf("session is at %d", s.Seq)
		}
	}
	if got := calls(t, st, "s"); !slices.Equal(got, []string{"c0", "x", "y"}) {
		t.Errorf("journal has %q", got)
	}
	clean(t, st)
}

// A follower misses no line, even if the journal is rotated while it reads.
func TestLinesDuringRotation(t *testing.T) {
	setSegment(t, 16<<10)
	st := Open(t.TempDir())
	const n = 700
	var all sync.WaitGroup
	all.Go(func() {
		for i := range n {
			if _, err := st.Fold("s", folding(tool("s", strconv.Itoa(i), t0+event.Millis(i)))); err != nil {
				t.Errorf("Fold: %v", err)
			}
		}
	})
	defer all.Wait()
	last := int64(0)
	for last < n && !t.Failed() {
		err := st.Lines("s", last, func(l Line) {
			if l.Change.Seq != last+1 {
				t.Errorf("line %d follows %d", l.Change.Seq, last)
			}
			last = l.Change.Seq
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Lines of a kind that only a newer version knows are passed on, not folded.
func TestUnknownKindOfLine(t *testing.T) {
	st := aSession(t, 1)
	write(t, st.journal("s"), append(read(t, st.journal("s")), `{"seq":2,"at":1750000000005,"kind":"weather","us":1,"weather":{"number":1},"event":{"kind":"Stop","session_id":"s"}}`+"\n"...))
	s := fold(t, st, tool("s", "b", t0+9))
	if s.Seq != 3 || s.Counts.Tools != 2 {
		t.Errorf("session is at %d", s.Seq)
	}
	var kinds []string
	if err := st.Lines("s", 0, func(l Line) { kinds = append(kinds, l.Kind()) }); err != nil || !slices.Equal(kinds, []string{"event", "unknown", "event"}) {
		t.Errorf("kinds %q, %v", kinds, err)
	}
	clean(t, st)
}

func anyLine() *rapid.Generator[Line] {
	return rapid.Custom(func(t *rapid.T) Line {
		l := Line{Us: rapid.Int64Range(0, 1e9).Draw(t, "us"), Spool: rapid.SampledFrom([]string{"", "s.1-2-x.json"}).Draw(t, "spool")}
		l.Change.Seq = rapid.Int64Range(1, 1<<53).Draw(t, "seq")
		l.Change.At = event.Millis(rapid.Int64Range(0, 1<<53).Draw(t, "at"))
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			e := tool(rapid.String().Draw(t, "id"), rapid.String().Draw(t, "call"), l.Change.At)
			e.Prompt = rapid.String().Draw(t, "prompt")
			e.Origin = rapid.SampledFrom([]*event.Origin{nil, {}, {Host: "h", Process: event.Process{Pid: 7, Start: "1"}}}).Draw(t, "origin")
			l.Change.Event = e
		case 1:
			l.Change.Observation = &state.Observed{Source: state.FromRegistry, What: state.SawHalt, At: l.Change.At, Detail: rapid.String().Draw(t, "detail")}
		case 2:
			l.Change.Action = &state.Action{Kind: state.ActSeen, Until: event.Millis(rapid.Int64Range(0, 1<<53).Draw(t, "until"))}
		case 3:
			s := state.Apply(state.Session{}, state.Change{Seq: l.Change.Seq, At: l.Change.At, Event: tool("s", "c", l.Change.At)})
			l.Snapshot = &s
		}
		return l
	})
}

func TestLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLine().Draw(t, "line")
		b := appendLine(nil, l)
		if b[len(b)-1] != '\n' || bytes.IndexByte(b, '\n') != len(b)-1 || !bytes.HasPrefix(b, []byte(lineStart)) {
			t.Fatalf("not one line: %q", b)
		}
		got, err := parseLine(b[:len(b)-1])
		if err != nil {
			t.Fatalf("%v: %q", err, b)
		}
		if again := appendLine(nil, got); !bytes.Equal(again, b) {
			t.Fatalf("written again\n%q, first\n%q", again, b)
		}
		if l.Snapshot == nil && !reflect.DeepEqual(got, l) {
			t.Fatalf("got %+v, want %+v", got, l)
		}
	})
}

// realLines returns journal lines of each kind.
func realLines() [][]byte {
	s := state.Apply(state.Session{}, state.Change{Seq: 1, At: t0, Event: tool("s", "c", t0)})
	var out [][]byte
	for _, l := range []Line{
		{Change: state.Change{Seq: 1, At: t0, Event: tool("s", "a", t0)}, Us: 900},
		{Change: state.Change{Seq: 2, At: t0, Event: tool("s", "\u2028\"\\", t0)}, Spool: "s.1-2-x.json"},
		{Change: state.Change{Seq: 3, At: t0, Observation: &state.Observed{Source: state.FromProcess, What: state.SawGone, At: t0}}},
		{Change: state.Change{Seq: 4, At: t0, Action: &state.Action{Kind: state.ActBackburner, Until: t0}}},
		{Change: state.Change{Seq: 4, At: t0}, Snapshot: &s},
	} {
		out = append(out, appendLine(nil, l))
	}
	return out
}

// FuzzParseLine checks that no input makes parseLine panic, and that what it accepts can be
// written and parsed again.
func FuzzParseLine(f *testing.F) {
	for _, l := range realLines() {
		f.Add(l[:len(l)-1])
		f.Add(l[:len(l)/2])
	}
	for _, s := range []string{"", "{}", "null", `{"seq":1}`, `{"seq":-1,"kind":"event"}`, `{"kind":"event","event":{},"seq":1}`,
		`{"seq":1,"kind":"snapshot","snapshot":{"schema":9}}`, `{"seq":1,"kind":"","":1}`, `{"seq":1,"kind":"seq","seq":2}`, `{"seq":9e99}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLine(b)
		if err != nil {
			return
		}
		again := appendLine(nil, l)
		l2, err := parseLine(again[:len(again)-1])
		if err != nil || !bytes.Equal(appendLine(nil, l2), again) {
			t.Fatalf("%q is written as %q, read as %+v, %v", b, again, l2, err)
		}
		foldLine(new(state.Session), &l, 1)
	})
}

// FuzzScan checks that whole lines survive whatever follows them, and that a fold from their
// end equals a fold of everything.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "\n", "\n\n", "{", `{"seq":3`, "x\n", "\x00\x00\n", "{}\n{}\n"} {
		f.Add(uint8(3), []byte(s))
	}
	for _, l := range realLines() {
		f.Add(uint8(2), l)
		f.Add(uint8(2), l[:len(l)-1])
		f.Add(uint8(2), l[len(l)/2:])
	}
	f.Fuzz(func(t *testing.T, n uint8, rest []byte) {
		real := realLines()
		n %= uint8(len(real) + 1)
		data := bytes.Join(real[:n], nil)
		whole := int64(len(data))
		data = append(data, rest...)
		r := bytes.NewReader(data)
		var ends []int64
		end, bad, err := scan(r, 0, func(l Line, start, end int64) {
			if l.Change.Seq <= 0 || start < 0 || data[end-1] != '\n' || start > 0 && data[start-1] != '\n' {
				t.Fatalf("line %d from %d to %d", l.Change.Seq, start, end)
			}
			ends = append(ends, end)
		})
		if err != nil { // may be a snapshot of a newer schema
			return
		}
		if len(ends) < int(n) || end < whole || end > int64(len(data)) {
			t.Fatalf("%d lines of %d, end %d of %d", len(ends), n, end, len(data))
		}
		if i := bytes.LastIndexByte(data, '\n'); end != int64(i+1) {
			t.Fatalf("end %d, the last newline is at %d", end, i)
		}
		if lines := bytes.Count(data, []byte("\n")); len(ends)+bad != lines {
			t.Fatalf("%d lines and %d bad ones of %d", len(ends), bad, lines)
		}
		t1, err := replayAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var s state.Session
		if _, _, err := scan(bytes.NewReader(data[:whole]), 0, func(l Line, _, end int64) { foldLine(&s, &l, end) }); err != nil {
			t.Fatal(err)
		}
		t2, err := replay(s, r, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if !t2.short && !equal(t1.s, t2.s) {
			t.Fatalf("from line %d on %s\nfrom the start %s", n, text(t2.s), text(t1.s))
		}
	})
}

// A reader without the lock may see half of a torn line and half of its replacement. Such a
// line is read again.
func TestLineReplacedWhileRead(t *testing.T) {
	l := realLines()
	torn := slices.Concat(l[0][:len(l[0])/2], l[1][len(l[0])/2:])
	r := &changing{now: torn, then: l[1]}
	n := 0
	if _, bad, err := scan(r, 0, func(Line, int64, int64) { n++ }); n != 1 || bad != 0 || err != nil {
		t.Errorf("%d lines, %d bad, %v", n, bad, err)
	}
}

// changing is a file whose content changes after its first read.
type changing struct{ now, then []byte }

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(c.now).ReadAt(p, off)
	if off > 0 || n > 0 {
		c.now = c.then
	}
	return n, err
}
