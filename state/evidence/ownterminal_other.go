//go:build !linux

package evidence

import (
	"os"
	goruntime "runtime"
)

// OwnTerminal returns an error if this process has no controlling terminal, as the programs
// that an agent starts have none. Whose terminal it is cannot be seen here.
func OwnTerminal() error {
	if goruntime.GOOS == "windows" {
		return nil
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return errNoTerminal
	}
	return tty.Close()
}
