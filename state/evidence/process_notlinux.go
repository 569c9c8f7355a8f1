//go:build !linux

package evidence

import (
	"os"
	goruntime "runtime"
)

// Only Linux shows the files of other processes. Elsewhere a variable that the agent sets for its
// shells identifies it, and the file with its id a daemon.

func procFile(int, string, int) string { return "" }
func procLink(int, string) string      { return "" }
func pidNamespace() string             { return "" }

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
