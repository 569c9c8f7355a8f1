package alert

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/atomicfile"
	"beckon/event/plainfile"
)

// laterFile is where a note waits for a session's hook, below the state directory: the
// client alone may write to its terminal.
var laterFile = filepath.Join("usage", "told")

// maxLater bounds what is read of it.
const maxLater = 1 << 10

// Later leaves a note of no session to the next hook that tells a terminal of a state.
// After until it is not told any more. A newer note takes its place.
func Later(stateDir, title, body string, until event.Millis) error {
	text := strconv.FormatInt(int64(until), 10) + "\n" + title + "\n" + body
	return atomicfile.Write(filepath.Join(stateDir, laterFile), []byte(text), 0o600, false)
}

// TakeLater returns the note that waits, to the first that asks; no title means none.
func TakeLater(stateDir string, now event.Millis) (title, body string) {
	path := filepath.Join(stateDir, laterFile)
	mine := path + "." + strconv.Itoa(os.Getpid())
	if os.Rename(path, mine) != nil { // there is none, or another hook has it
		return "", ""
	}
	text, err := plainfile.Head(mine, make([]byte, maxLater), 0)
	until, rest, _ := strings.Cut(string(text), "\n")
	n, errTime := strconv.ParseInt(until, 10, 64)
	if errors.Join(err, os.Remove(mine), errTime) != nil || event.Millis(n) <= now {
		return "", ""
	}
	title, body, _ = strings.Cut(rest, "\n")
	return title, body
}
