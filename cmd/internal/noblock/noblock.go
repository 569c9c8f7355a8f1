// Package noblock keeps a hook that dies from blocking the agent's call.
//
// The client takes exit code 2 of a hook for "block this call", and 2 is what
// the Go runtime ends with whenever it must give up: no thread can be made
// (RLIMIT_NPROC, pids.max), no address space is left (RLIMIT_AS), a panic that
// nobody recovers. Much of that happens before main, and none of it can be
// caught. A program that imports this package ends with 0 instead.
//
// On Linux the runtime's own exit is replaced when the program is linked: code
// of ours by the same name, marked DUPOK, of which the linker keeps the larger
// one. No document promises that, so newer versions of Go leave it out until
// somebody has tried (TestFaults in cmd/beckon-hook tells), and the runtime's
// own behaviour comes back. On other Unixes the runtime is made to abort, from
// main on. A PreToolUse hook that SIGABRT, SIGSEGV or SIGKILL ends, or whose shell
// then ends with 134, blocks nothing: clients 2.1.197, 2.1.329 and 2.1.330 run the
// call and show one line ("PreToolUse:Bash hook error", or "hook failed"); measured by
// TestPolicyFacts in cmd/internal/suite.
package noblock
