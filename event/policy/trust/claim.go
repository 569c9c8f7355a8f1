package trust

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/plainfile"

	"github.com/tidwall/gjson"
)

const (
	claimsDir  = "claims"  // who answers an invocation
	noticesDir = "notices" // what the user was told, and when

	claimWindow = 2 * time.Second // the longest time between the copies of one invocation
	keepNotices = 24 * time.Hour  // how long notices are of use
)

// Claim reports whether the caller is the first to see an invocation: the client runs the program twice
// if settings and a plugin both name it, and a policy's command run twice may do harm. An invocation
// with a tool_use_id is the same wherever it comes from; without one, only a copy of another origin, via, is.
func (d Dir) Claim(e *event.Event, payload []byte, via string, now time.Time) (first bool) {
	use := gjson.GetBytes(payload, "tool_use_id").String()
	name := Sum(strings.Join([]string{e.SessionID, e.Name, e.AgentID, use, Sum(payload)}, "\x00"))[:32]
	if use != "" {
		via = ""
	}
	return !d.seen(claimsDir, name, via, claimWindow, now) || use == "" && string(d.Read(claimsDir, name)) == via
}

// First reports whether nobody has called it with this name in the last minute.
func (d Dir) First(name string, now time.Time) bool {
	return !d.seen(claimsDir, Sum(name)[:32], "", time.Minute, now)
}

// Due returns the texts that the session's user has not seen within that time, and counts them as seen.
func (d Dir) Due(session string, texts []string, every time.Duration, now time.Time) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		return d.seen(noticesDir, Sum(session + "\x00" + text)[:32], "", every, now)
	})
}

// seen reports whether a mark was made within a time. If not, it is made now.
func (d Dir) seen(dir, name, text string, within time.Duration, now time.Time) bool {
	if d.mark(dir, name, text, now) {
		return false
	}
	info, err := os.Stat(d.Path(dir, name))
	if err == nil && now.Sub(info.ModTime()) < within {
		return true
	}
	_ = d.Remove(dir, name)
	d.mark(dir, name, text, now)
	return false
}

// mark creates a file if it does not exist, and reports whether it did; a failure counts as created.
func (d Dir) mark(dir, name, text string, now time.Time) bool {
	err := os.MkdirAll(d.Path(dir), dirMode)
	if err == nil {
		err = plainfile.Create(d.Path(dir, name), []byte(text))
	}
	if now.UnixNano()%64 == 0 { // now and then
		d.prune(dir, now)
	}
	return !errors.Is(err, fs.ErrExist)
}

// prune deletes marks that are no longer of use.
func (d Dir) prune(dir string, now time.Time) {
	entries, _ := os.ReadDir(d.Path(dir))
	limit := cmp.Or(map[string]time.Duration{claimsDir: time.Minute, noticesDir: keepNotices}[dir], onceFor)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > limit {
			_ = d.Remove(dir, e.Name())
		}
	}
}

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
	b, _ := json.Marshal(r) // texts
	d.prune(refusedDir, now)
	text := rand.Text() // of A to Z and 2 to 7
	code = text[:4] + "-" + text[4:8]
	return code, d.Write(b, refusedDir, code)
}

// Allow lets the refused call of that code pass once, and returns it.
func (d Dir) Allow(code string, now time.Time) (r Refused, err error) {
	code = strings.ToUpper(strings.TrimSpace(code))
	if !filepath.IsLocal(code) || json.Unmarshal(d.Read(refusedDir, code), &r) != nil {
		return r, ErrNoCode
	}
	// Only one of two callers removes it.
	if err := os.Remove(d.Path(refusedDir, code)); errors.Is(err, fs.ErrNotExist) || now.After(r.Expires) {
		return r, ErrNoCode
	} else if err != nil {
		return r, err
	}
	r.Expires = now.Add(onceFor)
	b, _ := json.Marshal(r)
	return r, d.Write(b, allowedDir, r.Call)
}

// Allows reports whether the user has allowed calls that may still come, or came within ten minutes.
func (d Dir) Allows() bool { return d.has(allowedDir) }

// Take returns the call of that name if the user allowed it: once, but for all copies of the invocation, which
// its tool use identifies.
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
