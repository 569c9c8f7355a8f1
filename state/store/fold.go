package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"beckon/event"
	"beckon/state"
)

// Update is one change to be folded into a session.
type Update struct {
	Change state.Change
	// Elapsed gives the microseconds that the caller has taken so far; it is
	// asked just before the line is written. Nil means not measured.
	Elapsed func() int64
	// Origin reads where the event came from. It is called under the lock, only
	// on SessionStart, at first sight and when cwd changed (DESIGN.md section
	// 6). Nil means that nothing is known of it.
	Origin func() *event.Origin
	// Alive reports whether a process is there; needed to tell whether the
	// terminal's last occupant still sits in it. Nil means not known.
	Alive func(event.Process) state.Presence
	// Wait is how long to wait for the lock; zero means LockWait.
	Wait time.Duration
}

// Result is what a fold did.
type Result struct {
	Before, After state.Session
	New           bool   // the session was not known before
	Method        string // how a new session found its seat; empty for a known one
}

// Fold folds u into the session k. When the lock cannot be had in time, an
// event is spooled for the next holder and the error is ErrBusy: it is not
// lost, and the caller has nothing more to do.
func (st *Store) Fold(k Key, u Update) (Result, error) {
	wait := u.Wait
	if wait == 0 {
		wait = LockWait
	}
	h, err := st.hold(k, wait)
	if errors.Is(err, ErrBusy) && u.Change.Event != nil {
		if u.Change.Event.Origin == nil && u.Origin != nil {
			u.Change.Event.Origin = u.Origin()
		}
		if e := st.spool(k, u.Change); e != nil {
			return Result{}, e
		}
	}
	if err != nil {
		return Result{}, err
	}
	defer h.release()
	res := Result{Before: h.s, New: h.s.Seq == 0}
	h.drain()
	res.Method = h.place(&u)
	if err := h.apply(u); err != nil {
		return res, errors.Join(err, h.commit())
	}
	res.After = h.s
	return res, h.commit()
}

// held is a session under its lock.
type held struct {
	st       *Store
	key      Key
	unlock   func()
	s        state.Session
	archived bool     // it was found in archive/
	dirty    bool     // s is newer than its file
	j        *os.File // the journal
	size     int64    // its length
	spooled  []string // spool files folded, to be removed
}

// hold locks k, reads its session and folds what the journal has and the file
// lacks.
func (st *Store) hold(k Key, wait time.Duration) (*held, error) {
	unlock, err := st.lock(k, wait)
	if err != nil {
		return nil, err
	}
	h := &held{st: st, key: k, unlock: unlock}
	if err := h.open(); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

func (h *held) open() error {
	if err := h.read(); err != nil {
		return err
	}
	f, err := os.OpenFile(h.st.journal(h.key), os.O_RDWR|os.O_CREATE, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = h.st.make(); err == nil {
			f, err = os.OpenFile(h.st.journal(h.key), os.O_RDWR|os.O_CREATE, fileMode)
		}
	}
	if err != nil {
		return err
	}
	h.j = f
	return h.catchUp()
}

// read loads the session file from sessions/, else from archive/. One that
// does not parse is moved to quarantine and made again from the journal; one
// of a newer version is left alone.
func (h *held) read() error {
	for _, path := range [...]string{h.st.session(h.key), h.st.archived(h.key)} {
		data, err := readFile(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s, err := state.DecodeJSON(data)
		if errors.Is(err, state.ErrNotSession) {
			if err := h.st.quarantine(path); err != nil {
				return err
			}
			h.dirty = true
			continue
		}
		h.s, h.archived = s, path == h.st.archived(h.key)
		return err
	}
	return nil
}

// apply writes the journal line of u and folds it.
func (h *held) apply(u Update) error {
	if h.size > segment {
		if err := h.rotate(); err != nil {
			return err
		}
	}
	c := u.Change
	c.Seq = h.s.Seq + 1
	l := Line{Change: c}
	if u.Elapsed != nil {
		l.Us = u.Elapsed()
	}
	b := appendLine(make([]byte, 0, 2048), l)
	if err := h.writeLine(b); err != nil {
		return err
	}
	h.s = foldLine(h.s, l, h.size)
	h.dirty = true
	return nil
}

// commit writes the session file, to archive/ if it was there and has not
// come back to life.
func (h *held) commit() error {
	if !h.dirty || h.s.Seq == 0 {
		return nil
	}
	path, dir := h.st.session(h.key), sessionsDir
	if h.archived && over(&h.s) {
		path, dir = h.st.archived(h.key), archiveDir
	}
	data := append(state.AppendJSON(make([]byte, 0, 4096), &h.s), '\n')
	err := replaceMaking(h.st.path(tmpDir, string(h.key)+".json"), path, h.st.path(dir, ""), data)
	if err != nil {
		return err
	}
	if h.archived && dir == sessionsDir {
		_ = os.Remove(h.st.archived(h.key))
	}
	h.dirty = false
	h.removeSpooled()
	return nil
}

func (h *held) release() {
	if h.j != nil {
		_ = h.j.Close()
	}
	h.unlock()
}

// over reports whether a session is ended, lost or removed.
func over(s *state.Session) bool {
	return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0
}

// quarantine moves a file that did not parse out of the way. Nothing in
// quarantine/ is ever deleted.
func (st *Store) quarantine(path string) error {
	dir := st.path(quarantineDir, "")
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return rename(path, st.path(quarantineDir, time.Now().UTC().Format("20060102T150405.000000000")+"."+baseName(path)))
}

func baseName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			return path[i+1:]
		}
	}
	return path
}
