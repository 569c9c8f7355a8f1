package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"

	"github.com/tidwall/gjson"
)

func TestFold(t *testing.T) {
	st := Open(filepath.Join(t.TempDir(), "not", "there", "yet"))
	u := folding(tool("s", "a", t0))
	u.Elapsed = func() int64 { return 321 }
	res, err := st.Fold("s", u)
	if err != nil || !res.New || res.Method != "created" || res.Before.Seq != 0 || res.After.Seq != 1 || res.After.Seat == "" {
		t.Fatalf("first event: %+v, %v", res, err)
	}
	res, err = st.Fold("s", folding(tool("s", "b", t0+1)))
	if err != nil || res.New || res.Method != "" || res.Before.Seq != 1 || res.After.Seq != 2 {
		t.Fatalf("second event: %+v, %v", res, err)
	}
	first := gjson.ParseBytes(bytes.Split(read(t, dayFile(st)), []byte("\n"))[1])
	if first.Get("key").Str != "s" || first.Get("seq").Int() != 1 || first.Get("kind").Str != "event" || first.Get("us").Int() != 321 || first.Get("at").Int() != int64(t0) {
		t.Errorf("first line of history: %s", first)
	}
	if got := load(t, st, "s"); got.Seq != 2 || got.Counts.Tools != 2 {
		t.Errorf("Load: %+v", got)
	}
	clean(t, st)
	for _, dir := range []string{tmpDir, lateDir, asideDir, logDir, archiveDir} {
		if left := list(t, st, dir); len(left) > 0 {
			t.Errorf("%s holds %q", dir, left)
		}
	}
}

// All files are private, even if the umask would allow more: they contain what agents say.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	defer setUmask(setUmask(0))
	st := Open(filepath.Join(t.TempDir(), "state"))
	fold(t, st, tool("s", "a", t0))
	if err := st.postponeFile("s", folding(tool("s", "b", t0)).Change); err != nil {
		t.Fatal(err)
	}
	write(t, st.session("bad"), []byte("garbage"))
	if err := st.setAside(st.session("bad")); err != nil {
		t.Fatal(err)
	}
	archive(t, st, "s")
	if err := st.Prune(stampTime(t0)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(st.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(fileMode)
		if d.IsDir() {
			want = os.FileMode(dirMode)
			seen[d.Name()] = true
		}
		if info.Mode().Perm() != want && !strings.HasSuffix(path, "bad.json") { // bad.json is not ours
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{locksDir, historyDir, archiveDir, tmpDir, asideDir, logDir} {
		if !seen[dir] {
			t.Errorf("%s was not looked at", dir)
		}
	}
}

// Folding continues after the user removes any one directory, or the whole state directory.
func TestDirectoryRemoved(t *testing.T) {
	for _, dir := range []string{sessionsDir, historyDir, locksDir, tmpDir, ""} {
		t.Run("removed "+dir, func(t *testing.T) {
			st := Open(filepath.Join(t.TempDir(), "state"))
			at := &event.Origin{Launcher: "l"}
			first := tool("s", "a", t0)
			first.Origin = at
			fold(t, st, first)
			if err := os.RemoveAll(st.path(dir, "")); err != nil {
				t.Fatal(err)
			}
			second := kind(event.SessionStart, "s", t0+1)
			second.Origin = at
			want := int64(2)
			if dir == "" || dir == sessionsDir {
				want = 1
			}
			if s := fold(t, st, second); s.Seq != want {
				t.Errorf("session is at %d, want %d", s.Seq, want)
			}
			if s := load(t, st, "s"); s.Seq != want {
				t.Errorf("Load: session is at %d, want %d", s.Seq, want)
			}
		})
	}
}

// A session file that cannot be read is set aside and reported once, whoever finds it, and the
// session begins anew.
func TestDamagedSessionFile(t *testing.T) {
	whole := func() []byte {
		st := Open(t.TempDir())
		fold(t, st, tool("s", "a", t0))
		return read(t, st.session("s"))
	}()
	for name, data := range map[string][]byte{
		"garbage":        []byte("garbage"),
		"half":           whole[:len(whole)/2],
		"cut in the sum": whole[:len(whole)-5],
		"zeros":          make([]byte, 4096),
		"no schema":      []byte("{}\n"),
		"another schema": []byte(`{"schema":"one"}`),
		"too large":      bytes.Repeat([]byte("x"), maxFile+maxFile/2),
		"empty":          {},
		"a flipped bit":  bytes.Replace(whole, []byte(`"Bash"`), []byte(`"Basi"`), 1),
	} {
		for _, by := range []string{"writer", "reader"} {
			t.Run(name+" found by a "+by, func(t *testing.T) {
				st := Open(t.TempDir())
				fold(t, st, tool("s", "a", t0))
				write(t, st.session("s"), data)
				if by == "reader" {
					if live, problems, err := st.Live(); len(live) != 0 || len(problems) != 1 || err != nil {
						t.Fatalf("Live: %v, %v, %v", live, problems, err)
					}
					if live, problems, err := st.Live(); len(live)+len(problems) != 0 || err != nil {
						t.Errorf("Live again: %v, %v, %v", live, problems, err)
					}
				}
				if s := fold(t, st, tool("s", "c", t0)); s.Seq <= 1 || s.Counts.Tools != 1 {
					t.Errorf("the session goes on as %s", text(s))
				}
				kept, err := st.Aside()
				if err != nil || len(kept) != 1 || !bytes.Equal(read(t, kept[0]), data) {
					t.Errorf("aside: %q, %v", kept, err)
				}
				if log := read(t, st.LogFile()); bytes.Count(log, []byte("\n")) != 1 {
					t.Errorf("the log says %s", log)
				}
				if err := st.ClearAside(); err != nil || plainfile.Exists(st.path(asideDir, "")) {
					t.Errorf("ClearAside: %v", err)
				}
			})
		}
	}
}

// A session that begins anew has no turn with the number of an earlier one.
func TestTurnsOfADamagedSession(t *testing.T) {
	st := Open(t.TempDir())
	say := func(at event.Millis) {
		fold(t, st, &event.Event{Kind: event.UserPromptSubmit, SessionID: "s", Prompt: "please", At: at})
	}
	say(t0)
	fold(t, st, tool("s", "a", t0+1))
	for i := range 3 {
		write(t, st.session("s"), []byte("garbage"))
		say(t0 + 10 + event.Millis(i))
	}
	seen, n := map[string]bool{}, 0
	err := st.Lines(Select{Kind: "turn"}, func(l *Line) {
		n++
		seen[Turn{l.Key, l.Seq, *l.Turn}.ID()] = true
	})
	if err != nil || n < 4 || len(seen) != n {
		t.Errorf("%d turns have %d names: %v", n, len(seen), err)
	}
}

// Every single flipped bit of a session file is found, or changes nothing that is read.
func TestFlippedBits(t *testing.T) {
	st := Open(t.TempDir())
	want := text(fold(t, st, tool("s", "a", t0)))
	whole := read(t, st.session("s"))
	silent := 0
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			write(t, st.session("s"), b)
			var s state.Session
			if err := readSession(st.session("s"), &s); err == nil {
				if silent++; text(s) != want {
					t.Fatalf("byte %d, bit %d: %s", i, bit, text(s))
				}
			}
		}
	}
	t.Logf("%d flips: %d found, %d in what is not read", 8*len(whole), 8*len(whole)-silent, silent)
	if silent > len(whole) {
		t.Error("too few are found")
	}
}

// A file without a checksum, or with that of another algorithm, is read: a version that does not
// know this one wrote it.
func TestChecksumOfAnotherVersion(t *testing.T) {
	st := Open(t.TempDir())
	s := fold(t, st, tool("s", "a", t0))
	for _, data := range []string{text(s) + "\n", strings.TrimSuffix(text(s), "}") + `,"sum":"2-wrong"}` + "\n"} {
		write(t, st.session("s"), []byte(data))
		if got, err := st.Load("s"); err != nil || !equal(got, s) {
			t.Errorf("%s\nis read as %s, %v", data, text(got), err)
		}
	}
}

// text returns the session, without what the store adds.
func text(s state.Session) string {
	s.Late = ""
	return string(state.AppendJSON(nil, &s))
}

func equal(a, b state.Session) bool { return text(a) == text(b) }

// No call changes the file of a session that a newer version wrote; its events wait for that
// version.
func TestNewerSchema(t *testing.T) {
	newer := []byte(`{"schema":2,"session_id":"s","seq":9,"later":{"a":1}}` + "\n")
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	older := read(t, st.session("s"))
	write(t, st.session("s"), newer)
	if _, err := st.Fold("s", folding(tool("s", "b", t0))); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Fold: %v", err)
	}
	if _, err := st.Load("s"); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Load: %v", err)
	}
	if _, err := st.Archive("s", t0<<1); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Archive: %v", err)
	}
	if live, problems, err := st.Live(); len(live) != 0 || len(problems) != 1 || !errors.Is(problems[0].Err, state.ErrNewerSchema) || err != nil {
		t.Errorf("Live: %v, %v, %v", live, problems, err)
	}
	if !bytes.Equal(read(t, st.session("s")), newer) {
		t.Error("the file was touched")
	}
	if len(st.lateNames("s")) != 1 || len(list(t, st, asideDir)) != 0 {
		t.Errorf("late: %q", st.lateNames("s"))
	}
	write(t, st.session("s"), older) // for want of a newer version
	if live, _, err := st.Live(); err != nil || len(live) != 1 || live[0].Counts.Tools != 2 {
		t.Errorf("what waited is not taken: %+v, %v", live, err)
	}
	clean(t, st)
}

// The longest event that a payload can contain still makes a journal line that can be read.
func TestLongestEvent(t *testing.T) {
	st := Open(t.TempDir())
	worst := func(n int) string { return strings.Repeat("\x01", n) }
	e := kind(event.Stop, "s", t0)
	e.TranscriptPath, e.Cwd, e.Message, e.Details = worst(event.MaxPath), worst(event.MaxPath), worst(event.MaxMessage), worst(event.MaxText)
	e.HasBackground = true
	for range event.MaxTasks {
		e.Background = append(e.Background, event.Task{ID: worst(event.MaxID), Type: worst(event.MaxID), Status: worst(event.MaxID), Description: worst(event.MaxText)})
	}
	fold(t, st, e)
	fold(t, st, tool("s", "a", t0+1))
	if info, err := os.Stat(st.session("s")); err != nil || info.Size() > 64<<10 {
		t.Errorf("session file: %v, %v", info.Size(), err)
	}
	if s := load(t, st, "s"); s.Seq != 3 || s.Stop.At != t0 { // the turn takes a line too
		t.Errorf("the session is at %d", s.Seq)
	}
	n := 0
	if err := st.Lines(Select{Key: "s"}, func(*Line) { n++ }); err != nil || n != 3 {
		t.Errorf("history has %d lines, %v", n, err)
	}
	clean(t, st)
}

// Reading a session that never existed creates no files.
func TestReadingCreatesNothing(t *testing.T) {
	st := Open(filepath.Join(t.TempDir(), "state"))
	ask := func() {
		if _, err := st.Load("nobody"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load: %v", err)
		}
		if moved, err := st.Archive("nobody", t0); moved || err != nil {
			t.Errorf("Archive: %v, %v", moved, err)
		}
		if err := st.Lines(Select{Key: "nobody"}, func(*Line) {}); err != nil {
			t.Errorf("Lines: %v", err)
		}
		if _, _, err := st.Live(); err != nil {
			t.Errorf("Live: %v", err)
		}
		if _, _, err := archivedOf(st); err != nil {
			t.Errorf("Archived: %v", err)
		}
		if err := st.Prune(stampTime(t0)); err != nil {
			t.Errorf("Prune: %v", err)
		}
	}
	ask()
	if plainfile.Exists(st.Dir) {
		t.Errorf("%s was made", st.Dir)
	}
	fold(t, st, tool("somebody", "a", t0))
	ask()
	err := filepath.WalkDir(st.Dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, "nobody") {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An event that waits is folded once, even if its file is still there after the session's file
// was written: the process was killed between the two, or could not remove the file.
func TestLateEventFoldedThenKilled(t *testing.T) {
	st := Open(t.TempDir())
	wait := func(call string, at event.Millis) {
		t.Helper()
		if err := st.postponeFile("s", folding(tool("s", call, at)).Change); err != nil {
			t.Fatal(err)
		}
	}
	fold(t, st, tool("s", "a", t0))
	wait("waited", t0+1)
	name := st.lateNames("s")[0]
	file := read(t, st.latePath("s", name))
	fold(t, st, tool("s", "b", t0+2))
	write(t, st.latePath("s", name), file) // as if it had not been removed
	if s := load(t, st, "s"); s.Counts.Tools != 3 {
		t.Errorf("a reader sees %d calls", s.Counts.Tools)
	}
	write(t, st.latePath("s", name), file)
	wait("earlier", t0)
	fold(t, st, tool("s", "c", t0+3))
	fold(t, st, tool("s", "d", t0+4))
	if got, want := calls(t, st, "s"), []string{"a", "waited", "b", "earlier", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("history has %q, want %q", got, want)
	}
	if left := list(t, st, lateDir); len(left) > 0 {
		t.Errorf("late/ holds %q", left)
	}
	if bytes.Contains(read(t, st.session("s")), []byte(`"late":`)) {
		t.Error("the session still names what is gone")
	}
	clean(t, st)
}

// Files in late/ that are not beckon's events are set aside once, and slow no later hook.
func TestStrangeLateFiles(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	later := `{"seq":1,"at":5,"kind":"later","later":{}}` + "\n"
	for name, data := range map[string]string{
		"1-1-a.json":   "garbage",
		"2-1-a.json":   "",
		"3-1-a.json":   later,
		"4-1-a.json":   strings.Repeat("x", maxLine+1),
		"5-1-a.json/x": "in a directory",
		strconv.FormatInt(int64(t0), 10) + "-1-x.json": string(appendLine(nil, &Line{Seq: 1, At: t0, Kind: "event", Event: tool("s", "good", t0)})),
	} {
		write(t, st.latePath("s", name), []byte(data))
	}
	write(t, st.path(lateDir, "no key.json"), []byte("x"))
	if _, _, err := st.Live(); err != nil {
		t.Fatal(err)
	}
	fold(t, st, tool("s", "b", t0))
	if got, want := calls(t, st, "s"), []string{"a", "good", "b"}; !slices.Equal(got, want) {
		t.Errorf("history has %q, want %q", got, want)
	}
	if left, want := st.lateNames("s"), []string{"3-1-a.json"}; !slices.Equal(left, want) {
		t.Errorf("late/s holds %q, want %q", left, want)
	}
	if n := len(list(t, st, asideDir)); n != 4 {
		t.Errorf("%d files are aside, want 4", n)
	}
	clean(t, st)
}

// What waits in the spool of an earlier release is taken.
func TestSpoolOfAnEarlierRelease(t *testing.T) {
	st := Open(t.TempDir())
	line := `{"seq":1,"at":1750000000000,"kind":"event","us":0,"event":{"agent":"claude-code","kind":"SessionStart","name":"SessionStart","at":1750000000000,"session_id":"s"}}` + "\n"
	write(t, st.path("spool", "s.1750000000000-1-x.json"), []byte(line))
	write(t, st.path("spool", "t.1750000000000-1-x.json"), nil) // as after a power cut
	if live, _, err := st.Live(); err != nil || len(live) != 1 || live[0].Counts.Events != 1 {
		t.Errorf("Live: %+v, %v", live, err)
	}
	if kept, _ := st.Aside(); len(kept) != 1 || plainfile.Exists(st.path("spool", "")) || plainfile.Exists(st.path(lateDir, "s")) || plainfile.Exists(st.path(lateDir, "t")) {
		t.Errorf("aside: %q", kept)
	}
}

// An event can be left to wait while other processes keep removing the empty directory.
func TestLateDirectoryRemovedMeanwhile(t *testing.T) {
	st := Open(t.TempDir())
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Remove(st.path(lateDir, "s"))
				_ = os.Remove(st.path(lateDir, ""))
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	for i := range 300 {
		if err := st.postponeFile("s", folding(tool("s", strconv.Itoa(i), t0)).Change); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		if i%3 == 0 {
			if err := st.TakeLate(); err != nil {
				t.Errorf("drain %d: %v", i, err)
			}
		}
	}
	close(stop)
	<-done
	if err := st.TakeLate(); err != nil {
		t.Fatal(err)
	}
	if n := len(calls(t, st, "s")); n != 300 {
		t.Errorf("%d events, want 300", n)
	}
	clean(t, st)
}

// A writer that is killed before its event has a file leaves an empty directory: the next hook
// removes it.
func TestEmptyLateDirectory(t *testing.T) {
	st := Open(t.TempDir())
	if err := os.MkdirAll(st.path(lateDir, "s"), dirMode); err != nil {
		t.Fatal(err)
	}
	fold(t, st, tool("s", "a", t0))
	if left := list(t, st, lateDir); len(left) > 0 {
		t.Errorf("late holds %q", left)
	}
}

func TestDir(t *testing.T) {
	abs := t.TempDir()
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"BECKON_STATE_DIR": abs, "XDG_STATE_HOME": "/x", "HOME": "/h"}, abs},
		{map[string]string{"BECKON_STATE_DIR": "relative", "XDG_STATE_HOME": abs, "HOME": "/h"}, filepath.Join(abs, "beckon")},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": abs}, filepath.Join(abs, ".local", "state", "beckon")},
		{map[string]string{"HOME": "relative"}, ""},
		{nil, ""},
	} {
		got, err := Dir(func(k string) string { return tc.env[k] })
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("Dir(%v) = %q, %v, want %q", tc.env, got, err, tc.want)
		}
	}
}

func TestLog(t *testing.T) {
	st := Open(filepath.Join(t.TempDir(), "state"))
	st.Log(errors.New("one \"quoted\"\nerror"))
	line := read(t, st.LogFile())
	if !gjson.ValidBytes(line) || gjson.GetBytes(line, "error").Str != "one \"quoted\"\nerror" || gjson.GetBytes(line, "level").Str != "error" {
		t.Errorf("log line %q", line)
	}
	write(t, st.LogFile(), make([]byte, maxLog+1))
	st.Log(errors.New("two"))
	if n := len(list(t, st, logDir)); n != 2 || len(read(t, st.LogFile())) > 200 {
		t.Errorf("log/ has %d files", n)
	}
}
