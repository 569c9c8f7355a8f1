package store

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
	"beckon/state"
)

// views returns all ways to read the live sessions.
func views(st *Store) map[string]func() ([]state.Session, error) {
	return map[string]func() ([]state.Session, error){
		"Live": func() ([]state.Session, error) { s, _, err := st.Live(); return s, err },
		"Load": func() (all []state.Session, err error) {
			keys, err := st.List(false)
			for _, k := range keys {
				s, e := st.Load(k)
				if e != nil {
					return all, e
				}
				all = append(all, s)
			}
			return all, err
		},
	}
}

// A permission that waits for a lock, held by another process, is in every view exactly
// once when that has released it.
func TestLateIsSeenOnce(t *testing.T) {
	st := Open(t.TempDir())
	fold(t, st, kind(event.SessionStart, "a", t0))
	views := views(st)
	for _, look := range views {
		if s, err := look(); err != nil || len(s) != 1 {
			t.Fatal(s, err)
		}
	}
	l, err := st.lock("a", LockWait)
	if err != nil {
		t.Fatal(err)
	}
	u := folding(ask("a", "x"))
	u.Change.At, u.Change.Event.At, u.Wait = t0+1000, t0+1000, 1
	if _, err := st.Fold("a", u); err != ErrBusy {
		t.Fatal(err)
	}
	seen := func(when string) {
		t.Helper()
		for name, look := range views {
			s, err := look()
			if err != nil || len(s) != 1 || state.Resolve(s[0], state.Evidence{}, t0+1300).State != state.Permission || s[0].Counts.Permissions != 1 {
				t.Errorf("%s, %s: %+v, %v", when, name, s, err)
			}
		}
	}
	l.Close()
	seen("afterwards")
	seen("again")
	if names, _ := readNames(st.path(lateDir, "")); len(names) > 0 {
		t.Errorf("the spool still holds %q", names)
	}
	clean(t, st)
}

// If the state directory cannot be created, readers report an error, not an empty list.
func TestStateDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "state")} {
		for name, look := range views(Open(dir)) {
			if s, err := look(); err == nil {
				t.Errorf("%s of %s: %d sessions and no error", name, dir, len(s))
			}
		}
	}
}
