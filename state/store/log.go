package store

import (
	"os"
	"time"

	"beckon/event/jsonenc"
	"beckon/event/plainfile"
)

// maxLog is the size at which the log is renamed to beckon.log.1.
const maxLog = 1 << 20

// Log appends err to the log file, which it opens only now: a hook without an error never
// touches it. A logging library would cost the hook 40 page faults at every start. Errors
// contain no text of a payload.
func (st *Store) Log(err error) {
	line := jsonenc.Str([]byte{'{'}, "level", "error")
	line = jsonenc.Int(line, "pid", int64(os.Getpid()))
	line = jsonenc.Str(line, "error", err.Error())
	line = jsonenc.Str(line, "time", time.Now().UTC().Format(time.RFC3339))
	_ = plainfile.AppendLine(st.LogFile(), append(line, '}'), maxLog)
}
