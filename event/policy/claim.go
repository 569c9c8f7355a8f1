package policy

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

const (
	claimsDir  = "claims"  // who answers a firing
	noticesDir = "notices" // what the user was told, and when
	stopsDir   = "stops"   // how often in a row an agent was kept going

	// claimWindow is how far apart the copies of one firing may come.
	claimWindow = 2 * time.Second
	// keepMarks is how long these files are of use at most.
	keepMarks = 24 * time.Hour
)

// Claim reports whether the caller is the first to see a firing, and names
// the firing. The client runs the same program twice when settings and a
// plugin both name it (CONTRACT 1.5). A firing with a tool_use_id is the same
// wherever it comes from; of the others two identical ones may be two, so only
// a copy of another origin, via, is the same.
//
// Who comes second applies the rules, which costs nothing, and takes over what
// the first one answered (Await): an answer twice is one answer, a command run
// twice is not.
func (d Dir) Claim(e *event.Event, payload []byte, via string, now time.Time) (name string, first bool) {
	use := gjson.GetBytes(payload, "tool_use_id").String()
	name = sumOf([]byte(strings.Join([]string{e.SessionID, e.Name, e.AgentID, use, sumOf(payload)}, "\x00")))[:32]
	if use != "" {
		via = ""
	}
	if d.mark(claimsDir, name, via, now) {
		return name, true
	}
	data, err := os.ReadFile(d.path(claimsDir, name))
	info, statErr := os.Stat(d.path(claimsDir, name))
	if err != nil || statErr != nil || now.Sub(info.ModTime()) > claimWindow {
		_ = os.Remove(d.path(claimsDir, name))
		_ = os.Remove(d.path(claimsDir, name+answered))
		d.mark(claimsDir, name, via, now)
		return name, true
	}
	return name, use == "" && string(data) == via
}

// answered is the ending of the file with what a claimed firing was answered.
const answered = ".json"

// claimed is what the first one decided, as far as it binds the second: a text
// for the agent must not come twice.
type claimed struct {
	Decision handler.Decision `json:"decision,omitempty"`
	Reason   string           `json:"reason,omitempty"`
}

// Settle tells the copies of a claimed firing what was decided.
func (d Dir) Settle(name string, v Verdict) error {
	c := claimed{v.Decision, v.Reason}
	if rank(c.Decision) < rank(handler.Ask) {
		c = claimed{}
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return d.write(b, claimsDir, name+answered)
}

// Await returns what was decided about a firing that another process claimed;
// an error when it does not say so before ctx ends: it was killed.
func (d Dir) Await(ctx context.Context, name string) (handler.Outcome, error) {
	const pause = 5 * time.Millisecond
	for {
		data, err := os.ReadFile(d.path(claimsDir, name+answered))
		var c claimed
		if err == nil && json.Unmarshal(data, &c) == nil {
			return handler.Outcome{Decision: c.Decision, Reason: c.Reason}, nil
		}
		select {
		case <-ctx.Done():
			return handler.Outcome{}, errLate
		case <-time.After(pause):
		}
	}
}

// mark makes a file that is not there yet, and reports whether it did. What
// goes wrong counts as made: a mark only ever saves work.
func (d Dir) mark(dir, name, text string, now time.Time) bool {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(d.path(dir, name), flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(d.path(dir), dirMode); err == nil {
			f, err = os.OpenFile(d.path(dir, name), flags, fileMode)
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

// prune deletes marks that are of no more use.
func (d Dir) prune(dir string, now time.Time) {
	entries, _ := os.ReadDir(d.path(dir))
	for _, e := range entries {
		limit := keepMarks
		if dir == claimsDir {
			limit = time.Minute
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > limit {
			_ = os.Remove(d.path(dir, e.Name()))
		}
	}
}

// Due returns those of the texts that the session's user was not told within
// the time, and notes that they are told now.
func (d Dir) Due(session string, texts []string, every time.Duration, now time.Time) []string {
	var out []string
	for _, text := range texts {
		name := sumOf([]byte(session + "\x00" + text))[:32]
		if info, err := os.Stat(d.path(noticesDir, name)); err == nil && now.Sub(info.ModTime()) < every {
			continue
		}
		_ = os.Remove(d.path(noticesDir, name))
		d.mark(noticesDir, name, "", now)
		out = append(out, text)
	}
	return out
}

// StopBlocks returns how often in a row the actor was kept from stopping.
func (d Dir) StopBlocks(e *event.Event) int {
	data, err := os.ReadFile(d.path(stopsDir, stopName(e)))
	if err != nil || !e.StopHook {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// StopBlocked notes that it was kept from stopping once more; n is how often
// before.
func (d Dir) StopBlocked(e *event.Event, n int) error {
	return d.write([]byte(strconv.Itoa(n+1)+"\n"), stopsDir, stopName(e))
}

func stopName(e *event.Event) string { return sumOf([]byte(e.SessionID + "\x00" + e.AgentID))[:32] }
