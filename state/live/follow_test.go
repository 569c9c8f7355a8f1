package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"

	"pgregory.net/rapid"
)

// A follower, which reads only what changed, agrees with a reader that reads everything, and
// reports each difference, whatever happens to the files.
func TestFollowerAgreesWithLook(t *testing.T) {
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		d := newDesk(t)
		d.st = store.Open(fmt.Sprintf("%s/%d", dir, run))
		at := event.Millis(0)
		clock := func() time.Time { return (d.now + at).Time() }
		r := d.reader(0)
		r.Clock = clock
		f := NewFollower(r)
		told := map[string]state.Seen{}
		take := func(u Update, err error) {
			if err != nil {
				rt.Fatal(err)
			}
			for _, v := range u.Changed {
				told[v.Session.Record()] = v
			}
			for _, k := range u.Gone {
				delete(told, string(k)) // these ids are their own keys
			}
		}
		take(f.Look())
		ops := map[string]func(){
			"event": func() {
				kinds := []event.Kind{event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest, event.PostToolUse, event.Stop, event.SessionEnd}
				k := rapid.SampledFrom(kinds).Draw(rt, "kind")
				d.hook(k, at, func(e *event.Event) { bash(e); e.SessionID = "s1" })
			},
			"other": func() {
				id := rapid.SampledFrom([]string{"s2", "s3"}).Draw(rt, "id")
				e := event.Event{Agent: "claude-code", Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", SessionID: id, At: d.now + at, Cwd: "/"}
				if _, err := d.st.Fold(store.KeyOf(id), store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
					rt.Fatal(err)
				}
			},
			"registry": func() {
				status := rapid.SampledFrom([]string{"busy", "idle", "waiting"}).Draw(rt, "status")
				d.record(rapid.SampledFrom([]string{"s1", "s9"}).Draw(rt, "session"), status, "", at)
			},
			"no registry": func() { _ = os.Remove(fmt.Sprintf("%s/%d.json", d.registry, d.process.Pid)) },
			"meter": func() {
				if err := d.st.SetMeter("s1", event.Meter{At: d.now + at, Model: fmt.Sprint("m", at)}); err != nil {
					rt.Fatal(err)
				}
			},
			"remove":  func() { d.remove("s2") },
			"archive": func() { at += event.Millis(store.ArchiveAfter.Milliseconds()) },
		}
		names := slices.Sorted(func(yield func(string) bool) {
			for n := range ops {
				if !yield(n) {
					return
				}
			}
		})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			op := rapid.SampledFrom(names).Draw(rt, "op")
			at += event.Millis(rapid.IntRange(1, 3000).Draw(rt, "later"))
			ops[op]()
			if rapid.Bool().Draw(rt, "touched") {
				take(f.update(changes))
			}
			take(f.update(recheck))
			fresh := d.reader(0)
			fresh.Clock = clock
			want, err := fresh.Look(false)
			if err != nil {
				rt.Fatal(err)
			}
			if got := shown(f.Seen()); got != shown(want.Seen) {
				rt.Fatalf("after %s at %d the follower has\n%swant\n%s", op, at, got, shown(want.Seen))
			}
			for _, v := range f.Seen() {
				if was := told[v.Session.Record()]; !reflect.DeepEqual(was.Status, v.Status) || was.Session.Seq != v.Session.Seq || was.Meter != v.Meter {
					rt.Fatalf("after %s of %s was told %+v, now it is %+v", op, v.Session.ID, was.Status, v.Status)
				}
			}
			if len(told) != len(want.Seen) {
				rt.Fatalf("after %s %d sessions were told of, there are %d", op, len(told), len(want.Seen))
			}
		}
	})
}

// remove removes all files of a session, the journal first, since a reader would restore the
// session from it.
func (d *desk) remove(id string) {
	_ = os.Remove(filepath.Join(d.st.Dir, "journal", id+".jsonl"))
	_ = os.Remove(filepath.Join(d.st.SessionsDir(), id+".json"))
}

func shown(seen []state.Seen) string {
	var b strings.Builder
	for _, v := range seen {
		fmt.Fprintf(&b, "%s %+v %+v %+v %q\n", v.Session.Record(), v.Status, v.Evidence, v.Meter, v.Session.Name)
	}
	return b.String()
}

// A follower shows the changes that the system reports, and finds the others, too.
func TestFollowerRuns(t *testing.T) {
	for _, recheck := range []time.Duration{time.Hour, 20 * time.Millisecond} {
		t.Run(recheck.String(), func(t *testing.T) {
			d := newDesk(t)
			f := NewFollower(NewReader(d.st, d.registry))
			f.Recheck = recheck
			if _, err := f.Look(); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(d.st.SessionsDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
			defer stop()
			updates := make(chan Update, 100)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.Run(ctx, func(u Update, err error) { updates <- u })
			}()
			await := func(what string, is func(Update) bool) {
				t.Helper()
				for {
					select {
					case u := <-updates:
						if is(u) {
							return
						}
					case <-ctx.Done():
						t.Fatal("never told of " + what)
					}
				}
			}
			d.hook(event.UserPromptSubmit, 0, nil)
			await("a prompt", func(u Update) bool { return len(u.Changed) == 1 && u.Changed[0].Status.State == state.Working })
			d.remove("s1")
			await("its end", func(u Update) bool { return slices.Equal(u.Gone, []store.Key{"s1"}) })
			if !f.Watching() {
				t.Error("it does not watch")
			}
			stop()
			<-ended
		})
	}
}

// A follower that cannot read the sessions any more does not try without a pause, though the
// state of one has changed with time alone.
func TestFollowerOfLostDirectory(t *testing.T) {
	d := newDesk(t)
	at := event.Millis(0)
	r := d.reader(0)
	r.Clock = func() time.Time { return (d.now + at).Time() }
	f := NewFollower(r)
	d.hook(event.SessionEnd, 0, func(e *event.Event) { e.Reason = "clear" })
	if u, err := f.Look(); err != nil || len(u.Changed) != 1 || f.untilNext() > time.Minute {
		t.Fatalf("%v, %d changed, next in %v", err, len(u.Changed), f.untilNext())
	}
	if err := os.RemoveAll(d.st.SessionsDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.st.SessionsDir(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at += event.Millis(time.Minute.Milliseconds())
	_, err := f.update(recheck)
	if next := f.untilNext(); err == nil || next <= 0 {
		t.Errorf("error %v, next look in %v", err, next)
	}
}
