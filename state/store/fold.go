package store

import (
	"bytes"
	"cmp"
	"errors"
	"hash/adler32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/state"
	"beckon/state/stats"
)

// Update is a change to fold into a session.
type Update struct {
	Change state.Change
	Turns  []state.Turn // instead of it: from the transcript, oldest first; several readers may find the same
	// Elapsed returns the microseconds that the caller has taken until the line is written; or is nil.
	Elapsed func() int64
	// The others, nil if unknown, cost system calls, and are called only when it is due, under the lock.

	// Origin adds to what is known so far of where the event came from what this machine can find out: see
	// fillOrigin.
	Origin func(event.Origin) event.Origin
	// Alive decides whether the last session of a terminal still occupies it.
	Alive Alive
	// Words returns the agent's last message in a transcript and its time, for a Stop that comes without
	// one; nothing if o is another machine.
	Words func(o *event.Origin, transcript string) (text string, at event.Millis)
	// Other returns the process that sent the event if it is not owner, the process of the earlier ones;
	// otherwise the zero Process.
	Other func(owner event.Process) event.Process
	// Wait is how long to wait for the lock; zero means LockWait.
	Wait time.Duration

	continued bool // another process continues the session
}

// Alive reports whether a process is there, given the time of its last hook.
type Alive = func(event.Process, event.Millis) state.Presence

// Result describes what a fold did.
type Result struct {
	Before, After state.Session
	New           bool   // k was unknown before
	Method        Method // how a new session found its seat; empty for a known one
}

// Fold folds u into session k, or into the part of it that belongs to the event's process. If
// the lock is not free in time (ErrBusy), a file cannot be written, or a newer version wrote the
// session (state.ErrNewerSchema; it stays untouched), the event waits in late/: it is not lost,
// and the caller need not do anything. Any error other than ErrBusy should be logged.
//
// An observation that the session already contains is not written again.
func (st *Store) Fold(k Key, u Update) (res Result, err error) {
	u.Wait = cmp.Or(u.Wait, LockWait)
	if e := u.Change.Event; e != nil {
		st.strip(e)
	}
	if a := u.Change.Action; a != nil && a.Decided != nil {
		a.Decided.Text = st.kept(event.Cut(redact.Text(a.Decided.Text), event.MaxPrompt))
	}
	own, err := st.fold(k, &u, &res)
	if own != k {
		_, err = st.fold(own, &u, &res)
	}
	return res, err
}

// fold folds u into session k. If u belongs to another part of it, fold only returns the key of that.
func (st *Store) fold(k Key, u *Update, res *Result) (own Key, err error) {
	h, err := st.acquire(k, u.Wait)
	if err != nil {
		return k, st.postpone(k, u, err)
	}
	defer h.release()
	res.Before, res.New = *h.s, h.s.Seq == 0
	h.takeLate(u.Alive)
	if own = st.owner(k, h.s, u); own != k {
		return own, h.commit()
	}
	if e := u.Change.Event; e != nil && e.Kind == event.Stop && e.Meter == nil {
		e.Meter = st.Meter(k)
	}
	h.say(u.Turns)
	o := u.Change.Observation // several readers may see the same
	if u.Turns == nil && (o == nil || h.s.Saw(o.Source, o.What) < o.At) {
		res.Method = h.place(u)
		h.finalWords(u)
		if a := u.Change.Action; a != nil && (a.Kind == state.ActBackburner || a.Kind == state.ActBackburnerOff) {
			b := h.s.Backburner // whose newer time counts: two actions within a millisecond have an order, too
			u.Change.At = max(u.Change.At, b.At+1, b.Off+1)
		}
		h.apply(u)
	}
	res.After = *h.s
	if err := h.commit(); err != nil {
		return k, st.postpone(k, u, err)
	}
	st.touchNeeds(&res.Before, &res.After)
	return k, nil
}

// NeedsFile is a file that is touched whenever a session starts or stops needing the user. A view can
// watch it alone.
func (st *Store) NeedsFile() string { return filepath.Join(st.Dir, "needs") }

// touchNeeds touches NeedsFile if the session needs the user otherwise than before, by its facts alone.
func (st *Store) touchNeeds(before, after *state.Session) {
	was, is := before.ByHooks(before.Updated), after.ByHooks(after.Updated)
	if was.NeedsYou == is.NeedsYou && (!is.NeedsYou || was.State == is.State && was.Since == is.Since) {
		return
	}
	path, now := st.NeedsFile(), time.Now()
	if os.Chtimes(path, now, now) != nil {
		_ = os.WriteFile(path, nil, fileMode) // without the file views notice it some seconds later
	}
}

// finalWords adds the message from the transcript to a Stop that came without one, if it is the turn's.
func (h *locked) finalWords(u *Update) {
	e := u.Change.Event
	if e == nil || e.Kind != event.Stop || e.AgentID != "" || e.Message != "" || e.Meaning != nil || u.Words == nil {
		return
	}
	path, o := cmp.Or(e.TranscriptPath, h.s.Transcript), cmp.Or(e.Origin, &h.s.Origin)
	if text, at := u.Words(o, path); at > max(h.s.Prompt.At, h.s.Stop.At, h.s.Start.At) {
		e.Message = event.CutTail(redact.Text(text), event.MaxMessage)
		h.st.strip(e)
	}
}

const eventLost = "event is lost: "

// postpone keeps an event that could not be folded because of err, and returns err. If that fails
// too, the event is lost, and the error is never ErrBusy.
func (st *Store) postpone(k Key, u *Update, err error) error {
	e := u.Change.Event
	if e == nil {
		return err
	}
	s, readErr := st.Load(k)
	if readErr == nil {
		k = st.owner(k, &s, u)
	}
	u.fillOrigin(&s) // the process that applies it cannot
	if lateErr := st.postponeFile(k, u.Change); lateErr != nil {
		return errors.New(eventLost + err.Error() + "; keeping it for later: " + lateErr.Error())
	}
	return err
}

// say folds turns that are newer than the last one folded from the transcript.
func (h *locked) say(turns []state.Turn) {
	upTo := h.s.Progress
	for _, t := range turns {
		if t.At <= upTo || h.s.Seq == 0 {
			continue
		}
		if h.s.Task.ID != 0 && t.At >= h.s.Task.Started {
			t.Command = h.s.Task.ID
		}
		t.Text = h.st.kept(event.CutTail(redact.Text(t.Text), state.MaxTurn))
		h.apply(&Update{Change: state.Change{At: t.At, Turn: &t}})
	}
}

// locked is a session whose lock this process has.
type locked struct {
	st    *Store
	key   Key
	lock  *lockFile
	s     *state.Session
	first int64  // the number before the first one of a session that begins anew
	dir   string // directory of the session's file; empty if there is none
	past  bool   // it was over when it was read, and still is
	dirty bool   // s is newer than its file
	day   string // of the newest of lines
	lines []byte // history to append once the session's file is written
}

// acquire locks session k and reads it. A damaged file is set aside, and the session begins anew.
func (st *Store) acquire(k Key, wait time.Duration) (*locked, error) {
	l, err := st.lock(k, wait)
	if err != nil {
		return nil, err
	}
	h := &locked{st: st, key: k, lock: l, s: new(state.Session)}
	h.dir, err = st.read(k, h.s)
	for errors.Is(err, errDamaged) {
		file, _ := errors.AsType[*fs.PathError](err)
		if err = st.setAside(file.Path); err == nil {
			h.dir, err = st.read(k, h.s)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.first = st.setAsideAt()
		st.makeLog()
	case err != nil:
		h.release()
		return nil, err
	}
	h.past = over(h.s)
	return h, nil
}

// setAsideAt returns when a file was last set aside, in microseconds: it may have been this session's, and
// the numbers of its turns go on from there.
func (st *Store) setAsideAt() int64 {
	names, _ := readNames(st.path(asideDir, ""))
	digits, _, _ := strings.Cut(slices.Max(append(names, "")), "-")
	at, _ := strconv.ParseInt(digits, 10, 64)
	return at
}

func (h *locked) release() { h.lock.Close() }

// read reads a session's file from sessions/, or else from archive/, and returns the directory.
func (st *Store) read(k Key, s *state.Session) (dir string, err error) {
	for _, dir = range [...]string{sessionsDir, archiveDir, sessionsDir} { // a resume may move it back meanwhile
		if err = readSession(st.path(dir, string(k)+".json"), s); err == nil {
			return dir, nil
		}
		*s = state.Session{}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return "", err
}

// apply applies u to the session, in memory.
func (h *locked) apply(u *Update) {
	c := u.Change
	c.Seq = max(h.s.Seq, h.first) + 1
	after, turns := state.ApplyTurns(*h.s, c)
	l := newLine(h.key, c)
	l.Count = stats.Of(h.s, &after, c)
	if u.Elapsed != nil {
		l.Us = u.Elapsed()
	}
	h.note(&l)
	for i := range turns {
		c := state.Change{Seq: after.Seq + 1, At: turns[i].At, Turn: &turns[i]}
		after = state.Apply(after, c)
		l := newLine(h.key, c)
		h.note(&l)
	}
	*h.s, h.dirty = after, true
	h.past = h.past && over(h.s)
}

// note keeps a line of history, to be appended once the session is written.
func (h *locked) note(l *Line) {
	h.day = max(h.day, dayOf(l.At))
	h.lines = appendLine(h.lines, l)
}

// commit writes the session's file, then its history, and removes what waited. A session that was over
// stays in the archive, whatever comes late; one that is live again moves from there. A kill in between
// leaves both files; the one in sessions/ is the newer.
func (h *locked) commit() error {
	if !h.dirty || h.s.Seq == 0 {
		return nil
	}
	dir := sessionsDir
	if h.dir != sessionsDir && h.past {
		dir = archiveDir
	}
	b := state.AppendJSON(make([]byte, 0, 4096), h.s)
	b = append(b[:len(b)-1], sum(b[:len(b)-1])...) // in place of the closing brace
	if err := h.st.write(dir, string(h.key)+".json", b); err != nil {
		return err
	}
	if h.dir == archiveDir && dir == sessionsDir {
		_ = os.Remove(h.st.archived(h.key))
	}
	h.dir, h.dirty = dir, false
	h.st.appendHistory(h.day, h.lines)
	h.day, h.lines = "", nil
	for n := range strings.FieldsSeq(h.s.Late) {
		_ = os.Remove(h.st.latePath(h.key, n))
	}
	if h.s.Late != "" {
		_ = os.Remove(h.st.path(lateDir, string(h.key))) // fails unless it is empty
	}
	return nil
}

// over reports whether a session has ended, is lost or was removed.
func over(s *state.Session) bool { return s.End.At != 0 || s.Lost.At != 0 || s.Removed != 0 }

// sumStart begins the member with the checksum, the last one. The number is that of the algorithm: a version
// that has another one does not check.
const sumStart = `,"sum":"3-`

// readSession reads one session file into s. After an error the contents of s are undefined.
func readSession(path string, s *state.Session) error {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readFile(*buf, path, maxFile)
	if err != nil {
		return err
	}
	*buf = data[:cap(data)]
	err = s.DecodeJSON(data) // copies what it keeps
	if errors.Is(err, state.ErrNotSession) || err == nil && !intact(data) {
		err = damaged(path)
	}
	return err
}

// intact reports whether the file has the checksum that it says, if it says one.
func intact(b []byte) bool {
	i := bytes.LastIndex(b, []byte(sumStart))
	return i < 0 || string(b[i:]) == sum(b[:i])
}

// sum returns the end of a session file that begins with b.
func sum(b []byte) string {
	return sumStart + strconv.FormatUint(uint64(adler32.Checksum(b)), 36) + "\"}\n"
}
