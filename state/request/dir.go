package request

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/event/transcript"
	"beckon/state"
	"beckon/state/evidence"

	"github.com/tidwall/gjson"
)

// The files of an open request, in a directory of its own.
const (
	callFile   = "offer.json" // a line for the request; then what the client sent, byte for byte
	answerFile = "answer.json"
	shownFile  = "shown"  // a command has shown the whole request
	notifyFile = "notify" // it is to be shown with buttons; see Notify
)

// Dir is the state directory, whose requests are meant.
type Dir string

// In returns the requests of a state directory.
func In(stateDir string) Dir { return Dir(stateDir) }

func (d Dir) path(elem ...string) string {
	return filepath.Join(string(d), "offers", filepath.Join(elem...))
}

// OpenDir returns the directory of the open requests, by id; there is none before the first.
func (d Dir) OpenDir() string { return d.path("open") }

func (d Dir) open(elem ...string) string { return filepath.Join(d.OpenDir(), filepath.Join(elem...)) }

// done is where the outcomes are kept afterwards, for an hour.
func (d Dir) done(elem ...string) string { return d.path("done", filepath.Join(elem...)) }

// has reports whether an open request has a file.
func (d Dir) has(id, file string) bool { return plainfile.Exists(d.open(id, file)) }

// idLetters are the letters of crypto/rand.Text.
const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// IsID reports whether id may be a request's. Such an id cannot lead out of the directory.
func IsID(id string) bool { return len(id) == 26 && strings.Trim(id, idLetters) == "" }

// Digest is the digest of a payload, or of another file.
func Digest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// Make writes a request, sets its id and digest, and removes the remains of old ones.
func (d Dir) Make(r *Request, now time.Time) error {
	d.Sweep(now)
	done, _ := os.ReadDir(d.done()) // none yet, or unreadable: nothing to remove
	for _, n := range done {
		if info, err := n.Info(); err == nil && now.Sub(info.ModTime()) > kept {
			_ = os.RemoveAll(d.done(n.Name()))
		}
	}
	r.ID = rand.Text() // 130 random bits
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(append(b, '\n'), r.Payload...)
	r.Digest = Digest(b)
	// It is made under a name that no reader takes for a request's.
	tmp := d.open("." + r.ID)
	if err := os.MkdirAll(tmp, dirMode); err != nil {
		return err
	}
	if err = os.WriteFile(filepath.Join(tmp, callFile), b, fileMode); err == nil {
		err = os.Rename(tmp, d.open(r.ID))
	}
	if err != nil {
		_ = os.RemoveAll(tmp)
	}
	return err
}

// Load reads an open request. The error is ErrNone if no request has that id, that of ended if the
// request is over.
func (d Dir) Load(id string) (Request, error) {
	if !IsID(id) {
		return Request{}, ErrNone
	}
	r, err := read(d.open(id))
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if _, err := os.Stat(d.done(id)); err == nil || d.has(id, "") { // Close removes the call first
		return r, d.ended(id)
	}
	return r, ErrNone
}

// ended says what became of a request that is over: a *TakenError, or ErrOver with the reason.
func (d Dir) ended(id string) error {
	became, known := d.Outcome(id, 0)
	if by, ok := d.Answered(id); ok && (became.Taken || !known) {
		return &TakenError{by}
	}
	if became.Why != "" {
		return overError(became.Why)
	}
	return ErrOver
}

func read(dir string) (r Request, err error) {
	b, err := plainfile.ReadFile(filepath.Join(dir, callFile))
	line, payload, _ := bytes.Cut(b, []byte{'\n'})
	if err == nil && (!jsonenc.Decode(string(line), &r) || r.Record == "" || r.Made == 0 ||
		r.ID != strings.TrimPrefix(filepath.Base(dir), ".")) {
		err = errors.New("reading the request: it is damaged")
	}
	r.Payload, r.Digest = payload, Digest(b)
	return r, err
}

// List returns the requests that can be answered, oldest first. It leaves out those that cannot be
// read, and those of a kind that this version does not know, such as the forms of earlier ones.
func (d Dir) List(now time.Time) ([]Request, error) {
	d.Sweep(now)
	names, err := os.ReadDir(d.OpenDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	here := evidence.ThisMachine()
	var list []Request
	for _, n := range names {
		if !IsID(n.Name()) || d.has(n.Name(), answerFile) {
			continue
		}
		r, err := read(d.open(n.Name()))
		if err == nil && answers[r.Kind] != nil && r.Expires > event.MillisOf(now) &&
			here.Presence(r.Client, r.Made) != state.Gone {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Request) int {
		return cmp.Or(cmp.Compare(a.Made, b.Made), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// StillOpen reports whether r has neither ended nor been answered.
func (d Dir) StillOpen(r *Request) bool { return d.has(r.ID, "") && !d.has(r.ID, answerFile) }

// stale reports whether nobody has touched the request in dir for a while.
func stale(dir string, now time.Time) bool {
	info, err := os.Stat(filepath.Join(dir, callFile))
	if err != nil {
		info, err = os.Stat(dir)
	}
	return err == nil && now.Sub(info.ModTime()) >= silent
}

// Sweep closes the requests whose process was killed: the text of their calls must not outlive it.
func (d Dir) Sweep(now time.Time) {
	names, err := os.ReadDir(d.OpenDir())
	if err != nil || len(names) == 0 {
		return
	}
	here := evidence.ThisMachine()
	for _, n := range names {
		dir := d.open(n.Name())
		r, err := read(dir)
		var is state.Presence // unknown of a waiter on another machine, which keeps the file fresh
		if err == nil {
			is = here.Presence(r.Waiter, r.Made)
		}
		switch {
		case is == state.Alive, is != state.Gone && !stale(dir, now):
		case err == nil && IsID(n.Name()):
			d.Close(n.Name(), WhyKilled)
		default:
			_ = os.RemoveAll(dir)
		}
	}
}

// Give gives an answer to the request that it names. Of several answers one is accepted; the others
// get a *TakenError. Other errors are ErrNone, ErrOver, ErrExpired, ErrChanged, and those of Fits.
func (d Dir) Give(a Answer, now time.Time) error {
	d.Sweep(now)
	r, err := d.Load(a.Request)
	switch err := cmp.Or(err, r.Fits(a)); {
	case err != nil:
		return err
	case event.MillisOf(now) >= r.Expires:
		return ErrExpired
	case evidence.Presence(r.Client, r.Made) == state.Gone:
		return ErrOver
	}
	a.At = event.MillisOf(now)
	b, err := json.Marshal(a)
	if err == nil {
		err = plainfile.Create(d.open(r.ID, answerFile), b)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return d.ended(r.ID)
	}
	return err
}

// Answer gives the user's answer to r, the request that they were shown, signed if they have a PIN,
// and waits until the client has it. It returns what that did ("allowed"), or why it did not count.
func (d Dir) Answer(r *Request, a Answer, unlock Unlock) (did string, err error) {
	a.Request, a.Digest = r.ID, r.Digest
	if d.HasPIN() {
		key, err := unlock()
		if err != nil {
			return "", err
		}
		key.Sign(r, &a)
	}
	if err := d.Give(a, time.Now()); err != nil {
		return "", err
	}
	switch out, known := d.Outcome(r.ID, Delivery); {
	case !known:
		return "", overError("the process that waits has not taken it yet")
	case !out.Taken:
		return "", overError(out.Why)
	case a.Word == Deny && r.DialogWon(recorded):
		return "", overError("it was answered in the session first")
	}
	return answers[r.Kind][a.Word], nil
}

// given returns a request whose digest was digest when it was made, and the user's answer to it.
func (d Dir) given(id, digest string) (r Request, a Answer, err error) {
	if r, err = d.Load(id); err != nil {
		return r, a, err
	}
	if r.Digest != digest {
		return r, a, ErrChanged
	}
	a, _ = d.Answered(id)
	return r, a, cmp.Or(r.Fits(a), d.Verify(&r, &a))
}

// Show notes that the user was shown the whole request: without it a session's name allows nothing.
func (d Dir) Show(id string) error { return os.WriteFile(d.open(id, shownFile), nil, fileMode) }

// Shown reports whether the user was shown the whole request.
func (d Dir) Shown(id string) bool { return d.has(id, shownFile) }

// Answered returns the answer that a request was given, even if it is over.
func (d Dir) Answered(id string) (a Answer, ok bool) {
	if !IsID(id) {
		return a, false
	}
	// The second is what a process of an earlier version kept.
	for _, path := range [...]string{d.open(id, answerFile), d.done(id, answerFile)} {
		if b, err := plainfile.ReadFile(path); err == nil && json.Unmarshal(b, &a) == nil {
			return a, true
		}
	}
	out, _ := d.Outcome(id, 0)
	return out.Answer, out.Answer.Word != ""
}

// Past finds a request that is over, by the beginning of its id, and says what became of it.
func (d Dir) Past(beginning string) (id string, became error) {
	names, _ := os.ReadDir(d.done()) // none yet, or unreadable: none is found
	for _, n := range names {
		if beginning != "" && strings.HasPrefix(n.Name(), beginning) && IsID(n.Name()) {
			return n.Name(), d.ended(n.Name())
		}
	}
	return "", nil
}

// Close closes a request: it takes no answer any more. why says why the client got none, empty if
// it did. The call's text and the user's words are removed; who answered is kept for an hour. It
// returns false if the request was closed before.
func (d Dir) Close(id, why string) bool {
	if !IsID(id) || !d.has(id, "") {
		return false
	}
	_ = os.Remove(d.open(id, callFile)) // first, so that no kill leaves it behind
	out := Outcome{Taken: why == "", Why: why, At: event.MillisOf(time.Now())}
	out.Answer, _ = d.Answered(id)
	out.Answer.Message, out.Answer.Choices, out.Answer.Signature = "", nil, nil
	b, err := json.Marshal(out)
	if err == nil {
		err = cmp.Or(os.MkdirAll(d.done(), dirMode), plainfile.Create(d.done(id), b))
	}
	gone := d.open("." + id) // at once: no other answer may take the place of one that is removed
	_ = os.Rename(d.open(id), gone)
	_ = errors.Join(os.RemoveAll(gone), os.RemoveAll(d.open(id))) // what stays is removed by Sweep
	return err == nil
}

// Outcome waits, at most that long, until it is known what became of a request.
func (d Dir) Outcome(id string, wait time.Duration) (out Outcome, known bool) {
	if !IsID(id) {
		return out, false
	}
	known = until(wait, 5*time.Millisecond, func() bool {
		b, err := plainfile.ReadFile(d.done(id))
		if err != nil { // an earlier version waited: it keeps a directory
			b, err = plainfile.ReadFile(d.done(id, "outcome.json"))
		}
		return err == nil && json.Unmarshal(b, &out) == nil
	})
	return out, known
}

// until calls is every so often until it returns true, which it reports, at most that long.
func until(most, every time.Duration, is func() bool) bool {
	for end := time.Now().Add(most); !is(); time.Sleep(every) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Notify has the process that waits at a request start the one that shows it to the user with
// buttons: a button counts only from a child of the process that waits. It works once.
func (d Dir) Notify(id string) error { return plainfile.Create(d.open(id, notifyFile), nil) }

// DialogWon reports whether the user allowed at the session what the client was given a Deny for: at
// the same moment, so that only the transcript tells, and not for subagents.
func (r *Request) DialogWon(wait time.Duration) bool {
	path := gjson.GetBytes(r.Payload, "transcript_path").String()
	if path == "" || r.UseID == "" || r.Actor != "" || r.Kind != Permission {
		return false
	}
	hook, known := false, false
	until(wait, 20*time.Millisecond, func() bool {
		hook, known = transcript.Decided(path, r.UseID)
		return hook // on a busy machine the client may write the result before the one who decided
	})
	return known && !hook
}
