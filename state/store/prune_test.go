package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"
)

func stampTime(m event.Millis) time.Time { return m.Time() }

const after = event.Millis(ArchiveAfter / time.Millisecond)

// archive ends a session and archives it.
func archive(t testing.TB, st *Store, id string) {
	t.Helper()
	end := load(t, st, id).Updated + 1
	fold(t, st, kind(event.SessionEnd, id, end))
	if moved, err := st.Archive(KeyOf(id), end+after); !moved || err != nil {
		t.Fatalf("Archive: %v, %v", moved, err)
	}
}

// where returns the directories that contain a session's file.
func where(st *Store, id string) (dirs []string) {
	for _, dir := range []string{sessionsDir, archiveDir} {
		if plainfile.Exists(st.path(dir, string(KeyOf(id))+".json")) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func at(t testing.TB, st *Store, id string, want ...string) {
	t.Helper()
	if got := where(st, id); !slices.Equal(got, want) {
		t.Errorf("session %s is in %q, want %q", id, got, want)
	}
}

func TestArchive(t *testing.T) {
	for name, over := range map[string]state.Change{
		"ended":   {At: t0 + 100, Event: kind(event.SessionEnd, "s", t0+100)},
		"lost":    {At: t0 + 100, Observation: &state.Observed{Source: state.FromProcess, What: state.SawGone, At: t0 + 100}},
		"removed": {At: t0 + 100, Action: &state.Action{Kind: state.ActRemove}},
	} {
		t.Run(name, func(t *testing.T) {
			st := aSession(t, 2)
			if moved, err := st.Archive("s", t0+100*after); moved || err != nil {
				t.Errorf("a session that is not over is archived: %v, %v", moved, err)
			}
			if _, err := st.Fold("s", Update{Change: over}); err != nil {
				t.Fatal(err)
			}
			if moved, err := st.Archive("s", t0+100+after-1); moved || err != nil {
				t.Errorf("archived before its time: %v, %v", moved, err)
			}
			at(t, st, "s", sessionsDir)
			before := load(t, st, "s")
			if moved, err := st.Archive("s", t0+100+after); !moved || err != nil {
				t.Errorf("Archive: %v, %v", moved, err)
			}
			at(t, st, "s", archiveDir)
			if moved, err := st.Archive("s", t0+100+after); moved || err != nil {
				t.Errorf("archived twice: %v, %v", moved, err)
			}
			if s := load(t, st, "s"); !equal(s, before) {
				t.Errorf("archived: %s", text(s))
			}
			live, _, _ := st.Live()
			old, problems, err := archivedOf(st)
			if len(live) != 0 || len(old) != 1 || len(problems) != 0 || err != nil {
				t.Errorf("%d live, %d archived, %v, %v", len(live), len(old), problems, err)
			}
			clean(t, st)
		})
	}
}

// A late event does not bring an ended session back, but a resume does.
func TestLateEventAndResumeOfArchivedSession(t *testing.T) {
	st := aSession(t, 2)
	archive(t, st, "s")
	end := load(t, st, "s").End.At
	s := fold(t, st, tool("s", "late", end+5))
	if s.End.At != end || s.Counts.Tools != 3 {
		t.Errorf("after a late event: %s", text(s))
	}
	at(t, st, "s", archiveDir)
	clean(t, st)
	resume := kind(event.SessionStart, "s", end+1000)
	resume.Source = "resume"
	if s := fold(t, st, resume); s.End.At != 0 || s.Seat == "" || s.Counts.Tools != 3 {
		t.Errorf("after the resume: %s", text(s))
	}
	at(t, st, "s", sessionsDir)
	clean(t, st)
	archive(t, st, "s")
	at(t, st, "s", archiveDir)
	clean(t, st)
}

// A late event that comes through the spool does not bring an archived session back.
func TestLateEventSpooledForArchivedSession(t *testing.T) {
	st := aSession(t, 1)
	archive(t, st, "s")
	e := tool("s", "late", load(t, st, "s").End.At+5)
	if err := st.postponeFile("s", folding(e).Change); err != nil {
		t.Fatal(err)
	}
	if live, _, err := st.Live(); len(live) != 0 || err != nil {
		t.Errorf("%d live sessions, %v", len(live), err)
	}
	at(t, st, "s", archiveDir)
	if s := load(t, st, "s"); s.Counts.Tools != 2 || s.End.At == 0 {
		t.Errorf("after the late event: %s", text(s))
	}
	clean(t, st)
}

// A session whose first known event is its end is shown, and archived when its time comes.
func TestSessionThatBeginsWithItsEnd(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, kind(event.SessionEnd, "s", t0))
	at(t, st, "s", sessionsDir)
	if moved, err := st.Archive("s", t0+after); !moved || err != nil {
		t.Errorf("Archive: %v, %v", moved, err)
	}
	clean(t, st)
}

// A resume that is killed after it wrote the file in sessions/ leaves the old file in
// archive/. Then all readers use only the live file.
func TestSessionInBothDirectories(t *testing.T) {
	st := aSession(t, 1)
	archive(t, st, "s")
	old := read(t, st.archived("s"))
	want := fold(t, st, kind(event.SessionStart, "s", t0+100))
	write(t, st.archived("s"), old)
	live, _, _ := st.Live()
	archived, _, _ := archivedOf(st)
	if len(live) != 1 || len(archived) != 0 || !equal(live[0], want) {
		t.Errorf("%d live, %d archived", len(live), len(archived))
	}
	clean(t, st)
	if s := fold(t, st, tool("s", "b", t0+101)); s.End.At != 0 || s.Counts.Tools != 2 {
		t.Errorf("goes on as %s", text(s))
	}
	archive(t, st, "s")
	at(t, st, "s", archiveDir)
	clean(t, st)
}

// age sets the modification time of files to then.
func age(t *testing.T, then time.Time, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrune(t *testing.T) {
	now := stampTime(t0)
	st := Open(t.TempDir())
	sit := func(id string) {
		e := tool(id, "c", t0)
		e.Origin = &event.Origin{Launcher: id}
		fold(t, st, e)
		write(t, st.path(meterDir, id+".json"), []byte("{}\n"))
	}
	long := now.Add(-500 * 24 * time.Hour)
	for _, id := range []string{"live", "young", "old", "ancient", "resumed"} {
		sit(id)
	}
	for _, id := range []string{"young", "old", "ancient", "resumed"} {
		archive(t, st, id)
	}
	fold(t, st, kind(event.SessionStart, "resumed", t0+100))
	write(t, st.path(tmpDir, "killed.json"), []byte("half"))
	write(t, st.path(tmpDir, "young.json"), []byte("half"))
	write(t, st.path(asideDir, "x.json"), []byte("x"))
	write(t, st.path(historyDir, "2023-06-01.jsonl"), []byte("x"))
	write(t, st.path(historyDir, "2023-06-01.1.jsonl"), []byte("x"))
	all := func(id string) []string {
		return []string{st.lockFile(KeyOf(id)), st.path(meterDir, id+".json")}
	}
	for _, id := range []string{"young", "old", "ancient", "resumed", "live"} {
		age(t, now.Add(-300*24*time.Hour), all(id)...)
	}
	age(t, now.Add(-13*24*time.Hour), st.archived("young"))
	age(t, now.Add(-15*24*time.Hour), st.archived("old"), st.archived("ancient"))
	age(t, long, st.session("live"), st.session("resumed"), st.path(tmpDir, "killed.json"), st.path(asideDir, "x.json"))
	age(t, now.Add(-time.Hour), st.path(tmpDir, "young.json"))
	if err := st.Prune(now); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		// A live session keeps everything, however long it is silent.
		st.session("live"): true, st.lockFile("live"): true, st.path(meterDir, "live.json"): true,
		st.session("resumed"): true,
		// So does a recently archived one.
		st.archived("young"): true, st.lockFile("young"): true, st.path(meterDir, "young.json"): true,
		// An old session keeps only its history.
		dayFile(st): true, st.path(historyDir, "2023-06-01.jsonl"): false, st.path(historyDir, "2023-06-01.1.jsonl"): false,
		st.archived("old"): false, st.lockFile("old"): false, st.path(meterDir, "old.json"): false,
		st.archived("ancient"): false, st.lockFile("ancient"): false,
		st.path(tmpDir, "killed.json"): false, st.path(tmpDir, "young.json"): true, st.path(asideDir, "x.json"): false,
	} {
		if plainfile.Exists(path) != want {
			t.Errorf("%s is there: %v, want %v", path, !want, want)
		}
	}
	clean(t, st)
}

// Any reader prunes, at most once a day. A time stamp from the future comes from a wrong clock
// and does not prevent it.
func TestPruneWhenDue(t *testing.T) {
	st := Open(t.TempDir())
	now := stampTime(t0)
	fold(t, st, tool("s", "c", t0))
	if err := st.Prune(now); err != nil || plainfile.Exists(st.path(archiveDir, "")) {
		t.Fatalf("nothing was archived, but: %v", err)
	}
	archive(t, st, "s")
	leftover := st.path(tmpDir, "killed.json")
	for _, step := range []struct {
		name string
		at   time.Time
		want bool
	}{
		{"first", now, true},
		{"an hour later", now.Add(time.Hour), false},
		{"a day later", now.Add(24 * time.Hour), true},
		{"the clock goes back a little", now.Add(20 * time.Hour), false},
		{"the clock goes back a year", now.Add(-365 * 24 * time.Hour), true},
	} {
		write(t, leftover, nil)
		age(t, now.Add(-1000*24*time.Hour), leftover)
		if err := st.Prune(step.at); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if plainfile.Exists(leftover) == step.want {
			t.Errorf("%s: pruned %v, want %v", step.name, !step.want, step.want)
		}
	}
}

// A session that was listed as old may come back, and end again, before it is locked; then it
// is not pruned.
func TestPruneLooksAgain(t *testing.T) {
	st := aSession(t, 1)
	archive(t, st, "s")
	before := time.Now().Add(-time.Hour)
	if err := st.pruneSession(st.archived("s"), "s", before); err != nil {
		t.Fatal(err)
	}
	if !plainfile.Exists(st.archived("s")) || !plainfile.Exists(st.lockFile("s")) {
		t.Error("young files were pruned")
	}
}

// Files of a session that another process holds are left for the next time.
func TestPruneLeavesWhatIsHeld(t *testing.T) {
	st := aSession(t, 1)
	archive(t, st, "s")
	now := stampTime(t0).Add(1000 * 24 * time.Hour)
	age(t, stampTime(t0), st.archived("s"), st.lockFile("s"))
	l, err := st.lock("s", noWait)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Prune(now); err != nil {
		t.Fatal(err)
	}
	if !plainfile.Exists(st.archived("s")) || !plainfile.Exists(st.lockFile("s")) {
		t.Error("files of a held session are gone")
	}
	l.Close()
	if err := st.Prune(now.Add(pruneEvery)); err != nil {
		t.Fatal(err)
	}
	if plainfile.Exists(st.archived("s")) || plainfile.Exists(st.lockFile("s")) {
		t.Error("files of a session long gone are there")
	}
}

// /clear keeps the row of a session that has lived longer than index entries are kept.
func TestSeatOfLongLivedSession(t *testing.T) {
	st := Open(t.TempDir())
	p := event.Process{Host: "h", Boot: "b", Pid: 7, Start: "1"}
	begin := func(id string, at event.Millis) state.Session {
		e := kind(event.SessionStart, id, at)
		e.Origin = &event.Origin{Host: "h", Process: p}
		return fold(t, st, e)
	}
	first := begin("a", t0)
	fold(t, st, tool("other", "c", t0))
	archive(t, st, "other")
	if err := st.Prune(stampTime(t0).Add(30 * 24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if second := begin("b", t0+1000); second.Seat != first.Seat {
		t.Errorf("after /clear the row is %s, was %s", second.Seat, first.Seat)
	}
}

// An agent's question is removed, even if a process was killed before it closed the offer.
func TestPruneOffers(t *testing.T) {
	st, now := Open(t.TempDir()), time.Now()
	payload := func(part, id string) string { return filepath.Join(st.Dir, "offers", part, id, "payload.json") }
	for _, dir := range []string{filepath.Join(st.Dir, archiveDir), filepath.Dir(payload("open", "old")), filepath.Dir(payload("done", "old")), filepath.Dir(payload("open", "new"))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(dir) == "old" {
			if err := os.WriteFile(filepath.Join(dir, "payload.json"), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(dir, now.Add(-keepRequests-time.Hour), now.Add(-keepRequests-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := st.Prune(now); err != nil {
		t.Fatal(err)
	}
	if plainfile.Exists(payload("open", "old")) || plainfile.Exists(payload("done", "old")) || !plainfile.Exists(filepath.Dir(payload("open", "new"))) {
		t.Error("pruned the wrong one")
	}
}
