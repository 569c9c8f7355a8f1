package store

import (
	"os"
	"time"

	"github.com/rs/zerolog"
)

// maxLog is the size at which the log is set aside as beckon.log.1.
const maxLog = 1 << 20

// Log writes err to the log file, which is opened only now: a hook that works
// never touches it. Errors hold no text of a payload.
func (st *Store) Log(err error) {
	path := st.LogFile()
	if info, e := os.Stat(path); e == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	open := func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fileMode) }
	f, e := open()
	if os.IsNotExist(e) {
		if os.MkdirAll(st.path(logDir, ""), dirMode) != nil {
			return
		}
		f, e = open()
	}
	if e != nil {
		return
	}
	defer f.Close()
	l := zerolog.New(f)
	l.Error().Time("time", time.Now().UTC()).Int("pid", os.Getpid()).Err(err).Send()
}
