//go:build !linux && !darwin && !windows

package evidence

import (
	"os"

	"beckon/event"
	"beckon/state"
)

// There is no process evidence here: hooks, registry and transcript decide.

func parent() (pid int, start string)                { return os.Getppid(), "" }
func isParent(event.Process) bool                    { return true }
func children(int) []event.Millis                    { return nil }
func machineID() string                              { return "" }
func booted() event.Millis                           { return 0 }
func bootID() string                                 { return "" }
func pidNamespace() string                           { return "" }
func lookup(int) (proc, state.Presence)              { return proc{}, state.Unread }
func startWall(string) (start event.Millis, ok bool) { return 0, false }
