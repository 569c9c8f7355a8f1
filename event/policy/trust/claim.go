package trust

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"beckon/event"

	"github.com/tidwall/gjson"
)

const (
	claimsDir  = "claims"  // who answers an invocation
	noticesDir = "notices" // what the user was told, and when

	claimWindow = 2 * time.Second // the longest time between the copies of one invocation
	keepMarks   = 24 * time.Hour  // how long these files are of use
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

// Due returns the texts that the session's user has not seen within that time, and records that they
// are shown now.
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
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(d.Path(dir, name), flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(d.Path(dir), dirMode); err == nil {
			f, err = os.OpenFile(d.Path(dir, name), flags, fileMode)
		}
	}
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	_, _ = f.WriteString(text)
	_ = f.Close()
	if rand.IntN(64) == 0 {
		d.prune(dir, now)
	}
	return true
}

// prune deletes marks that are no longer of use.
func (d Dir) prune(dir string, now time.Time) {
	entries, _ := os.ReadDir(d.Path(dir))
	for _, e := range entries {
		limit := keepMarks
		switch dir {
		case claimsDir:
			limit = time.Minute
		case refusedDir, allowedDir, takenDir:
			limit = onceFor
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > limit {
			_ = d.Remove(dir, e.Name())
		}
	}
}
