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
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
)

// Dir is where the accounts' files are: below beckon's state, a file each.
type Dir string

// In returns the directory below beckon's state directory.
func In(state string) Dir { return Dir(filepath.Join(state, "usage")) }

// AccountOf names the account of a client by the directory of its configuration:
// empty for the usual one.
func AccountOf(getenv func(string) string) string {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" || filepath.Clean(dir) == filepath.Join(getenv("HOME"), ".claude") {
		return ""
	}
	return filepath.Clean(dir)
}

// ID is the name of an account that files can have.
func ID(account string) string {
	if account == "" {
		return "default"
	}
	sum := sha256.Sum256([]byte(account))
	return hex.EncodeToString(sum[:6])
}

// maxFile bounds what is read; ours have at most 2 KiB.
const maxFile = 16 << 10

// file is what is written.
type file struct {
	Account string             `json:"account,omitempty"`
	Windows map[string]written `json:"windows"`
}

type written struct {
	Used   int64        `json:"used"` // hundredths of a percent, as in past
	Resets event.Millis `json:"resets"`
	At     event.Millis `json:"at"`
	By     string       `json:"by"`
	Past   [][2]int64   `json:"past,omitempty"` // when, and how much was used
}

func (w written) window(name string) Window {
	out := Window{Limit: event.Limit{Name: name, Used: w.Used, Resets: w.Resets}, At: w.At, By: w.By}
	for _, s := range w.Past {
		out.Past = append(out.Past, Sample{event.Millis(s[0]), s[1]})
	}
	return out
}

func (w Window) written() written {
	out := written{Used: w.Used, Resets: w.Resets, At: w.At, By: w.By}
	for _, s := range w.Past {
		out.Past = append(out.Past, [2]int64{int64(s.At), s.Used})
	}
	return out
}

// Report notes what session by has reported of an account, and returns what is known
// of it then, and the limits that have come to one of Steps with it. The file is
// replaced whole, and only when there is news. Of two reports at the same time one may
// be lost until its session reports again.
func (d Dir) Report(account, by string, limits []event.Limit, now event.Millis) (Account, []Crossing, error) {
	path := filepath.Join(string(d), ID(account)+".json")
	known, err := read(path)
	if err != nil {
		return Account{}, nil, err
	}
	known.Account = account
	var crossed []Crossing
	news := false
	for _, l := range limits {
		old := known.Windows[l.Name].window(l.Name)
		w, is := old.merge(l, by, now)
		if !is {
			continue
		}
		news = true
		known.Windows[l.Name] = w.written()
		if c, ok := w.crossed(old); ok {
			crossed = append(crossed, c)
		}
	}
	if !news {
		return known.at(now), nil, nil
	}
	data, err := json.Marshal(known)
	if err == nil {
		err = atomicfile.Write(path, append(data, '\n'), 0o600, false)
	}
	return known.at(now), crossed, err
}

// at is the account with what is not over.
func (f file) at(now event.Millis) Account {
	a := Account{Name: f.Account}
	for name, w := range f.Windows {
		if w.Resets > now {
			a.Windows = append(a.Windows, w.window(name))
		}
	}
	slices.SortFunc(a.Windows, func(x, y Window) int { return strings.Compare(x.Name, y.Name) })
	return a
}

// read reads an account's file. One that is not there, or is not ours, holds nothing.
func read(path string) (file, error) {
	none := file{Windows: map[string]written{}}
	data, err := plainfile.Head(path, make([]byte, maxFile), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	var f file
	if json.Unmarshal(data, &f) != nil || f.Windows == nil {
		return none, nil
	}
	return f, nil
}

// Read returns every account with the limits that are not over at now; an account
// without any is left out.
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
		f, errRead := read(filepath.Join(string(d), e.Name()))
		if errRead != nil {
			err = errors.Join(err, errRead)
			continue
		}
		if a := f.at(now); len(a.Windows) > 0 {
			all = append(all, a)
		}
	}
	return all, err
}
