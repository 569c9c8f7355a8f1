// Package usage tracks how much of an account's usage limits is used, as the client's status line reports
// it. Every session of an account reports, even one that has been idle for hours, so a report counts only
// if it can be newer than what is known. A window that is over is left out until a session reports the next.
package usage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
)

// Window is a limit as last reported.
type Window struct {
	event.Limit
	At event.Millis `json:"at"` // when it was reported
	By string       `json:"by"` // the session that reported it
}

// Apart is the least time, in milliseconds, between the ends of two windows: the end of one
// window may be reported some seconds earlier or later.
const Apart = 60_000

// merge returns what is known of a limit after session by has reported it at now, and whether that is new.
// Within a window usage only grows, so a lower value is an old report, unless it comes from the session
// that reported last: then it is a correction.
func (w Window) merge(l event.Limit, by string, now event.Millis) (Window, bool) {
	switch {
	case l.Resets <= now: // from a session that has been idle since
		return w, false
	case w.Resets != 0 && l.Resets <= w.Resets+Apart &&
		(l.Resets < w.Resets-Apart || l.Used < w.Used && by != w.By || l.Used == w.Used):
		return w, false
	}
	return Window{Limit: l, At: now, By: by}, true
}

// Percent returns how much is used, in percent.
func (w Window) Percent() float64 { return float64(w.Used) / 100 }

// Account is what is known of an account's limits; its file has the same form.
type Account struct {
	Name    string   `json:"account,omitempty"` // the directory of the client's configuration, empty for the usual one
	Windows []Window `json:"windows"`           // those that are not over, by name
}

// Nearest returns the limit with the most used; ok is false if there is none.
func Nearest(accounts []Account) (found Window, ok bool) {
	for _, a := range accounts {
		for _, w := range a.Windows {
			if !ok || w.Used > found.Used {
				found, ok = w, true
			}
		}
	}
	return found, ok
}

// steps are the percentages at which a user can be notified, highest first.
var steps = []int{95, 80}

// Crossing is a limit that has reached one of steps.
type Crossing struct {
	Window  Window
	Percent int
}

// crossed returns the highest step that w has reached since it was old.
func (w Window) crossed(old Window) (Crossing, bool) {
	for _, p := range steps {
		at := int64(p) * 100
		if w.Used >= at && (old.Used < at || old.Resets+Apart < w.Resets) {
			return Crossing{w, p}, true
		}
	}
	return Crossing{}, false
}

// dir is the directory of the accounts' files, one each, in beckon's state directory.
func dir(state string) string { return filepath.Join(state, "usage") }

// AccountOf names a client's account by its configuration's directory; empty for the usual one.
func AccountOf(getenv func(string) string) string {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" || filepath.Clean(dir) == filepath.Join(getenv("HOME"), ".claude") {
		return ""
	}
	return filepath.Clean(dir)
}

// ID returns the name of an account's file.
func ID(account string) string {
	if account == "" {
		return "default"
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:6])
}

// maxFile bounds what is read; real files have at most 2 KiB.
const maxFile = 16 << 10

// Report stores the limits that session by has reported for an account, and returns the account with the
// limits that have reached one of steps. Of two simultaneous reports one may be lost until its session
// reports again.
func Report(state, account, by string, limits []event.Limit, now event.Millis) (Account, []Crossing, error) {
	path := filepath.Join(dir(state), ID(account)+".json")
	known, err := read(path)
	if err != nil {
		return Account{}, nil, err
	}
	known.Name = account
	var crossed []Crossing
	news := false
	for _, l := range limits {
		var old Window
		same := func(w Window) bool { return w.Name == l.Name }
		if i := slices.IndexFunc(known.Windows, same); i >= 0 {
			old = known.Windows[i]
		}
		w, is := old.merge(l, by, now)
		if !is {
			continue
		}
		news = true
		known.Windows = append(slices.DeleteFunc(known.Windows, same), w)
		if c, ok := w.crossed(old); ok {
			crossed = append(crossed, c)
		}
	}
	if !news {
		return known.at(now), nil, nil
	}
	data, err := json.Marshal(known)
	if err == nil {
		err = plainfile.Write(path, append(data, '\n'), 0o600, false)
	}
	return known.at(now), crossed, err
}

// at returns the account without the windows that are over.
func (a Account) at(now event.Millis) Account {
	a.Windows = slices.DeleteFunc(a.Windows, func(w Window) bool { return w.Resets <= now })
	slices.SortFunc(a.Windows, func(x, y Window) int { return strings.Compare(x.Name, y.Name) })
	return a
}

// read reads an account's file. A file that is missing or not ours is empty.
func read(path string) (a Account, err error) {
	data, err := plainfile.Head(path, make([]byte, maxFile))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil && json.Unmarshal(data, &a) != nil {
		a = Account{}
	}
	return a, err
}

// Read returns every account that has limits which are not over at now.
func Read(state string, now event.Millis) ([]Account, error) {
	entries, err := os.ReadDir(dir(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Account
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		a, errRead := read(filepath.Join(dir(state), e.Name()))
		err = errors.Join(err, errRead)
		if a = a.at(now); len(a.Windows) > 0 {
			all = append(all, a)
		}
	}
	return all, err
}
