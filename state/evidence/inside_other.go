//go:build !linux

package evidence

// runsAgent is Linux's only. Elsewhere the arguments of other processes are not read; there a
// variable that the agent sets for its shells identifies it.
func runsAgent(int) bool { return false }

// programs is Linux's only, too.
func programs(int) []string { return nil }

// servesOthers is always false here: the file with the daemon's id identifies it.
func servesOthers(int) bool { return false }

// clientsIn finds nothing here.
func clientsIn(string, client, int) []sitting { return nil }
