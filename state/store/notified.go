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

// maxDecisions is the size, in bytes, at which the log of decisions is renamed to
// notify.jsonl.1.
const maxDecisions = 128 << 10

// Claim claims the alert id of session k. Of all processes that claim an alert, only one gets
// first set. After an error it is unknown which one has the claim.
func (st *Store) Claim(k Key, id string) (first bool, err error) {
	dir := st.path(claimsDir, string(k))
	var f *os.File
	err = inDir(dir, func() (err error) {
		f, err = open(dir+string(os.PathSeparator)+id, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Claimed is an alert that the user has been notified of, or is about to be.
type Claimed struct {
	ID string
	At event.Millis // when it was claimed
}

// Claims returns the claimed alerts of session k, in no particular order.
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

// Notified returns whether the alert is claimed, and when the newest alert of its kind and
// session was, 0 if there is none.
func (st *Store) Notified(k Key, e state.Alert) (taken bool, last event.Millis) {
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

// pruneClaims removes the claims of a session that is no longer live.
func (st *Store) pruneClaims(name string, _ time.Time) error {
	if exists(st.session(Key(name))) {
		return nil
	}
	return os.RemoveAll(st.path(claimsDir, name))
}

// Decided is one line of the log of decisions: why the user was or was not notified of an
// alert. It contains no text of the session.
type Decided struct {
	At       event.Millis    `json:"at"`      // when it was decided
	Session  string          `json:"session"` // the session's id
	Kind     state.AlertKind `json:"kind"`
	AlertAt  event.Millis    `json:"edge_at"` // time of the alert
	Verdict  state.Verdict   `json:"verdict"`
	Reason   string          `json:"reason"`
	By       string          `json:"by"`       // hook, deliver, watch, serve
	Channels string          `json:"channels"` // what it was sent through, with a word on each that failed
}

// Decide appends d to the log of decisions. Callers may ignore the error: nothing depends on
// the log.
func (st *Store) Decide(d Decided) error {
	d.Session, d.Reason, d.Channels = event.Cut(d.Session, event.MaxID), event.Cut(d.Reason, event.MaxText), event.Cut(d.Channels, event.MaxText)
	return plainfile.AppendLine(st.DecisionsFile(), jsonenc.Append(nil, &d), maxDecisions)
}

// DecisionsFile is the log of decisions.
func (st *Store) DecisionsFile() string { return st.path(logDir, "notify.jsonl") }

// Decisions returns the log of decisions, the oldest first. Other lines are skipped.
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
