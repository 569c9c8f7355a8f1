package trust

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
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
	if d.mark(claimsDir, name, via, now) {
		return true
	}
	info, err := os.Stat(d.Path(claimsDir, name))
	if err != nil || now.Sub(info.ModTime()) > claimWindow {
		_ = d.Remove(claimsDir, name)
		d.mark(claimsDir, name, via, now)
		return true
	}
	return use == "" && string(d.Read(claimsDir, name)) == via
}

// First reports whether nobody has called it with this name before, for a minute at least.
func (d Dir) First(name string, now time.Time) bool {
	return d.mark(claimsDir, Sum(name)[:32], "", now)
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

// Due returns the texts that the session's user has not seen within that time, and records that they
// are shown now.
func (d Dir) Due(session string, texts []string, every time.Duration, now time.Time) []string {
	var out []string
	for _, text := range texts {
		name := Sum(session + "\x00" + text)[:32]
		if info, err := os.Stat(d.Path(noticesDir, name)); err == nil && now.Sub(info.ModTime()) < every {
			continue
		}
		_ = d.Remove(noticesDir, name)
		d.mark(noticesDir, name, "", now)
		out = append(out, text)
	}
	return out
}
