package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"beckon/event/jsonenc"
)

// maxLog is the size at which the log is set aside as beckon.log.1.
const maxLog = 1 << 20

// Log adds err to the log file, which is opened only now: a hook that works
// never touches it. A library for it would cost the hook 40 page faults at every
// start. Errors hold no text of a payload.
func (st *Store) Log(err error) {
	f, e := st.OpenLog()
	if e != nil {
		return
	}
	defer f.Close()
	line := jsonenc.Str([]byte{'{'}, "level", "error")
	line = jsonenc.Int(line, "pid", int64(os.Getpid()))
	line = jsonenc.Str(line, "error", err.Error())
	line = jsonenc.Str(line, "time", time.Now().UTC().Format(time.RFC3339))
	_, _ = f.Write(append(line, '}', '\n'))
}

// OpenLog opens the log to be added to; one that is full is set aside first.
// The caller closes it.
func (st *Store) OpenLog() (io.WriteCloser, error) {
	f, err := st.openRotated(st.LogFile(), maxLog)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openRotated opens a log to be added to. One that is over limit bytes is set
// aside first, in the place of the one before.
func (st *Store) openRotated(path string, limit int64) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > limit {
		_ = rename(path, path+".1")
	}
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	f, err := open(path, flags)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(st.path(logDir, ""), dirMode); err == nil {
			f, err = open(path, flags)
		}
	}
	return f, err
}
