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
	first := gjson.ParseBytes(bytes.SplitN(read(t, st.journal("s")), []byte("\n"), 2)[0])
	if first.Get("seq").Int() != 1 || first.Get("kind").Str != "event" || first.Get("us").Int() != 321 || first.Get("at").Int() != int64(t0) {
		t.Errorf("first journal line: %s", first)
	}
	if got := load(t, st, "s"); got.Seq != 2 || got.Counts.Tools != 2 {
		t.Errorf("Load: %+v", got)
	}
	clean(t, st)
	for _, dir := range []string{tmpDir, spoolDir, quarantineDir, logDir, archiveDir} {
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
	if err := st.spool("s", folding(tool("s", "b", t0)).Change); err != nil {
		t.Fatal(err)
	}
	write(t, st.session("bad"), []byte("garbage"))
	if err := st.quarantine(st.session("bad")); err != nil {
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
	for _, dir := range []string{locksDir, journalDir, archiveDir, seatsDir, tmpDir, quarantineDir, logDir} {
		if !seen[dir] && dir != seatsDir {
			t.Errorf("%s was not looked at", dir)
		}
	}
}

// Folding continues after the user removes any one directory, or the whole state directory.
func TestDirectoryRemoved(t *testing.T) {
	for _, dir := range []string{sessionsDir, journalDir, locksDir, tmpDir, seatsDir, ""} {
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
			if dir == "" {
				want = 1
			}
			if s := fold(t, st, second); s.Seq != want {
				t.Errorf("session is at %d, want %d", s.Seq, want)
			}
			if s := load(t, st, "s"); s.Seq != want {
				t.Errorf("Load: session is at %d, want %d", s.Seq, want)
			}
			clean(t, st)
		})
	}
}

// A session file that does not parse is quarantined and rebuilt from the journal.
func TestCorruptSessionFile(t *testing.T) {
	for name, data := range map[string][]byte{
		"garbage":         []byte("garbage"),
		"half":            []byte(`{"schema":1,"session_id":"s","seq":2`),
		"zeros":           make([]byte, 4096),
		"no schema":       []byte("{}\n"),
		"another schema":  []byte(`{"schema":"one"}`),
		"too large":       bytes.Repeat([]byte("x"), maxFile+maxFile/2),
		"empty":           {},
		"negative offset": []byte(`{"schema":1,"session_id":"s","seq":1,"offset":-5}` + "\n"),
		"wrong offset":    []byte(`{"schema":1,"session_id":"s","seq":1,"offset":7}` + "\n"),
		"nothing read":    []byte(`{"schema":1,"session_id":"s","seq":1}` + "\n"),
	} {
		for _, by := range []string{"writer", "reader", "fsck"} {
			t.Run(name+" found by a "+by, func(t *testing.T) {
				st := Open(t.TempDir())
				fold(t, st, tool("s", "a", t0))
				want := fold(t, st, tool("s", "b", t0))
				write(t, st.session("s"), data)
				switch by {
				case "writer":
					want = fold(t, st, tool("s", "c", t0))
					if want.Counts.Tools != 3 {
						t.Errorf("session has %d tools, want 3", want.Counts.Tools)
					}
				case "reader":
					if live, problems, err := st.Live(); len(live) != 1 || len(problems) > 0 || err != nil {
						t.Fatalf("Live: %v, %v, %v", live, problems, err)
					}
				case "fsck":
					findings, err := st.Check(true, nil)
					if err != nil || len(findings) != 1 || !findings[0].Mended {
						t.Errorf("Check: %v, %v", findings, err)
					}
				}
				if got := load(t, st, "s"); !equal(got, want) {
					t.Errorf("got  %s\nwant %s", text(got), text(want))
				}
				clean(t, st)
				kept := list(t, st, quarantineDir)
				if _, err := state.DecodeJSON(data); errors.Is(err, state.ErrNotSession) && len(data) > 0 {
					if len(kept) != 1 || !bytes.Equal(read(t, st.path(quarantineDir, kept[0])), data) {
						t.Errorf("in quarantine: %q", kept)
					}
				} else if len(kept) != 0 {
					t.Errorf("in quarantine: %q", kept)
				}
			})
		}
	}
}

func text(s state.Session) string       { return string(state.AppendJSON(nil, &s)) }
func equal(a, b state.Session) bool     { return text(a) == text(b) }
func sansOffset(s state.Session) string { s.Offset = 0; return text(s) }

// No call changes the file of a session that a newer version wrote.
func TestNewerSchema(t *testing.T) {
	newer := []byte(`{"schema":2,"session_id":"s","seq":9,"offset":100,"later":{"a":1}}` + "\n")
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	journal := read(t, st.journal("s"))
	write(t, st.session("s"), newer)
	if _, err := st.Fold("s", folding(tool("s", "b", t0))); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Fold: %v", err)
	}
	if _, err := st.Load("s"); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Load: %v", err)
	}
	if err := st.Heal("s"); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Heal: %v", err)
	}
	if _, err := st.Archive("s", t0<<1); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Archive: %v", err)
	}
	if findings, err := st.Check(true, nil); err != nil || len(findings) != 1 || findings[0].Mended {
		t.Errorf("Check: %v, %v", findings, err)
	}
	if live, problems, err := st.Live(); len(live) != 0 || len(problems) != 1 || !errors.Is(problems[0].Err, state.ErrNewerSchema) || err != nil {
		t.Errorf("Live: %v, %v, %v", live, problems, err)
	}
	if !bytes.Equal(read(t, st.session("s")), newer) || !bytes.Equal(read(t, st.journal("s")), journal) {
		t.Error("a file was touched")
	}
	if n := len(list(t, st, spoolDir)) + len(list(t, st, quarantineDir)); n != 0 {
		t.Errorf("%d new files", n)
	}
}

// A journal that begins with a newer version's snapshot cannot be folded: the lines after the
// snapshot are not the whole session.
func TestNewerSnapshot(t *testing.T) {
	st := Open(t.TempDir())
	journal := `{"seq":5,"at":1,"kind":"snapshot","us":0,"snapshot":{"schema":2,"seq":5}}` + "\n" +
		`{"seq":6,"at":2,"kind":"event","us":0,"event":{"kind":"Stop","at":2,"session_id":"s"}}` + "\n"
	write(t, st.journal("s"), []byte(journal))
	if _, err := st.Fold("s", folding(tool("s", "b", t0))); !errors.Is(err, state.ErrNewerSchema) {
		t.Errorf("Fold: %v", err)
	}
	if got := read(t, st.journal("s")); string(got) != journal {
		t.Errorf("journal is now %q", got)
	}
	if exists(st.session("s")) {
		t.Error("a session file was made")
	}
}

// Invalid UTF-8 is written as U+FFFD. The written event must be folded; otherwise the
// session's file differs from its journal.
func TestTextThatIsNotUTF8(t *testing.T) {
	st := Open(t.TempDir())
	e := kind(event.UserPromptSubmit, "s", t0)
	e.Prompt, e.Cwd = "caf\xe9", "/tmp/caf\xe9"
	e.Origin = &event.Origin{Project: "\xff\xfe", Terminal: event.Terminal{Kind: "tmux", ID: "\xff"}}
	before := *e
	s := fold(t, st, e)
	if s.Cwd != "/tmp/caf\ufffd" || s.Origin.Project != "\ufffd\ufffd" {
		t.Errorf("session has cwd %q, project %q", s.Cwd, s.Origin.Project)
	}
	e = &before
	e.Via = "plugin" // a copy from a second install is the same event (CASE 24)
	if s := fold(t, st, e); s.Counts.Events != 1 {
		t.Errorf("%d events, want 1", s.Counts.Events)
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
	if err := os.Remove(st.session("s")); err != nil {
		t.Fatal(err)
	}
	if s := load(t, st, "s"); s.Seq != 3 || s.Stop.At != t0 { // the turn takes a line too
		t.Errorf("made again from the journal, the session is at %d", s.Seq)
	}
	clean(t, st)
}

// An update that is empty, or whose line would be too long to be read, is refused and leaves
// no file and no line.
func TestUpdateRefused(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	huge := kind(event.Stop, "s", t0)
	huge.Message = strings.Repeat("x", maxLine)
	for name, c := range map[string]state.Change{"empty": {At: t0}, "huge": {At: t0, Event: huge}} {
		if _, err := st.Fold("s", Update{Change: c}); err == nil {
			t.Errorf("%s: folded", name)
		}
	}
	if n := len(list(t, st, spoolDir)); n != 0 {
		t.Errorf("spool/ has %d files", n)
	}
	if s := load(t, st, "s"); s.Seq != 1 {
		t.Errorf("session is at %d", s.Seq)
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
		if err := st.Heal("nobody"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Heal: %v", err)
		}
		if moved, err := st.Archive("nobody", t0); moved || err != nil {
			t.Errorf("Archive: %v, %v", moved, err)
		}
		if err := st.Lines("nobody", 0, func(Line) {}); err != nil {
			t.Errorf("Lines: %v", err)
		}
		if _, _, err := st.Live(); err != nil {
			t.Errorf("Live: %v", err)
		}
		if _, _, err := all(st.ListArchived()); err != nil {
			t.Errorf("Archived: %v", err)
		}
		if findings, err := st.Check(true, nil); err != nil || len(findings) > 0 {
			t.Errorf("Check: %v, %v", findings, err)
		}
		if err := st.Prune(stampTime(t0)); err != nil {
			t.Errorf("Prune: %v", err)
		}
	}
	ask()
	if exists(st.Dir) {
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

// A spooled event is folded once, even if its file is still there after its journal line is
// written: the process was killed between the two, or could not remove the file.
func TestSpoolFoldedThenKilled(t *testing.T) {
	for _, tc := range []struct {
		name    string
		segment int64
		want    []string
	}{
		{"same journal", 4 << 20, []string{"a", "spooled", "b", "earlier", "c"}},
		{"rotated since", 1, []string{"a", "spooled", "b", "earlier", "c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			setSegment(t, tc.segment)
			st := Open(t.TempDir())
			spool := func(call string, at event.Millis) {
				t.Helper()
				if err := st.spool("s", folding(tool("s", call, at)).Change); err != nil {
					t.Fatal(err)
				}
			}
			fold(t, st, tool("s", "a", t0))
			spool("spooled", t0+1)
			name := list(t, st, spoolDir)[0]
			file := read(t, st.path(spoolDir, name))
			fold(t, st, tool("s", "b", t0+2))
			write(t, st.path(spoolDir, name), file) // as if it had not been removed
			spool("earlier", t0)                    // drained first, and may rotate
			fold(t, st, tool("s", "c", t0+3))
			if got := calls(t, st, "s"); !slices.Equal(got, tc.want) {
				t.Errorf("journal has %q, want %q", got, tc.want)
			}
			if exists(st.path(spoolDir, "")) {
				t.Errorf("spool/ holds %q", list(t, st, spoolDir))
			}
			clean(t, st)
		})
	}
}

// Files in spool/ that are not beckon's events do no harm.
func TestStrangeSpoolFiles(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	good := "s." + strconv.FormatInt(int64(t0), 10) + "-1-x.json"
	later := `{"seq":1,"at":5,"kind":"later","us":0,"later":{}}` + "\n"
	for name, data := range map[string]string{
		"s.1-1-a.json":   "garbage",
		"s.2-1-a.json":   "",
		"s.3-1-a.json":   later,
		"s.4-1-a.json":   strings.Repeat("x", maxLine+1),
		"s.5-1-a.json/x": "in a directory",
		good:             string(appendLine(nil, Line{Change: state.Change{Seq: 1, At: t0, Event: tool("s", "good", t0)}})),
		"other.txt":      "x",
		".hidden":        "x",
		"..json":         "x",
	} {
		write(t, st.path(spoolDir, name), []byte(data))
	}
	if _, _, err := st.Live(); err != nil {
		t.Fatal(err)
	}
	fold(t, st, tool("s", "b", t0))
	if got, want := calls(t, st, "s"), []string{"a", "good", "b"}; !slices.Equal(got, want) {
		t.Errorf("journal has %q, want %q", got, want)
	}
	left := list(t, st, spoolDir)
	if want := []string{"..json", ".hidden", "other.txt", "s.2-1-a.json", "s.3-1-a.json"}; !slices.Equal(sorted(left), want) {
		t.Errorf("spool/ holds %q, want %q", left, want)
	}
	if n := len(list(t, st, quarantineDir)); n != 3 {
		t.Errorf("%d files in quarantine, want 3", n)
	}
	clean(t, st)
}

// An event can be spooled while other processes keep removing the empty spool directory.
func TestSpoolDirectoryRemovedMeanwhile(t *testing.T) {
	st := Open(t.TempDir())
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Remove(st.path(spoolDir, ""))
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	for i := range 300 {
		if err := st.spool("s", folding(tool("s", strconv.Itoa(i), t0)).Change); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		if i%3 == 0 {
			if err := st.DrainSpool(); err != nil {
				t.Errorf("drain %d: %v", i, err)
			}
		}
	}
	close(stop)
	<-done
	if err := st.DrainSpool(); err != nil {
		t.Fatal(err)
	}
	if n := len(calls(t, st, "s")); n != 300 {
		t.Errorf("%d events, want 300", n)
	}
	clean(t, st)
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
