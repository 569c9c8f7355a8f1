package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/state"
)

// spool keeps an event whose session could not be locked in time, for the
// next holder. The directory is there only while something is in it, so that
// a hook finds out by one failed open.
func (st *Store) spool(k Key, c state.Change) error {
	c.Seq = 1 // a line without a number is none; the holder gives the real one
	b := appendLine(nil, Line{Change: c})
	// The pid makes the name unique among writers, the time among one's events.
	name := string(k) + "." + strconv.FormatInt(int64(c.At), 10) + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(int64(spoolCount.Add(1)), 10) + ".json"
	return replaceMaking(st.path(spoolDir, "."+name), st.path(spoolDir, name), st.path(spoolDir, ""), b)
}

// drain folds the spooled events of the session in the order of their times.
// One that cannot be written stays for the next holder.
func (h *held) drain() {
	names, err := readNames(h.st.path(spoolDir, ""))
	if err != nil {
		return
	}
	mine := slices.DeleteFunc(names, func(n string) bool { return spoolKey(n) != h.key })
	sortBy(mine, func(n string) int64 { return int64(spoolAt(n)) })
	for _, n := range mine {
		path := h.st.path(spoolDir, n)
		data, err := readFile(path, maxFile)
		if err != nil {
			continue
		}
		l, err := parseLine(data[:max(0, len(data)-1)])
		if err != nil || l.Snapshot != nil {
			_ = h.st.quarantine(path)
			continue
		}
		u := Update{Change: l.Change}
		h.place(&u)
		if h.apply(u) != nil {
			return
		}
		h.spooled = append(h.spooled, path)
	}
}

// removeSpooled removes the spool files that the journal now holds.
func (h *held) removeSpooled() {
	for _, p := range h.spooled {
		_ = os.Remove(p)
	}
	if len(h.spooled) > 0 {
		_ = os.Remove(h.st.path(spoolDir, "")) // only when it is empty
	}
	h.spooled = nil
}

// DrainSpool folds everything that is spooled, for readers.
func (st *Store) DrainSpool() error {
	names, err := readNames(st.path(spoolDir, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	done := map[Key]bool{}
	for _, n := range names {
		k := spoolKey(n)
		if k == "" || done[k] {
			continue
		}
		done[k] = true
		err = errors.Join(err, st.Heal(k))
	}
	return err
}

// spoolKey returns the key in a spool file's name, empty for other files.
func spoolKey(name string) Key {
	k, _, ok := strings.Cut(name, ".")
	if !ok || !strings.HasSuffix(name, ".json") {
		return ""
	}
	return Key(k)
}

func spoolAt(name string) event.Millis {
	_, rest, _ := strings.Cut(name, ".")
	at, _, _ := strings.Cut(rest, "-")
	n, _ := strconv.ParseInt(at, 10, 64)
	return event.Millis(n)
}
