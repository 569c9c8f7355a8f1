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

// Dir is the directory of the accounts' files, one each, in beckon's state directory.
type Dir string

// In returns the directory within beckon's state directory.
func In(state string) Dir { return Dir(filepath.Join(state, "usage")) }

// AccountOf names a client's account by its configuration's directory; empty for the usual
// one.
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

// Report stores the limits that session by has reported for an account, and returns the
// account with the limits that have reached one of steps. The file is replaced whole, and only
// if something is new. Of two simultaneous reports one may be lost until its session reports
// again.
func (d Dir) Report(account, by string, limits []event.Limit, now event.Millis) (Account, []Crossing, error) {
	path := filepath.Join(string(d), ID(account)+".json")
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
	data, err := plainfile.Head(path, make([]byte, maxFile), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil && json.Unmarshal(data, &a) != nil {
		a = Account{}
	}
	return a, err
}

// Read returns every account that has limits which are not over at now.
func (d Dir) Read(now event.Millis) ([]Account, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Account
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		a, errRead := read(filepath.Join(string(d), e.Name()))
		err = errors.Join(err, errRead)
		if a = a.at(now); len(a.Windows) > 0 {
			all = append(all, a)
		}
	}
	return all, err
}
