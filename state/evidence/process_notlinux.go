//go:build !linux

package evidence

import (
	"os"
	goruntime "runtime"

	"beckon/event"
)

// runsAgent is Linux's only. Elsewhere the arguments of other processes are not read; there a
// variable that the agent sets for its shells identifies it.
func runsAgent(int) bool { return false }

// programs is Linux's only, too.
func programs(int) []string { return nil }

// servesOthers is always false here: the file with the daemon's id identifies it.
func servesOthers(int) bool { return false }

// clientsIn finds nothing here.
func clientsIn(string, client, int) []sitting { return nil }

// Unrecorded finds nothing here.
func Unrecorded(string) []Reading { return nil }

// TerminalOf knows nothing here.
func TerminalOf(int) event.Terminal { return event.Terminal{} }

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
