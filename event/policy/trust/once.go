package trust

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"beckon/event/plainfile"
)

const (
	refusedDir = "refused" // calls that the user may allow, by their code
	allowedDir = "allowed" // calls that the user allowed, by name
	takenDir   = "taken"   // those that came again, by name and tool use

	onceFor = 10 * time.Minute // how long a code is valid, and then the user's permission
)

// Refused is a call that the policy refused, or the client's own check.
type Refused struct {
	Call    string    `json:"call"` // its hash: session, tool, input, directory
	Tool    string    `json:"tool"`
	Subject string    `json:"subject"`          // the command or file, redacted and cut
	Reason  string    `json:"reason"`           // redacted and cut
	Client  bool      `json:"client,omitempty"` // the client refused it, not the policy
	Expires time.Time `json:"expires"`
}

// ErrNoCode means that a code was never issued, was used already or has expired.
var ErrNoCode = errors.New("no refused call has this code")

// CallName names a call for Refuse and Take: only the same call of the same session and directory has it.
func CallName(session, cwd, tool string, input []byte) string {
	return Sum(strings.Join([]string{session, cwd, tool, string(input)}, "\x00"))
}

// Refuse records a refused call and returns the code by which the user can allow it once.
func (d Dir) Refuse(r Refused, now time.Time) (code string, err error) {
	r.Subject, r.Reason, r.Expires = Kept(r.Subject), Kept(r.Reason), now.Add(onceFor)
	b, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	d.prune(refusedDir, now)
	text := rand.Text() // of codeLetters
	code = text[:4] + "-" + text[4:8]
	return code, d.Write(b, refusedDir, code)
}

// codeLetters are the characters of codes: without digits that look like letters.
const codeLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// Allow lets the refused call of that code pass once, and returns it. The error is ErrNoCode, or what is
// wrong with the file.
func (d Dir) Allow(code string, now time.Time) (r Refused, err error) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if len(code) != 9 || strings.Trim(code, codeLetters+"-") != "" {
		return r, ErrNoCode
	}
	b, err := plainfile.ReadFile(d.Path(refusedDir, code))
	if errors.Is(err, fs.ErrNotExist) {
		return r, ErrNoCode
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("reading the refused call: %w", err)
	}
	// Only one of two callers removes it.
	if err := os.Remove(d.Path(refusedDir, code)); errors.Is(err, fs.ErrNotExist) || now.After(r.Expires) {
		return r, ErrNoCode
	} else if err != nil {
		return r, err
	}
	r.Expires = now.Add(onceFor)
	if b, err = json.Marshal(r); err != nil {
		return r, err
	}
	return r, d.Write(b, allowedDir, r.Call)
}

// Allows reports whether the user has allowed calls that may still come, or came within ten minutes.
func (d Dir) Allows() bool {
	_, err := os.Lstat(d.Path(allowedDir))
	return err == nil
}

// Take returns the call of that name if the user allowed it: once, but for all copies of the
// invocation, which its tool use identifies. The client asks every copy, and one refusal would be
// enough.
func (d Dir) Take(call, use string, now time.Time) (r Refused, ok bool) {
	taken := Sum(call + "\x00" + cmp.Or(use, rand.Text())) // a call without an id is like no other
	if d.Read(allowedDir, call) != nil && os.MkdirAll(d.Path(takenDir), dirMode) == nil {
		_ = os.Rename(d.Path(allowedDir, call), d.Path(takenDir, taken)) // or another copy did
	}
	if d.Allows() {
		d.prune(allowedDir, now)
		d.prune(takenDir, now)
		if d.Remove(takenDir) == nil { // no further copy may ask
			_ = d.Remove(allowedDir) // unless another call may come
		}
	}
	ok = json.Unmarshal(d.Read(takenDir, taken), &r) == nil && r.Call == call && now.Before(r.Expires)
	return r, ok
}
