package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/live"
	"beckon/state/stats"
	"beckon/state/store"

	"pgregory.net/rapid"
)

var modelTime = flag.Duration("model", 6*time.Second, "how long to hold hook processes against their model")

// told is an event that was sent to a hook.
type told struct {
	e      event.Event
	id     string
	killed bool // the hook may not have handled it
	seen   bool // the history has it
}

// world is what hooks, readers and housekeeping share, with its model: every session as the
// fold of its history.
type world struct {
	st       *store.Store
	tail     func(func(*store.Line)) error
	env      []string
	hook     string
	told     map[string]*told // by prompt id, which is unique
	sessions map[string]*state.Session
	tally    *tally
	idle     func() bool // whether the time is up
	quiet    bool        // nothing happened since the last comparison
}

type tally struct{ storms, hooks, killed, lines, archived, pruned, gaps int }

var worldIDs = []string{"one", "two", "../../three"}

// order is a hook to run: for which session, with which event, and when to kill it.
type order struct {
	payload string
	kill    time.Duration // 0 for never
	t       *told
}

func (w *world) order(t *rapid.T) order {
	kinds := []string{"PreToolUse", "PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd", "SubagentStop", "Notification"}
	id, kind := rapid.SampledFrom(worldIDs).Draw(t, "session"), rapid.SampledFrom(kinds).Draw(t, "kind")
	name := fmt.Sprintf("p%d", len(w.told))
	payload := fmt.Sprintf(`{"session_id":%q,"hook_event_name":%q,"prompt_id":%q,"cwd":"/","tool_name":"Bash","tool_use_id":"t%d","tool_input":{"command":%q},"prompt":"go on","message":"m","source":"resume","reason":"other"}`,
		id, kind, name, len(w.told)/3, strings.Repeat("make ", rapid.IntRange(1, 4000).Draw(t, "words")))
	e, err := event.Parse("", "", []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	o := order{payload: payload, t: &told{e: e, id: id}}
	if rapid.IntRange(0, 2).Draw(t, "fate") == 0 {
		o.kill = time.Duration(rapid.IntRange(1, 6000).Draw(t, "us")) * time.Microsecond
	}
	w.told[name] = o.t
	return o
}

// run runs a hook until it exits or is killed.
func (w *world) run(o order) error {
	cmd := exec.Command(w.hook)
	var errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = w.env, strings.NewReader(o.payload), &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	if o.kill > 0 {
		time.Sleep(o.kill)
		_ = cmd.Process.Kill()
	}
	err := cmd.Wait()
	if o.kill > 0 && err != nil {
		o.t.killed = true
		return nil
	}
	if errs.Len() > 0 {
		return errors.New(errs.String())
	}
	return err
}

// storm runs some hooks concurrently, and a reader or housekeeping among them.
func (w *world) storm(t *rapid.T) {
	if w.idle() {
		return
	}
	w.quiet = false
	orders := make([]order, rapid.IntRange(1, 6).Draw(t, "hooks"))
	for i := range orders {
		orders[i] = w.order(t)
	}
	chores := []func() error{w.look, w.archive, w.prune, w.st.TakeLate, func() error { return nil }}
	chore := rapid.SampledFrom(chores).Draw(t, "chore")
	errs := make([]error, len(orders)+1)
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() { errs[i] = w.run(orders[i]) })
	}
	all.Go(func() {
		if err := chore(); !errors.Is(err, store.ErrBusy) { // it will be tried again
			errs[len(orders)] = err
		}
	})
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	w.tally.storms++
	w.tally.hooks += len(orders)
	for _, o := range orders {
		if o.t.killed {
			w.tally.killed++
		}
	}
}

// look does what every view does.
func (w *world) look() error {
	snap, err := live.NewReader(w.st, "").Look(true)
	for _, p := range snap.Problems {
		err = errors.Join(err, p.Err)
	}
	return err
}

// archive archives the sessions that are over, as if an hour later.
func (w *world) archive() error {
	var errs []error
	for _, id := range worldIDs {
		moved, err := w.st.Archive(store.KeyOf(id), event.MillisOf(time.Now().Add(time.Hour)))
		errs = append(errs, err)
		if moved {
			w.tally.archived++
		}
	}
	return errors.Join(errs...)
}

// prune removes the files of archived sessions, which their history outlives.
func (w *world) prune() error {
	archive := filepath.Join(w.st.Dir, "archive")
	old := time.Now().Add(-15 * 24 * time.Hour)
	for _, id := range worldIDs {
		if os.Chtimes(filepath.Join(archive, string(store.KeyOf(id))+".json"), old, old) == nil {
			w.tally.pruned++
		}
	}
	_ = os.Remove(filepath.Join(archive, ".pruned"))
	return w.st.Prune(time.Now())
}

// held holds the lock of a session for longer than a hook waits.
func (w *world) held(t *rapid.T) {
	if w.idle() {
		return
	}
	w.quiet = false
	id := rapid.SampledFrom(worldIDs).Draw(t, "held")
	path := filepath.Join(w.st.Dir, "locks", string(store.KeyOf(id))+".lock")
	if _, err := os.Stat(path); err != nil {
		return
	}
	release, err := holdOpen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	w.storm(t)
}

// seldom runs the slow function once in four times, else the other.
func seldom(long, short func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) {
		if rapid.IntRange(0, 3).Draw(t, "long") == 0 {
			long(t)
		} else {
			short(t)
		}
	}
}

// compare folds the new lines of history in memory, and compares the result with what readers
// find. A kill may take the lines that its hook was about to write, among them those of events
// that waited; then the model goes on from the session.
func (w *world) compare(t *rapid.T) {
	if w.quiet {
		return
	}
	w.quiet = true
	if err := w.st.TakeLate(); err != nil {
		t.Fatal(err)
	}
	if err := w.look(); err != nil {
		t.Fatal(err)
	}
	lines := map[store.Key][]*store.Line{}
	if err := w.tail(func(l *store.Line) { lines[l.Key] = append(lines[l.Key], l) }); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, id := range worldIDs {
		k, model := store.KeyOf(id), w.sessions[id]
		whole := w.follow(t, id, model, lines[k])
		s, err := w.st.Load(k)
		switch {
		case errors.Is(err, fs.ErrNotExist): // pruned
		case err != nil:
			t.Fatalf("Load(%q): %v", id, err)
		case whole && s.Seq == model.Seq:
			if got, want := state.AppendJSON(nil, &s), state.AppendJSON(nil, model); !bytes.Equal(got, want) {
				t.Fatalf("Load(%q)\ngot  %s\nwant %s", id, got, want)
			}
		default:
			w.tally.gaps++
		}
		*model = s
	}
	for name, x := range w.told {
		if !x.seen && !x.killed {
			if missing++; missing > w.tally.killed {
				t.Fatalf("event %s of %q, whose hook ended well, is not in the history", name, x.id)
			}
		}
		if x.seen || x.killed {
			x.e = event.Event{} // done with
		}
	}
	if w.tally.gaps > w.tally.killed {
		t.Fatalf("%d gaps in the history, and %d hooks were killed", w.tally.gaps, w.tally.killed)
	}
	if aside, err := w.st.Aside(); err != nil || len(aside) > 0 {
		t.Fatalf("aside: %q, %v", aside, err)
	}
}

// follow folds lines into the model. It reports whether none is missing.
func (w *world) follow(t *rapid.T, id string, model *state.Session, lines []*store.Line) (whole bool) {
	var turns []state.Turn // that the previous change has made, and that must follow
	whole = true
	for _, l := range lines {
		w.tally.lines++
		switch {
		case l.Seq == 1: // it was pruned, and begins anew
			*model, turns = state.Session{}, nil
		case l.Seq <= model.Seq:
			t.Fatalf("history of %q: line %d follows %d", id, l.Seq, model.Seq)
		case l.Seq > model.Seq+1:
			whole, turns = false, nil
		}
		if got := l.Turn; got != nil && whole {
			if len(turns) == 0 {
				t.Fatalf("history of %q: line %d is a turn that nothing made", id, l.Seq)
			}
			if want := jsonenc.Append(nil, &turns[0]); !bytes.Equal(jsonenc.Append(nil, got), want) {
				t.Fatalf("history of %q: line %d is not the turn %s", id, l.Seq, want)
			}
			turns = turns[1:]
		}
		if l.Event != nil {
			w.mark(t, id, l.Event)
		}
		before := *model
		var more []state.Turn
		*model, more = state.ApplyTurns(before, l.Change())
		if l.Turn == nil {
			stats.Of(&before, model, l.Change())
		}
		model.Seq = l.Seq
		turns = append(turns, more...)
	}
	return whole
}

// mark records that the history has e, which must be an event that was sent to this session,
// unchanged and for the first time.
func (w *world) mark(t *rapid.T, id string, e *event.Event) {
	x := w.told[e.PromptID]
	switch {
	case x == nil || x.id != id:
		t.Fatalf("history of %q: event %q was not sent to it", id, e.PromptID)
	case x.seen:
		t.Fatalf("history of %q: event %q is there twice", id, e.PromptID)
	}
	x.seen = true
	want := x.e
	want.At, want.Origin, want.Via = e.At, e.Origin, e.Via
	if got, want := jsonenc.Append(nil, e), jsonenc.Append(nil, &want); !bytes.Equal(got, want) {
		t.Fatalf("history of %q has %s\nwas sent %s", id, got, want)
	}
}

// TestModel runs hook processes concurrently, kills some of them, archives and prunes
// meanwhile, and after every storm compares what readers find with a model in memory.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of processes")
	}
	hook, begin, sum := program(t, "beckon-hook"), time.Now(), &tally{}
	idle := func() bool { return time.Since(begin) > *modelTime }
	rapid.Check(t, func(rt *rapid.T) {
		if idle() {
			return
		}
		dir := t.TempDir()
		w := &world{st: store.Open(filepath.Join(dir, "state")), env: environ(dir), hook: hook, told: map[string]*told{}, sessions: map[string]*state.Session{}, tally: sum, idle: idle}
		w.tail = w.st.Tail()
		for _, id := range worldIDs {
			w.sessions[id] = &state.Session{}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"storm 1": w.storm, "storm 2": w.storm, "storm 3": w.storm, "storm 4": w.storm, "storm 5": w.storm,
			"storm 6": w.storm, "storm 7": w.storm, "storm 8": w.storm, "storm 9": w.storm, // mostly
			"held": seldom(w.held, w.storm), "": w.compare,
		})
		_ = os.RemoveAll(dir)
	})
	t.Logf("%+v", *sum)
	if sum.hooks == 0 || sum.killed == 0 {
		t.Error("nothing was run or killed")
	}
}
