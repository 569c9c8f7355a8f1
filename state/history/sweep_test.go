package history

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/store"

	"github.com/gofrs/flock"
	"pgregory.net/rapid"
)

// recording is a transcript of the real client, with those hooks of its session that carry
// text or show activity.
type recording struct {
	name  string
	data  []byte
	hooks []event.Event // by time
}

func recordings(t *testing.T) (all []recording) {
	t.Helper()
	paths, err := filepath.Glob("../../event/transcript/testdata/*.jsonl")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d transcripts, %v", len(paths), err)
	}
	for _, path := range paths {
		entries, _, err := transcript.Read(path, 0, transcript.MaxText)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		hooks := hooksOf(entries)
		older := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(`"end_turn"`), []byte("null")), []byte(`"tool_use","type":"message"`), []byte(`null,"type":"message"`))
		all = append(all, recording{filepath.Base(path), data, hooks}, recording{filepath.Base(path) + ", no stop_reason", older, hooks})
	}
	return all
}

// hooksOf makes the hooks that report what the entries say.
func hooksOf(entries []transcript.Entry) (hooks []event.Event) {
	for _, e := range entries {
		h := event.Event{At: e.At + 1}
		switch {
		case !e.Main():
			continue
		case e.Prompt:
			h.Kind, h.Prompt, h.At = event.UserPromptSubmit, e.Text, e.At-1
		case e.Stop == "end_turn":
			h.Kind, h.Message = event.Stop, e.Text
		case e.ToolResult:
			h.Kind, h.Tool = event.PostToolUse, event.Tool{Name: "Bash", UseID: e.ToolUseIDs[0]}
		case len(e.ToolUseIDs) > 0:
			h.Kind, h.Tool = event.PreToolUse, event.Tool{Name: "Bash", UseID: e.ToolUseIDs[0]}
		default:
			continue
		}
		hooks = append(hooks, h)
	}
	slices.SortStableFunc(hooks, func(a, b event.Event) int { return int(a.At - b.At) })
	return hooks
}

// play folds the recording's hooks while its transcript grows, as steps say, and sweeps after
// each step. It returns all turns, and which of them were stored as progress.
func (r *recording) play(t fataler, dir string, steps []step) []string {
	path := filepath.Join(dir, "t.jsonl")
	st := store.Open(dir)
	w := NewSweeper(st)
	var s state.Session
	done := 0
	for _, step := range append(steps, step{len(r.hooks), len(r.data)}) {
		for ; done < step.hooks; done++ {
			e := r.hooks[done]
			e.SessionID, e.Name, e.TranscriptPath = "s", string(e.Kind), path
			res, err := st.Fold("s", store.Update{Change: state.Change{At: e.At, Event: &e}})
			if err != nil {
				t.Fatal(err)
			}
			s = res.After
		}
		if err := os.WriteFile(path, r.data[:step.size], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.Sweep(context.Background(), []state.Session{s}, true); err != nil {
			t.Fatal(err)
		}
	}
	turns, err := Turns(st, Query{Key: "s"})
	if err != nil {
		t.Fatal(err)
	}
	noted := func(l *store.Line) {
		if turn := *l.Turn; turn.Rule == state.TurnProgress {
			turns = append(turns, store.Turn{Seq: l.Seq, Turn: turn})
		}
	}
	if err := st.Lines(store.Select{Key: "s", Kind: "turn"}, noted); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, turn := range turns {
		said = append(said, fmt.Sprintf("%d %s: %s", turn.At, turn.Rule, turn.Text))
	}
	return said
}

type fataler interface{ Fatal(...any) }

// step is a state of the session and its transcript at which a sweep runs.
type step struct{ hooks, size int }

// The turns are the same however a transcript is appended to, however far it lags behind the
// hooks or they behind it, and whenever it is swept.
func TestSweeperInPieces(t *testing.T) {
	all := recordings(t)
	whole := map[string][]string{}
	progress := 0
	for _, r := range all {
		whole[r.name] = r.play(t, t.TempDir(), nil)
		for _, said := range whole[r.name] {
			if strings.Contains(said, state.TurnProgress+": ") {
				progress++
			}
		}
	}
	if progress < 60 {
		t.Fatalf("%d texts on the way in all recordings", progress)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(all).Draw(rt, "recording")
		ints := func(most int, name string) []int {
			n := rapid.SliceOfN(rapid.IntRange(0, most), 8, 8).Draw(rt, name)
			slices.Sort(n)
			return n
		}
		hooks, sizes := ints(len(r.hooks), "hooks"), ints(len(r.data), "sizes")
		var steps []step
		for i := range hooks {
			steps = append(steps, step{hooks[i], sizes[i]})
		}
		if got := r.play(rt, t.TempDir(), steps); !slices.Equal(got, whole[r.name]) {
			rt.Fatalf("%s, %v:\n%s\nwant\n%s", r.name, steps, strings.Join(got, "\n"), strings.Join(whole[r.name], "\n"))
		}
	})
}

// line returns a line with the agent's text at t, and an attachment of beside bytes.
func line(t event.Millis, text string, beside int) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"u%d","timestamp":%q,"message":{"stop_reason":"tool_use","content":[{"type":"text","text":%q}]}}`+"\n"+
		`{"type":"attachment","x":%q}`+"\n", t, t.Time().Format(time.RFC3339Nano), text, strings.Repeat("y", beside))
}

const began = 1795000000000 // the time of the first hook in tests that write their own transcript

// swept is a session with a transcript that the test writes, and its Sweeper.
type swept struct {
	*testing.T
	st   *store.Store
	path string
	w    *Sweeper
	s    state.Session
}

func newSwept(t *testing.T) *swept {
	t.Helper()
	x := &swept{T: t, st: store.Open(t.TempDir()), path: filepath.Join(t.TempDir(), "t.jsonl")}
	x.w = NewSweeper(x.st)
	x.s = fold(t, x.st, event.Event{Kind: event.UserPromptSubmit, At: began, Prompt: "go", TranscriptPath: x.path})
	return x
}

func (x *swept) file(text string) {
	x.Helper()
	if err := os.WriteFile(x.path, []byte(text), 0o600); err != nil {
		x.Fatal(err)
	}
}

// sweep sweeps and returns how many turns there are now.
func (x *swept) sweep() int {
	x.Helper()
	if err := x.w.Sweep(context.Background(), []state.Session{x.s}, true); err != nil {
		x.Fatal(err)
	}
	return len(said(x.T, x.st)) - 1 // the prompt
}

// A transcript may grow by any amount between two sweeps: nothing is missed, and nothing is
// read twice.
func TestSweeperReadsOn(t *testing.T) {
	x := newSwept(t)
	text := ""
	for i := range 100 {
		text += line(began+event.Millis(i), fmt.Sprintf("The word number %d.", i), 20<<10)
	}
	x.file(text)
	first := x.sweep()
	if first < 3 || first > 4 {
		t.Errorf("the first sweep found %d", first)
	}
	for i := range 50 {
		text += line(began+1000+event.Millis(i), fmt.Sprintf("The other number %d.", i), 20<<10)
	}
	x.file(text)
	if n := x.sweep(); n != first+50 {
		t.Errorf("a megabyte more gave %d, want 50", n-first)
	}
	before := readBytes(t)
	if n := x.sweep(); n != first+50 || readBytes(t)-before > 32<<10 {
		t.Errorf("nothing new: %d, read %d bytes", n-first, readBytes(t)-before)
	}
}

// A Sweeper reads the whole transcript of a session that began after the Sweeper.
func TestSweeperOfYoungSession(t *testing.T) {
	x := newSwept(t)
	x.w.made = began
	text := ""
	for i := range 50 {
		text += line(began+event.Millis(i), fmt.Sprintf("The word number %d.", i), 20<<10)
	}
	x.file(text)
	if n := x.sweep(); n != 50 {
		t.Errorf("%d, want all 50", n)
	}
}

// If a transcript is cut, replaced, moved or missing for a while, reading continues and no
// turn is stored twice.
func TestSweeperOfAnotherFile(t *testing.T) {
	x := newSwept(t)
	one, two, three, four := line(began+1, "The first thing.", 10), line(began+2, "The second thing.", 10), line(began+3, "The third thing.", 10), line(began+4, "The fourth thing.", 10)
	for i, c := range []struct {
		text string
		want int
	}{
		{one + two[:50], 1},
		{one + two, 2},
		{one, 2},         // cut short
		{one + three, 3}, // and written on
		{four, 4},        // another
		{one + two + three + four, 4},
	} {
		x.file(c.text)
		if n := x.sweep(); n != c.want {
			t.Errorf("%d: %d turns, want %d", i, n, c.want)
		}
	}
	if err := os.Remove(x.path); err != nil {
		t.Fatal(err)
	}
	if n := x.sweep(); n != 4 {
		t.Errorf("gone: %d turns", n)
	}
	x.path = filepath.Join(t.TempDir(), "moved.jsonl")
	x.s.Transcript = x.path
	x.file(one + line(began+5, "The fifth thing.", 10))
	if n := x.sweep(); n != 5 {
		t.Errorf("moved: %d turns", n)
	}
}

// Turns that a lock keeps from being stored are stored later, sessions that are gone are
// forgotten, and a canceled sweep reads nothing.
func TestSweeperWaitsAndForgets(t *testing.T) {
	x := newSwept(t)
	x.file(line(began+1, "The first thing.", 10))
	lock := flock.New(filepath.Join(x.st.Dir, "locks", "s.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	if n := x.sweep(); n != 0 {
		t.Errorf("%d turns while the session is held", n)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if n := x.sweep(); n != 1 {
		t.Errorf("%d turns", n)
	}
	called, off := context.WithCancel(context.Background())
	off()
	x.file(line(began+1, "The first thing.", 10) + line(began+2, "The second thing.", 10))
	err := x.w.Sweep(called, []state.Session{x.s}, true)
	if err != nil || len(x.w.readings) != 1 || len(said(t, x.st)) != 2 {
		t.Errorf("called off: %v, %q", err, said(t, x.st))
	}
	if err := x.w.Sweep(context.Background(), nil, true); err != nil || len(x.w.readings) != 0 {
		t.Errorf("%d readings of sessions that are gone, %v", len(x.w.readings), err)
	}
}
