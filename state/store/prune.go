package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"beckon/event"
	"beckon/state"
)

// How long files are kept.
const (
	ArchiveAfter = 10 * time.Minute    // until a session that is over leaves the live views
	keepArchived = 14 * 24 * time.Hour // until an archived session's file is removed
	keepHistory  = 400 * 24 * time.Hour
	keepTmp      = 24 * time.Hour // for files of killed writers; no write takes longer
	keepOffers   = 48 * time.Hour // with the questions in them; no offer is open for longer
	pruneEvery   = 24 * time.Hour

	maxHistory = 2 << 30 // bytes of history; then the oldest days go
)

// Archive moves a session that has been over for ArchiveAfter to the archive, under its lock,
// and reports whether it did. It does not wait: a session that a writer holds can be archived
// the next time.
func (st *Store) Archive(k Key, now event.Millis) (bool, error) {
	if !exists(st.session(k)) {
		return false, nil
	}
	h := holder{st: st, key: k}
	if err := h.acquire(noWait); err != nil {
		return false, err
	}
	defer h.release()
	h.takeLate(nil)
	if err := h.commit(); err != nil || h.dir != sessionsDir {
		return false, err
	}
	if !over(&h.s) || now < overSince(&h.s)+event.Millis(ArchiveAfter.Milliseconds()) {
		return false, nil
	}
	err := inDir(st.path(archiveDir, ""), func() error { return rename(st.session(k), st.archived(k)) })
	return err == nil, err
}

func overSince(s *state.Session) event.Millis {
	return max(s.End.At, s.Lost.At, s.Removed)
}

// Prune removes what is too old: archived sessions, their locks, history, seats and meters that
// no live session has, events that wait for nobody, offers, files of killed writers, and what
// only earlier releases used. Any reader may call
// it. It works at most once a day, and writes its time stamp first, so that only one of
// several readers does the work.
func (st *Store) Prune(now time.Time) error {
	if !st.pruneDue(now) {
		return nil
	}
	stamp := st.path(archiveDir, ".pruned")
	if err := os.WriteFile(stamp, nil, fileMode); err != nil {
		return err
	}
	if err := os.Chtimes(stamp, now, now); err != nil {
		return err
	}
	return errors.Join(
		st.eachOld(archiveDir, now.Add(-keepArchived), st.pruneSession),
		st.pruneHistory(now.Add(-keepHistory)),
		st.pruneOld(lateDir, now.Add(-keepArchived)),
		st.eachOld(seatsDir, now.Add(-keepArchived), st.pruneSeat),
		st.eachOld(meterDir, now.Add(-keepArchived), st.pruneMeter),
		st.eachOld(claimsDir, now.Add(-keepArchived), st.pruneClaims),
		st.pruneOld(tmpDir, now.Add(-keepTmp)),
		st.pruneOffers(now.Add(-keepOffers)),
		st.eachOld(locksDir, now.Add(-keepArchived), st.pruneLock),
		os.RemoveAll(st.path("cache", "")),
		st.pruneOld("journal", now.Add(-keepHistory)),
		st.pruneOld("quarantine", now.Add(-keepHistory)),
		st.pruneOld(asideDir, now.Add(-keepHistory)),
	)
}

// pruneOffers removes offers that are over or that a killed process left, and what users said to
// sessions that did not take it. The next offer would remove some of them too, but it may never
// come.
func (st *Store) pruneOffers(before time.Time) (err error) {
	for _, part := range [...]string{"open", "done", "said", "stop"} {
		err = errors.Join(err, st.pruneOld(filepath.Join("offers", part), before))
	}
	return err
}

// pruneOld removes whatever in dir is old.
func (st *Store) pruneOld(dir string, before time.Time) error {
	return st.eachOld(dir, before, func(name string, _ time.Time) error { return os.RemoveAll(st.path(dir, name)) })
}

// pruneDue reports whether there may be something to prune and nobody has pruned for a day. A
// time stamp from the future comes from a wrong clock.
func (st *Store) pruneDue(now time.Time) bool {
	info, err := os.Stat(st.path(archiveDir, ".pruned"))
	if err == nil {
		return now.Sub(info.ModTime()).Abs() >= pruneEvery
	}
	return exists(st.path(archiveDir, "")) // otherwise nothing was ever archived
}

// eachOld calls prune with the name of every file in dir that was last modified before the
// given time.
func (st *Store) eachOld(dir string, before time.Time, prune func(name string, before time.Time) error) error {
	names, err := readNames(st.path(dir, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range names {
		if older(st.path(dir, n), before) {
			err = errors.Join(err, prune(n, before))
		}
	}
	return err
}

func older(path string, before time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && info.ModTime().Before(before)
}

// locked calls f under the lock of k. If another process holds the lock, it does nothing.
func (st *Store) locked(k Key, f func() error) error {
	l, err := st.lock(k, noWait)
	if errors.Is(err, ErrBusy) {
		return nil // k is in use
	}
	if err != nil {
		return err
	}
	defer l.Close()
	return f()
}

// pruneSession removes an archived session, unless it has come back since it was listed.
func (st *Store) pruneSession(name string, before time.Time) error {
	k := keyIn(name)
	return st.locked(k, func() error {
		if !older(st.archived(k), before) || st.parted(k) {
			return nil
		}
		return removeIfThere(st.archived(k))
	})
}

// pruneHistory removes the days before a moment, and the oldest if there is too much.
func (st *Store) pruneHistory(before time.Time) error {
	names, err := st.days()
	left := int64(0)
	for _, n := range slices.Backward(names) {
		path := st.path(historyDir, n)
		if left += sizeAt(path); left > maxHistory || n[:len(time.DateOnly)] < before.UTC().Format(time.DateOnly) {
			err = errors.Join(err, removeIfThere(path))
		}
	}
	return err
}

// kept reports whether the session has a file, live or archived.
func (st *Store) kept(k Key) bool { return exists(st.session(k)) || exists(st.archived(k)) }

// parted reports whether another process has a part of the session. Without the session's own
// record, the next event of that process would begin a new one.
func (st *Store) parted(k Key) bool {
	for _, dir := range [...]string{sessionsDir, archiveDir, lateDir} {
		names, _ := readNames(st.path(dir, ""))
		if slices.ContainsFunc(names, func(n string) bool {
			id, _, second := cutPart(string(keyIn(n)))
			return second && id == string(k)
		}) {
			return true
		}
	}
	return false
}

// pruneSeat removes an entry of the seat index, unless the session that made it is live: it
// may stay in its seat for longer than entries are kept.
func (st *Store) pruneSeat(name string, _ time.Time) error {
	c := st.readClaim(string(keyIn(name)))
	if c.Key != "" && exists(st.session(c.Key)) {
		return nil
	}
	return removeIfThere(st.path(seatsDir, name))
}

// pruneMeter removes a status line's report, unless its session is live.
func (st *Store) pruneMeter(name string, _ time.Time) error {
	if exists(st.session(keyIn(name))) {
		return nil
	}
	return removeIfThere(st.path(meterDir, name))
}

// pruneLock removes the lock file of a session that has no file any more. It does so as the
// last step under that lock: a process that waits for it then finds another file, or none, at
// the path, and locks that.
func (st *Store) pruneLock(name string, _ time.Time) error {
	k, kept := keyIn(name), false
	err := st.locked(k, func() error {
		if kept = st.kept(k); kept || !removesOpen {
			return nil
		}
		return removeIfThere(st.lockFile(k))
	})
	if err != nil || kept || removesOpen {
		return err
	}
	if err = removeIfThere(st.lockFile(k)); sharingViolation(err) {
		return nil // another process has it open, so it stays
	}
	return err
}
