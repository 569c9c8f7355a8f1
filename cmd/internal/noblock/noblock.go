// Package noblock keeps a crashing hook from blocking the agent's call.
//
// The client takes a hook's exit code 2 for "block this call", and the Go runtime exits with 2
// whenever it must give up: no thread can be created (RLIMIT_NPROC, pids.max), no address
// space is left (RLIMIT_AS), a panic is not recovered. Much of that happens before main, and
// none of it can be caught. A program that imports this package exits with 0 instead.
//
// On Linux the runtime's own exit function is replaced at link time: by code of ours with the
// same name, marked DUPOK, of which the linker keeps the larger one. This is undocumented, so
// it is left out for newer versions of Go, where the runtime behaves as usual, until somebody
// has tried them (TestFaults in cmd/beckon-hook shows the result). On other Unixes the runtime is
// made to abort, from main on. A PreToolUse hook that ends by SIGABRT, SIGSEGV or SIGKILL, or
// whose shell then exits with 134, blocks nothing: clients 2.1.197, 2.1.329 and 2.1.330 run
// the call and show one line ("PreToolUse:Bash hook error", or "hook failed"); measured by
// TestPolicyFacts in cmd/internal/suite.
package noblock

import "os"

// Exit ends the process with the code of an intended answer, 2 included.
func Exit(code int) {
	if code != 0 {
		Off()
	}
	os.Exit(code)
}
