package store

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
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

// Archive moves a session that has been over for ArchiveAfter to the archive, under its lock, and reports
// whether it did. It does not wait: a session that another process has locked can be archived the next time.
func (st *Store) Archive(k Key, now event.Millis) (bool, error) {
	if !plainfile.Exists(st.session(k)) {
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
	err = st.put(st.archived(k), func() error { return rename(st.session(k), st.archived(k)) })
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
	if !plainfile.Exists(st.path(archiveDir, "")) {
		return nil // nothing was ever archived
	}
	if err := errors.Join(os.WriteFile(version, nil, fileMode), os.Chtimes(version, now, now)); err != nil {
		return err
	}
	err := st.pruneHistory(now.Add(-keepHistory))
	for _, p := range [...]struct {
		dir  string
		keep time.Duration
	}{
		{archiveDir, keepArchived},
		{lateDir, keepArchived},
		{meterDir, keepHistory}, // of sessions that were never archived
		{claimsDir, keepHistory},
		{tmpDir, keepTmp},
		{asideDir, keepHistory},
		// Requests that are over or that a killed process left, and messages that nobody took.
		{"offers/open", keepRequests},
		{"offers/done", keepRequests},
		{"offers/said", keepRequests},
		{"offers/stop", keepRequests},
	} {
		names, e := readNames(st.path(p.dir, ""))
		err = errors.Join(err, e)
		for _, n := range names {
			switch path, before := st.path(p.dir, n), now.Add(-p.keep); {
			case !older(path, before):
			case p.dir == archiveDir:
				err = errors.Join(err, st.pruneSession(path, Key(strings.TrimSuffix(n, ".json")), before))
			default:
				err = errors.Join(err, os.RemoveAll(path))
			}
		}
	}
	return err
}

func older(path string, before time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && info.ModTime().Before(before)
}

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

// pruneSession removes an archived session with all that belongs to it but its history, its lock last:
// whoever waits for that finds another file at the path, or none. It does not if another process has
// locked the session, if that has come back since it was listed, or if there is a part of it: without
// the session's own record, the next event of that process would begin a new one.
func (st *Store) pruneSession(path string, k Key, before time.Time) error {
	l, err := st.lock(k, noWait)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Close()
	for _, dir := range [...]string{sessionsDir, archiveDir, lateDir} {
		names, _ := readNames(st.path(dir, ""))
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, string(k)+"~") }) {
			return nil
		}
	}
	if !older(path, before) {
		return nil
	}
	err = os.RemoveAll(path)
	if plainfile.Exists(st.session(k)) {
		return err
	}
	err = errors.Join(err, os.RemoveAll(st.path(meterDir, string(k)+".json")), os.RemoveAll(st.path(claimsDir, string(k))))
	if runtime.GOOS == "windows" { // there no file can be removed that any process has open
		l.Close()
	}
	_ = os.Remove(st.lockFile(k))
	return err
}
