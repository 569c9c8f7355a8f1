package store

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
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
	keepRequests = 48 * time.Hour // with the questions in them; no request is open for longer
	pruneEvery   = 24 * time.Hour

	maxHistory = 2 << 30 // bytes of history; then the oldest days go
)

// Archive moves a session that has been over for ArchiveAfter to the archive, under its lock,
// and reports whether it did. It does not wait: a session that another process has locked can be
// archived the next time.
func (st *Store) Archive(k Key, now event.Millis) (bool, error) {
	if !exists(st.session(k)) {
		return false, nil
	}
	h, err := st.acquire(k, noWait)
	if err != nil {
		return false, err
	}
	defer h.release()
	h.takeLate(nil)
	if err := h.commit(); err != nil || h.dir != sessionsDir {
		return false, err
	}
	if !over(h.s) || now < ArchiveAt(h.s) {
		return false, nil
	}
	err = inDir(st.path(archiveDir, ""), func() error { return rename(st.session(k), st.archived(k)) })
	return err == nil, err
}

// ArchiveAt returns when a session that is over leaves the live views.
func ArchiveAt(s *state.Session) event.Millis {
	return max(s.End.At, s.Lost.At, s.Removed) + event.Millis(ArchiveAfter.Milliseconds())
}

// Prune removes what is too old. Any reader may call it. It works at most once a day, and writes
// its time stamp first, so that only one of several readers does the work.
func (st *Store) Prune(now time.Time) error {
	version := st.path(archiveDir, ".pruned")
	if info, err := os.Stat(version); err == nil && now.Sub(info.ModTime()).Abs() < pruneEvery {
		return nil // a time stamp from the future comes from a wrong clock
	}
	if !exists(st.path(archiveDir, "")) {
		return nil // nothing was ever archived
	}
	if err := errors.Join(os.WriteFile(version, nil, fileMode), os.Chtimes(version, now, now)); err != nil {
		return err
	}
	err := st.pruneHistory(now.Add(-keepHistory))
	for _, p := range [...]struct {
		dir   string
		keep  time.Duration
		prune func(path string, k Key, before time.Time) error
	}{
		{archiveDir, keepArchived, st.pruneSession},
		{lateDir, keepArchived, remove},
		{meterDir, keepArchived, st.pruneUnlessLive},
		{claimsDir, keepArchived, st.pruneUnlessLive},
		{tmpDir, keepTmp, remove},
		{locksDir, keepArchived, st.pruneLock},
		{asideDir, keepHistory, remove},
		// Requests that are over or that a killed process left, and messages that nobody took.
		{"offers/open", keepRequests, remove},
		{"offers/done", keepRequests, remove},
		{"offers/said", keepRequests, remove},
		{"offers/stop", keepRequests, remove},
		// What only earlier releases used.
		{"cache", keepTmp, remove},
		{"seats", keepTmp, remove},
		{"journal", keepHistory, remove},
		{"quarantine", keepHistory, remove},
	} {
		names, e := readNames(st.path(p.dir, ""))
		err = errors.Join(err, e)
		for _, n := range names {
			if path, before := st.path(p.dir, n), now.Add(-p.keep); older(path, before) {
				err = errors.Join(err, p.prune(path, keyIn(n), before))
			}
		}
	}
	return err
}

func older(path string, before time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && info.ModTime().Before(before)
}

func remove(path string, _ Key, _ time.Time) error { return os.RemoveAll(path) }

// pruneHistory removes the days before a moment, and the oldest if there is too much.
func (st *Store) pruneHistory(before time.Time) error {
	names, err := st.days()
	left := int64(0)
	for _, n := range slices.Backward(names) {
		path := st.path(historyDir, n)
		if left += sizeAt(path); left > maxHistory || n[:len(time.DateOnly)] < before.UTC().Format(time.DateOnly) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// pruneUnlessLive removes what belongs to a session that is no longer live.
func (st *Store) pruneUnlessLive(path string, k Key, _ time.Time) error {
	if exists(st.session(k)) {
		return nil
	}
	return os.RemoveAll(path)
}

// pruneSession removes an archived session, unless it has come back since it was listed, another
// process has locked it, or has a part of it: without the session's own record, the next event of
// that process would begin a new one.
func (st *Store) pruneSession(path string, k Key, before time.Time) error {
	l, err := st.lock(k, noWait)
	if err != nil {
		return unlessBusy(err)
	}
	defer l.Close()
	if !older(path, before) {
		return nil
	}
	for _, dir := range [...]string{sessionsDir, archiveDir, lateDir} {
		names, _ := readNames(st.path(dir, ""))
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, string(k)+"~") }) {
			return nil
		}
	}
	return os.RemoveAll(path)
}

// pruneLock removes the lock file of a session that has no file any more. It does so as the
// last step under that lock: a process that waits for it then finds another file, or none, at
// the path, and locks that. On Windows no file can be removed that any process has open.
func (st *Store) pruneLock(path string, k Key, _ time.Time) error {
	l, err := st.lock(k, noWait)
	if err != nil {
		return unlessBusy(err)
	}
	kept := exists(st.session(k)) || exists(st.archived(k))
	if runtime.GOOS == "windows" {
		l.Close()
	}
	if !kept {
		_ = os.Remove(path)
	}
	l.Close()
	return nil
}

func unlessBusy(err error) error {
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}
