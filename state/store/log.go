package store

import (
	"os"
	"time"

	"beckon/event/jsonenc"
	"beckon/event/plainfile"
)

// maxLog is the size at which the log is set aside as beckon.log.1.
const maxLog = 1 << 20

// Log adds err to the log file, which is opened only now: a hook that works
// never touches it. A library for it would cost the hook 40 page faults at every
// start. Errors hold no text of a payload.
func (st *Store) Log(err error) {
	line := jsonenc.Str([]byte{'{'}, "level", "error")
	line = jsonenc.Int(line, "pid", int64(os.Getpid()))
	line = jsonenc.Str(line, "error", err.Error())
	line = jsonenc.Str(line, "time", time.Now().UTC().Format(time.RFC3339))
	_ = plainfile.AppendLine(st.LogFile(), append(line, '}'), maxLog)
}
