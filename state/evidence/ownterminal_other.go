//go:build !linux

package evidence

import (
	"errors"
	"os"
	goruntime "runtime"
)

// ErrNoTerminal means that this process has no controlling terminal;
// ErrClientsTerminal that a client is in its foreground, too.
var (
	ErrNoTerminal      = errors.New("it has no terminal of its own")
	ErrClientsTerminal = errors.New("its terminal is an agent's")
)

// OwnTerminal returns an error if this process has no controlling terminal, since
// what an agent starts has none. Whose terminal it is cannot be seen here.
func OwnTerminal() error {
	if goruntime.GOOS == "windows" {
		return nil
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return ErrNoTerminal
	}
	return tty.Close()
}
