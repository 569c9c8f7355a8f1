//go:build !linux

package evidence

// runsAgent is Linux's: elsewhere the arguments of another process are not looked
// at, and what an agent puts into the environment of its shells tells.
func runsAgent(int) bool { return false }

// programs is Linux's, too.
func programs(int) []string { return nil }
