package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"beckon/event"
	"beckon/state"
)

// How long things are kept (DESIGN.md section 5).
const (
	ArchiveAfter = 10 * time.Minute    // after a session's end it leaves the live views
	keepArchived = 14 * 24 * time.Hour // then its file goes
	keepJournal  = 400 * 24 * time.Hour
	pruneEvery   = 24 * time.Hour
)

// Archive moves a session that has been over for ArchiveAfter out of the live
// directory, under its lock. It reports whether it did.
func (st *Store) Archive(k Key, now event.Millis) (bool, error) {
	h, err := st.hold(k, LockWait)
	if err != nil {
		return false, err
	}
	defer h.release()
	if h.archived || !over(&h.s) || now < overSince(&h.s)+event.Millis(ArchiveAfter.Milliseconds()) {
		return false, h.commit()
	}
	if err := h.commit(); err != nil {
		return false, err
	}
	err = rename(st.session(k), st.archived(k))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(st.path(archiveDir, ""), dirMode); err == nil {
			err = rename(st.session(k), st.archived(k))
		}
	}
	return err == nil, err
}

func overSince(s *state.Session) event.Millis {
	return max(s.End.At, s.Lost.At, s.Removed)
}

// Prune removes what is too old: archived sessions, their journals and locks,
// seats that nothing uses any more. Any reader may call it; it works at most
// once a day, and the stamp is written before the work, so that of many
// readers one does it.
func (st *Store) Prune(now time.Time) error {
	stamp := st.path(archiveDir, ".pruned")
	if info, err := os.Stat(stamp); err == nil && now.Sub(info.ModTime()) < pruneEvery {
		return nil
	}
	if _, err := os.Stat(st.path(archiveDir, "")); err != nil {
		return nil // nothing was ever archived
	}
	if err := os.WriteFile(stamp, nil, fileMode); err != nil {
		return err
	}
	if err := os.Chtimes(stamp, now, now); err != nil {
		return err
	}
	keys, err := st.keys(archiveDir)
	for _, k := range keys {
		err = errors.Join(err, st.pruneSession(k, now))
	}
	return errors.Join(err, st.pruneOld(seatsDir, now.Add(-keepArchived)), st.pruneOld(meterDir, now.Add(-keepArchived)), st.pruneJournals(now))
}

func (st *Store) pruneSession(k Key, now time.Time) error {
	info, err := os.Stat(st.archived(k))
	if err != nil || now.Sub(info.ModTime()) < keepArchived {
		return nil
	}
	unlock, err := st.lock(k, LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return os.Remove(st.archived(k))
}

// pruneJournals removes the journals of sessions that have no file any more,
// once they are past their time, and then the session's lock.
func (st *Store) pruneJournals(now time.Time) error {
	names, err := readNames(st.path(journalDir, ""))
	for _, n := range names {
		path := st.path(journalDir, n)
		info, e := os.Stat(path)
		if e != nil || now.Sub(info.ModTime()) < keepJournal {
			continue
		}
		k := spoolKey(n[:len(n)-1])
		if _, e := os.Stat(st.session(k)); e == nil {
			continue
		}
		err = errors.Join(err, os.Remove(path), removeIfThere(st.lockFile(k)))
	}
	return err
}

// pruneOld removes the files of dir that nothing has touched since before.
func (st *Store) pruneOld(dir string, before time.Time) error {
	names, err := readNames(st.path(dir, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range names {
		path := st.path(dir, n)
		if info, e := os.Stat(path); e == nil && info.ModTime().Before(before) {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
