package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// Newest calls each for the events in the last size bytes of a session's journal, the
// oldest first. Rotated journals are not looked at. Like Lines it takes no lock.
func (st *Store) Newest(k Key, size int64, each func(Line)) error {
	f, err := open(st.journal(k), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	end, _, err := f.Size()
	if err != nil {
		return err
	}
	// What begins in the middle of a line does not parse, and is passed over.
	_, _, err = scanFor(f, max(0, end-size), isEvent, func(l Line, _, _ int64) {
		if l.Change.Event != nil {
			each(l)
		}
	})
	return err
}

// isEvent reports whether a line is an event's, at a glance.
func isEvent(line []byte) bool {
	return bytes.Contains(line[:min(len(line), 80)], []byte(`"kind":"event"`))
}
