//go:build !linux

package evidence

// runsAgent is Linux's: elsewhere the arguments of another process are not looked
// at, and what an agent puts into the environment of its shells tells.
func runsAgent(int) bool { return false }

// programs is Linux's, too.
func programs(int) []string { return nil }

// servesOthers reports nothing here: the file with the daemon's id says it.
func servesOthers(int) bool { return false }

// onlyClient finds nothing here.
func onlyClient(client, int, string) (pid int, start string, getenv env) { return 0, "", nil }
