package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/stats"
)

// locked is a session in memory. Its lock is nil while it is only read.
type locked struct {
	st    *Store
	key   Key
	lock  *lockFile
	s     *state.Session
	first int64             // the number before the first one of a session that begins anew
	dir   string            // directory of the session's file; empty if there is none
	past  bool              // it was over when it was read, and still is
	dirty bool              // s is newer than its file
	late  []string          // files in late/ whose events s contains
	lines map[string][]byte // history to append once the session's file is written, by day
	aside *state.Action     // to be applied after the event that begins the session
}

// acquire locks session k and reads it.
func (st *Store) acquire(k Key, wait time.Duration) (*locked, error) {
	l, err := st.lock(k, wait)
	if err != nil {
		return nil, err
	}
	h := &locked{st: st, key: k, lock: l, s: new(state.Session)}
	switch err := h.read(); {
	case errors.Is(err, fs.ErrNotExist):
		h.first = st.setAsideAt(k)
	case err != nil:
		h.release()
		return nil, err
	}
	h.past = over(h.s)
	return h, nil
}

// setAsideAt returns when a file of session k was last set aside, in microseconds, or 0. The
// session then begins anew, but its turns are known by their numbers, which must go on.
func (st *Store) setAsideAt(k Key) (at int64) {
	names, _ := readNames(st.path(asideDir, ""))
	for _, n := range names {
		if strings.HasSuffix(n, "."+string(k)+".json") {
			at = max(at, numberIn(n))
		}
	}
	return at
}

func (h *locked) release() { h.lock.Close() }

// read reads the session's file from sessions/, or else from archive/. Under the lock a damaged
// file is set aside, and the session begins anew. A file of a newer version is left alone.
func (h *locked) read() (err error) {
	for _, dir := range [...]string{sessionsDir, archiveDir, sessionsDir} { // a resume may move it back meanwhile
		path := h.st.path(dir, string(h.key)+".json")
		h.late, err = readSession(path, h.s)
		if err == nil {
			h.dir = dir
			return nil
		}
		*h.s = state.Session{}
		if h.lock != nil && errors.Is(err, errDamaged) {
			if err = h.st.setAside(path); err == nil {
				err = fs.ErrNotExist
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// apply applies u to the session, in memory.
func (h *locked) apply(u *Update) {
	l := Line{Key: h.key, Change: u.Change}
	l.Change.Seq = max(h.s.Seq, h.first) + 1
	if u.Elapsed != nil {
		l.Us = u.Elapsed()
	}
	if l.Change.Event != nil {
		jsonenc.Each(l.Change.Event, validate)
	}
	after, turns := state.ApplyTurns(*h.s, l.Change)
	l.Count = stats.Of(h.s, &after, l.Change)
	h.note(&l)
	for i := range turns {
		l := Line{Key: h.key, Change: state.Change{Seq: after.Seq + 1, At: turns[i].At, Turn: &turns[i]}}
		after = state.Apply(after, l.Change)
		h.note(&l)
	}
	*h.s, h.dirty = after, true
	h.past = h.past && over(h.s)
	if a := h.aside; a != nil {
		h.aside = nil
		h.apply(&Update{Change: state.Change{At: u.Change.At, Action: a}})
	}
}

// validate replaces invalid UTF-8 as JSON does, so that what is applied is what is read again: a
// copy of the event, which a second install sends, is compared with that.
func validate(v reflect.Value) {
	if v.Kind() == reflect.String && !utf8.ValidString(v.String()) {
		v.SetString(string([]rune(v.String())))
	}
}

// note keeps a line of history, to be appended once the session is written.
func (h *locked) note(l *Line) {
	if h.lines == nil {
		h.lines = map[string][]byte{}
	}
	day := dayOf(l.Change.At)
	h.lines[day] = appendLine(h.lines[day], l)
}

// commit writes the session's file, then its history, and removes what waited. A session that was
// over stays out of the live views, whatever comes late; one that is live again moves from
// archive/ to sessions/. A kill in between leaves both files; the one in sessions/ is the newer.
func (h *locked) commit() error {
	if !h.dirty || h.s.Seq == 0 {
		return nil
	}
	dir := sessionsDir
	if h.dir != sessionsDir && h.past {
		dir = archiveDir
	}
	b := state.AppendJSON(make([]byte, 0, 4096), h.s)
	if len(h.late) > 0 {
		b = append(b[:len(b)-1], lateStart+strings.Join(h.late, " ")+`"}`...)
	}
	if err := h.st.write(dir, string(h.key)+".json", seal(b)); err != nil {
		return err
	}
	if h.dir == archiveDir && dir == sessionsDir {
		_ = os.Remove(h.st.archived(h.key))
	}
	h.dir, h.dirty = dir, false
	h.st.appendHistory(h.lines)
	h.lines = nil
	for _, n := range h.late {
		_ = os.Remove(h.st.latePath(h.key, n))
	}
	if len(h.late) > 0 {
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
	return nil
}

// over reports whether a session has ended, is lost or was removed.
func over(s *state.Session) bool {
	return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0
}

// errDamaged is returned for a session file that is not as it was written, or is none.
var errDamaged = errors.New("session file is damaged")

// lateStart begins the member with the names of the files in late/ whose events the session
// contains; sumStart the one with the checksum, the last one. The number is that of the
// algorithm: a version that has another one does not check.
const (
	lateStart = `,"late":"`
	sumStart  = `,"sum":"2-`
)

// readSession reads one session file into s. After an error the contents of s are undefined.
func readSession(path string, s *state.Session) (late []string, err error) {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readInto(*buf, path, maxFile)
	if err != nil {
		if errors.Is(err, errTooLarge) || errors.Is(err, errEmpty) || irregular(path) {
			err = &fs.PathError{Op: "read", Path: path, Err: errDamaged}
		}
		return nil, err
	}
	*buf = data[:cap(data)]
	err = s.DecodeJSON(data) // copies what it keeps
	if errors.Is(err, state.ErrNotSession) || err == nil && !intact(data) {
		err = &fs.PathError{Op: "read", Path: path, Err: errDamaged}
	}
	// No text of the session contains lateStart, since its quotes are escaped there.
	if i := bytes.Index(data, []byte(lateStart)); i >= 0 {
		names, _, _ := strings.Cut(string(data[i+len(lateStart):]), `"`)
		late = strings.Fields(names)
	}
	return late, err
}

// seal replaces the closing brace of a session's JSON by the checksum of all before it.
func seal(b []byte) []byte { return append(b[:len(b)-1], sum(b[:len(b)-1])...) }

// intact reports whether the file has the checksum that it says, if it says one.
func intact(b []byte) bool {
	i := bytes.LastIndex(b, []byte(sumStart))
	return i < 0 || string(b[i:]) == sum(b[:i])
}

// sum returns the end of a session file: the sum of b in words of eight bytes, which differs for
// any two texts that differ in one of them, since each step can be undone. It needs no table.
func sum(b []byte) string {
	sum := uint64(14695981039346656037) // this and the factor are those of FNV-1a
	step := func(word uint64) { sum = bits.RotateLeft64((sum^word)*1099511628211, 29) }
	for ; len(b) >= 8; b = b[8:] {
		step(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		step(uint64(c))
	}
	return sumStart + strconv.FormatUint(sum, 36) + "\"}\n"
}
