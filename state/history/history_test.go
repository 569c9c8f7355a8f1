package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/intent"
	"beckon/state"
	"beckon/state/store"
)

// progressFile is a transcript of the real client with progress; its turn ends with "The work
// is over."
const progressFile = "../../event/transcript/testdata/2.1.329_progress.jsonl"

func fold(t *testing.T, st *store.Store, e event.Event) state.Session {
	t.Helper()
	e.SessionID, e.Name = "s", string(e.Kind)
	res, err := st.Fold("s", store.Update{Change: state.Change{At: e.At, Event: &e}})
	if err != nil {
		t.Fatal(err)
	}
	return res.After
}

// said returns turns as "rule: text".
func said(t *testing.T, st *store.Store) (out []string) {
	t.Helper()
	turns, err := Turns(st, Query{Key: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range turns {
		out = append(out, x.Rule+": "+x.Text)
	}
	return out
}

// Progress is stored once, with the transcript's own time, however many readers there are. It
// is not stored if the Stop repeats it.
func TestSweep(t *testing.T) {
	entries := transcriptOf(t)
	first, last := entries[0], entries[len(entries)-1]
	st := store.Open(t.TempDir())
	fold(t, st, event.Event{Kind: event.UserPromptSubmit, At: first.at - 10, Prompt: "go", TranscriptPath: progressFile})
	s := fold(t, st, event.Event{Kind: event.PreToolUse, At: last.at - 1, Tool: event.Tool{Name: "Bash", UseID: "c"}})
	for range 3 {
		if err := Sweep(st, &s); err != nil {
			t.Fatal(err)
		}
	}
	got := said(t, st)
	var want []string
	for _, e := range entries[:len(entries)-1] {
		want = append(want, state.TurnProgress+": "+e.text)
	}
	if !slices.Equal(got[1:], want) {
		t.Errorf("while it works %q, want %q", got[1:], want)
	}
	s = fold(t, st, event.Event{Kind: event.Stop, At: last.at + 100, Message: last.text})
	if err := Sweep(st, &s); err != nil {
		t.Fatal(err)
	}
	if n := len(said(t, st)); n != len(want)+2 {
		t.Errorf("after its Stop %q", said(t, st))
	}
	turns, _ := Turns(st, Query{Key: "s"})
	for _, x := range turns[1 : len(turns)-1] {
		if x.Source != state.TimeTranscript || x.Command != turns[0].Command || x.Intent != intent.IntentProgress {
			t.Errorf("%+v", x)
		}
	}
}

type word struct {
	text string
	at   event.Millis
}

// transcriptOf reads the agent's words directly from the transcript.
func transcriptOf(t *testing.T) (words []word) {
	t.Helper()
	b, err := os.ReadFile(progressFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e struct {
			Type      string
			Timestamp time.Time
			Message   struct{ Content json.RawMessage }
		}
		var blocks []struct{ Type, Text string }
		if json.Unmarshal([]byte(line), &e) != nil || e.Type != "assistant" || json.Unmarshal(e.Message.Content, &blocks) != nil {
			continue
		}
		for _, x := range blocks {
			if x.Type == "text" {
				words = append(words, word{x.Text, event.MillisOf(e.Timestamp)})
			}
		}
	}
	if len(words) < 3 {
		t.Fatalf("%d texts in %s", len(words), progressFile)
	}
	return words
}

// If a reader stored the final words before the Stop did, they are still returned once.
func TestFinalWordsAreToldOnce(t *testing.T) {
	st := store.Open(t.TempDir())
	fold(t, st, event.Event{Kind: event.UserPromptSubmit, At: 1000, Prompt: "go"})
	progress := func(at event.Millis, text string) state.Turn {
		return state.Turn{Actor: state.SpeakerAgent, Intent: intent.IntentProgress, Rule: state.TurnProgress, At: at, Source: state.TimeTranscript, Text: text}
	}
	turns := []state.Turn{progress(1100, "Looking at the wall."), progress(1200, "The wall is plastered now.")}
	if _, err := st.Fold("s", store.Update{Turns: turns}); err != nil {
		t.Fatal(err)
	}
	fold(t, st, event.Event{Kind: event.Stop, At: 1300, Message: "The wall is plastered now."})
	got := said(t, st)
	if len(got) != 3 || got[1] != "transcript: Looking at the wall." {
		t.Errorf("%q", got)
	}
	if rebuilt, err := st.Load("s"); err != nil || rebuilt.Progress != 1200 || rebuilt.Task.State != state.TaskComplete {
		t.Errorf("%+v, %v", rebuilt.Task, err)
	}
}

// A sweep of a transcript of a gigabyte reads only its last 64 KiB, and finds the progress
// there.
func TestSweepOfGigabyte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tail, err := os.ReadFile(progressFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(append([]byte("\n"), tail...), 1<<30); err != nil {
		t.Skipf("no sparse file: %v", err)
	}
	words := transcriptOf(t)
	st := store.Open(t.TempDir())
	fold(t, st, event.Event{Kind: event.UserPromptSubmit, At: words[0].at - 10, Prompt: "go", TranscriptPath: path})
	s := fold(t, st, event.Event{Kind: event.PreToolUse, At: words[len(words)-1].at + 5, Tool: event.Tool{Name: "Bash", UseID: "c"}})
	before := readBytes(t)
	if err := Sweep(st, &s); err != nil {
		t.Fatal(err)
	}
	if n := readBytes(t) - before; n > 300<<10 {
		t.Errorf("read %d KiB", n>>10)
	}
	if len(said(t, st)) < 3 {
		t.Errorf("%q", said(t, st))
	}
}

// readBytes returns the number of bytes that this process has read so far; 0 where the system
// does not count them.
func readBytes(t *testing.T) (n int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(b), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSearch(t *testing.T) {
	st := store.Open(t.TempDir())
	fold(t, st, event.Event{Kind: event.UserPromptSubmit, At: 1000, Prompt: "Plaster the North wall"})
	fold(t, st, event.Event{Kind: event.Stop, At: 2000, Message: "The north wall is done."})
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"all":     {Query{}, 2},
		"words":   {Query{Words: []string{"wall", "NORTH"}}, 2},
		"both":    {Query{Words: []string{"north", "done"}}, 1},
		"none":    {Query{Words: []string{"south"}}, 0},
		"since":   {Query{Since: 1500}, 1},
		"another": {Query{Key: "gone"}, 0},
	} {
		hits, err := Turns(st, c.q)
		if err != nil || len(hits) != c.want {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}
