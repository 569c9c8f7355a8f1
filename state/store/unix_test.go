//go:build !windows

package store

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/event"
)

func setUmask(mask int) (old int) { return syscall.Umask(mask) }

func init() { roles["full"] = fullRole }

// fullRole folds one event while no file can grow beyond LIMIT bytes, so that writes are
// incomplete, as on a full disk. It fails if Fold returns no error. Its arguments: DIR CALL
// LIMIT.
func fullRole(args []string) {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	set(&limit.Cur, number(args[2]))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	_, err := Open(args[0]).Fold("s", folding(tool("s", args[1], t0+1)))
	if !errors.Is(err, syscall.EFBIG) && (err == nil || !strings.Contains(err.Error(), syscall.EFBIG.Error())) {
		must(errors.New("Fold on a full disk: " + errorText(err)))
	}
}

// set sets *p to n; the type is signed on some systems.
func set[T int64 | uint64](p *T, n int) { *p = T(n) }

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// A full disk never leaves half a line or half a file. No event is lost while there is room
// for a spool file.
func TestFullDisk(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit func(journal, session int) int
		fill  int // events folded before
		calls []string
	}{
		{"in the session file", func(_, s int) int { return s - 50 }, 1, []string{"full", "after"}},
		{"everywhere", func(int, int) int { return 50 }, 8, []string{"after"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := Open(t.TempDir())
			want := names("e", tc.fill)
			for i, call := range want {
				fold(t, st, tool("s", call, t0-10+1+event.Millis(i)))
			}
			before := read(t, st.session("s"))
			limit := tc.limit(len(read(t, dayFile(st))), len(before))
			if err := process(t, "full", st.Dir, "full", strconv.Itoa(limit)).Run(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, st.session("s")), before) {
				t.Error("the session file has changed")
			}
			if left := list(t, st, tmpDir); len(left) > 0 {
				t.Errorf("tmp/ holds %q", left)
			}
			parses(t, st)
			fold(t, st, tool("s", "after", t0+2))
			if got, want := calls(t, st, "s"), append(want, tc.calls...); !slices.Equal(got, want) {
				t.Errorf("journal has %q, want %q", got, want)
			}
			clean(t, st)
		})
	}
}

// A directory or a FIFO in the place of one of beckon's files is moved away. No event is lost,
// and a FIFO blocks no process.
func TestSomethingInTheWay(t *testing.T) {
	for what, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		for where, path := range map[string]func(st *Store) string{
			"session": func(st *Store) string { return st.session("s") },
			"archive": func(st *Store) string { return st.archived("s") },
			"lock":    func(st *Store) string { return st.lockFile("s") },
			"tmp":     func(st *Store) string { return st.path(tmpDir, "s.json") },
			"log":     (*Store).LogFile,
		} {
			t.Run(what+" for "+where, func(t *testing.T) {
				st := Open(t.TempDir())
				fold(t, st, tool("s", "a", t0))
				if where == "archive" { // read only if sessions/ has no file
					if err := os.Remove(st.session("s")); err != nil {
						t.Fatal(err)
					}
				}
				p := path(st)
				_ = os.Remove(p)
				if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := make(p); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				s := fold(t, st, tool("s", "b", t0))
				st.Log(errors.New("x"))
				if took := time.Since(begin); took > LockWait/2 {
					t.Errorf("took %v", took)
				}
				want := int64(2)
				if where == "session" || where == "archive" {
					want = 1 // it begins anew
				}
				if s.Seq < 2 || want == 2 && s.Seq > 2 || s.Counts.Tools != want {
					t.Errorf("session is at %d, with %d calls", s.Seq, s.Counts.Tools)
				}
				if want == 2 {
					clean(t, st)
				}
			})
		}
	}
}

// In a read-only state directory every session is still readable. A hook reports that its
// event is lost, and does not claim that it is spooled.
func TestReadOnlyStateDirectory(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	want := fold(t, st, tool("s", "b", t0))
	fold(t, st, tool("bad", "a", t0))
	write(t, st.session("bad"), []byte("garbage"))
	everybody(t, st.Dir)
	readOnly(t, st.Dir)
	unprivileged(func() {
		live, problems, err := st.Live()
		if err != nil || len(problems) != 1 || len(live) != 1 {
			t.Errorf("Live: %d sessions, %v, %v", len(live), problems, err)
		}
		if s, err := st.Load("s"); err != nil || !equal(s, want) {
			t.Errorf("Load: %s, %v", text(s), err)
		}
		_, err = st.Fold("s", folding(tool("s", "c", t0)))
		if err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("Fold: %v", err)
		}
		if _, err := st.Archive("s", t0<<1); err == nil {
			t.Error("Archive: no error")
		}
		if err := st.Prune(stampTime(t0)); err != nil {
			t.Errorf("Prune: %v", err) // nothing is archived, so nothing is due
		}
	})
}

// If the session cannot be written but late/ can, the event waits.
func TestUnwritableSessions(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, tool("s", "a", t0))
	everybody(t, st.Dir)
	if err := os.Chmod(st.SessionsDir(), 0o555); err != nil {
		t.Fatal(err)
	}
	unprivileged(func() {
		if _, err := st.Fold("s", folding(tool("s", "b", t0+1))); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("Fold: %v", err)
		}
	})
	if n := len(st.lateNames("s")); n != 1 {
		t.Fatalf("%d events wait, want 1", n)
	}
	_ = os.Chmod(st.SessionsDir(), 0o700)
	fold(t, st, tool("s", "c", t0+2))
	if got, want := calls(t, st, "s"), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("history has %q, want %q", got, want)
	}
	clean(t, st)
}

// History that cannot be written costs no event.
func TestUnwritableHistory(t *testing.T) {
	st := Open(t.TempDir())
	write(t, filepath.Join(st.Dir, historyDir), nil) // a file in the place of its directory
	fold(t, st, tool("s", "a", t0))
	if s := fold(t, st, tool("s", "b", t0)); s.Counts.Tools != 2 {
		t.Errorf("session has %d calls", s.Counts.Tools)
	}
	if len(read(t, st.LogFile())) == 0 {
		t.Error("nobody is told")
	}
}

// everybody makes a directory and all below it readable and writable for every user, and lets
// them enter its parents.
func everybody(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	setModes(t, dir, 0o666, 0o777)
}

// readOnly removes write permission from a directory and all below it.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	setModes(t, dir, 0o444, 0o555)
	t.Cleanup(func() { setModes(t, dir, 0o600, 0o700) })
}

func setModes(t *testing.T, dir string, file, sub os.FileMode) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, sub)
		}
		return os.Chmod(path, file)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// beckon never writes through a link to another file. It sets the link aside, and no event is
// lost.
func TestLinksAreNotWrittenThrough(t *testing.T) {
	st := Open(t.TempDir())
	first := fold(t, st, tool("s", "a", t0))
	victim := filepath.Join(t.TempDir(), "victim")
	plant := func(path string) {
		t.Helper()
		if err := os.WriteFile(victim, []byte("mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
		if err := os.Symlink(victim, path); err != nil {
			t.Fatal(err)
		}
	}
	intact := func(what string) {
		t.Helper()
		if b, err := os.ReadFile(victim); err != nil || string(b) != "mine\n" {
			t.Errorf("%s: a file elsewhere says %q, %v", what, b, err)
		}
	}
	plant(dayFile(st))
	if s := fold(t, st, tool("s", "b", t0+1)); s.Seq <= first.Seq {
		t.Errorf("the event is lost: %d after %d", s.Seq, first.Seq)
	}
	intact("history")
	if info, err := os.Lstat(dayFile(st)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("no history was begun: %v", err)
	}
	plant(st.lockFile("s"))
	fold(t, st, tool("s", "c", t0+2))
	intact("lock")
	plant(st.session("s"))
	fold(t, st, tool("s", "d", t0+3))
	intact("session file")
	st.Log(errors.New("x"))
	plant(st.LogFile())
	st.Log(errors.New("y"))
	intact("log")
}
