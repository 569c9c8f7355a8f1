package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state"
)

// maxDecisions is the size, in bytes, at which the log of decisions is set
// aside as notify.jsonl.1.
const maxDecisions = 128 << 10

// Claim takes the edge id of session k for the caller. Of all processes that see an
// edge one gets it: first is true. After an error it is not known which has it.
func (st *Store) Claim(k Key, id string) (first bool, err error) {
	path := st.path(claimsDir, string(k))
	f, err := open(path+string(os.PathSeparator)+id, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path, dirMode); err == nil {
			f, err = open(path+string(os.PathSeparator)+id, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Claimed is one edge that somebody was told of, or is about to be.
type Claimed struct {
	ID string
	At event.Millis // when it was taken
}

// Claims lists the edges of session k that are taken, in no particular order.
func (st *Store) Claims(k Key) ([]Claimed, error) {
	dir := st.path(claimsDir, string(k))
	names, err := readNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Claimed
	for _, n := range names {
		if info, e := os.Stat(dir + string(os.PathSeparator) + n); e == nil {
			out = append(out, Claimed{n, event.MillisOf(info.ModTime())})
		}
	}
	return out, err
}

// Notified returns whether the edge is taken, and when the newest of its kind and
// session was, 0 when none was.
func (st *Store) Notified(k Key, e state.Edge) (taken bool, last event.Millis) {
	claims, _ := st.Claims(k)
	for _, c := range claims {
		if c.ID == e.ID() {
			taken = true
		}
		if kind, _, _ := strings.Cut(c.ID, "-"); kind == string(e.Kind) {
			last = max(last, c.At)
		}
	}
	return taken, last
}

// pruneClaims removes the claims of a session that is not live any more.
func (st *Store) pruneClaims(name string, _ time.Time) error {
	if exists(st.session(Key(name))) {
		return nil
	}
	return os.RemoveAll(st.path(claimsDir, name))
}

// Decided is one line of the log of decisions: why the user was or was not
// told of an edge. It holds no text of a session.
type Decided struct {
	At       event.Millis   `json:"at"`      // when it was decided
	Session  string         `json:"session"` // the session's id
	Kind     state.EdgeKind `json:"kind"`
	EdgeAt   event.Millis   `json:"edge_at"` // when it came to that
	Verdict  state.Verdict  `json:"verdict"`
	Reason   string         `json:"reason"`
	By       string         `json:"by"`       // hook, deliver, watch, serve
	Channels string         `json:"channels"` // what it was sent through, with a word on each that failed
}

// Decide adds d to the log of decisions. A log that cannot be written is not an
// error: nothing depends on it.
func (st *Store) Decide(d Decided) error {
	d.Session, d.Reason, d.Channels = event.Cut(d.Session, event.MaxID), event.Cut(d.Reason, event.MaxText), event.Cut(d.Channels, event.MaxText)
	return plainfile.AppendLine(st.DecisionsFile(), jsonenc.Append(nil, &d), maxDecisions)
}

// DecisionsFile is the log of decisions.
func (st *Store) DecisionsFile() string { return st.path(logDir, "notify.jsonl") }

// Decisions returns the log of decisions, the oldest first. Lines that are not
// ours are passed over.
func (st *Store) Decisions() ([]Decided, error) {
	var out []Decided
	for _, path := range [...]string{st.DecisionsFile() + ".1", st.DecisionsFile()} {
		data, err := readFile(path, 2*maxDecisions)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errEmpty) {
			return out, err
		}
		for line := range strings.Lines(string(data)) {
			var d Decided
			if jsonenc.Decode(line, &d) && d.At != 0 {
				out = append(out, d)
			}
		}
	}
	return out, nil
}
