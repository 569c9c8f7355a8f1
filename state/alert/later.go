package alert

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
)

// laterFile holds a note for a session's next hook, in the state directory: only the client
// may write to its terminal.
var laterFile = filepath.Join("usage", "told")

// maxLater bounds what is read of laterFile.
const maxLater = 1 << 10

// Later leaves a note that belongs to no session to the next hook that notifies through a
// terminal. After until it is dropped. A newer note replaces it.
func Later(stateDir, title, body string, until event.Millis) error {
	text := strconv.FormatInt(int64(until), 10) + "\n" + title + "\n" + body
	return plainfile.Write(filepath.Join(stateDir, laterFile), []byte(text), 0o600, false)
}

// TakeLater returns the waiting note to the first caller; an empty title means none.
func TakeLater(stateDir string, now event.Millis) (title, body string) {
	path := filepath.Join(stateDir, laterFile)
	mine := path + "." + strconv.Itoa(os.Getpid())
	if os.Rename(path, mine) != nil { // there is none, or another hook has taken it
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
