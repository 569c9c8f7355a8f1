package evidence

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// The test binary also plays the processes of the tests: a client that starts
// a hook, and the hook.
const (
	roleVar  = "EVIDENCE_TEST_ROLE"
	claimVar = "EVIDENCE_TEST_CLAIM" // what the client puts into CLAUDE_PID: "self", "none", or keep
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "hook":
		p := Agent("claude-code", ThisMachine(), os.Getenv)
		os.Stdout.WriteString(strconv.Itoa(p.Pid) + " " + p.Start + "\n")
	case "execs":
		playExecs()
	case "client":
		os.Exit(playClient(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// playClient prints its pid and runs the given command as a hook.
func playClient(args []string) int {
	os.Stdout.WriteString(strconv.Itoa(os.Getpid()) + " ")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+os.Getenv("EVIDENCE_TEST_NEXT"), "EVIDENCE_TEST_NEXT=hook")
	switch os.Getenv(claimVar) {
	case "self":
		cmd.Env = append(cmd.Env, "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
	case "none":
		cmd.Env = append(cmd.Env, "CLAUDE_PID=")
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1
	}
	return 0
}

// mapEnv returns an environment for a test.
func mapEnv(m map[string]string) func(string) string {
	return func(k string) string { return m[k] }
}
