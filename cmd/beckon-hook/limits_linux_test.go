package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// lonely is a user without other processes, so that a limit on their number applies only to
// the hook. Such limits do not apply to root.
const lonely = 54321

// limit is a limit of the machine on a hook.
type limit struct {
	name   string
	values []string
	// under returns the beginning of a command line that sets the limit.
	under func(value string) []string
	user  bool                                      // it applies only to users other than root
	join  func(t *testing.T, value string, pid int) // sets the limit for a process that waits
}

func limits() []limit {
	prlimit := func(what, unit string) func(string) []string {
		return func(value string) []string { return []string{"prlimit", "--" + what + "=" + value + unit} }
	}
	return []limit{
		{name: "threads and processes of the user (RLIMIT_NPROC)", values: words("1 2 3 4 5 6 7 8"), under: prlimit("nproc", ""), user: true},
		{name: "address space, in MB (RLIMIT_AS)", values: words("2 8 32 64 100 128 256 512 1024 2048"), under: prlimit("as", "000000")},
		{name: "descriptors (RLIMIT_NOFILE)", values: words("3 4 5 6 7 8"), under: prlimit("nofile", "")},
		{name: "data segment, in MB (RLIMIT_DATA)", values: words("1 4 16"), under: prlimit("data", "000000")},
		{name: "stack, in KB (RLIMIT_STACK)", values: words("16 64 256"), under: prlimit("stack", "000")},
		{name: "threads and processes of the group (pids.max)", values: words("1 2 3 4 5 6"), under: func(string) []string { return nil }, join: joinGroup},
	}
}

func words(s string) []string { return strings.Fields(s) }

const limitTable = "../../testdata/faults/LIMITS.md"

const limitHead = `# Hooks under limits

Written by ` + "`BECKON_UPDATE=1 go test ./cmd/beckon-hook -run TestLimits`" + ` on one machine; how far a hook gets depends on its kernel and on what Go
opens for itself. The test holds what must be so everywhere: no hook ends with code 2, which the client takes for "block this
call", unless a policy says so. Killed is a signal of the kernel's, before any code of Go's runs: measured with SIGABRT, SIGSEGV
and SIGKILL in PreToolUse, the client runs the call and its screen says "hook error" (2.1.197) or "hook failed" (2.1.329, 2.1.330).

| limit | values tried | without a policy | with a policy that refuses the call |
|---|---|---|---|
`

// No limit makes a hook exit with code 2 or another one of its own, with a policy and without.
func TestLimits(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("limits are set for another user, which root can")
	}
	table, all := limitHead, true
	for _, l := range limits() {
		row := "| " + l.name + " | " + strings.Join(l.values, ", ")
		for _, policy := range []bool{false, true} {
			all = t.Run(l.name+map[bool]string{true: ", with a policy"}[policy], func(t *testing.T) {
				counts := map[string]int{}
				for _, v := range l.values {
					counts[hookUnder(t, l, v, policy)]++
				}
				row += " | " + summed(counts)
			}) && all
		}
		table += row + " |\n"
	}
	if os.Getenv("BECKON_UPDATE") != "" && all {
		check(t, os.WriteFile(limitTable, []byte(table), 0o644))
	}
}

func summed(counts map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[what], what))
	}
	return strings.Join(parts, ", ")
}

// hookUnder runs a hook under a limit and describes the result.
func hookUnder(t *testing.T, l limit, value string, policy bool) string {
	t.Helper()
	dir := t.TempDir()
	env := environ(dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "etc"))
	if policy {
		check(t, writeText(filepath.Join(dir, "etc", "beckon", "policy.json"), refuse))
	}
	open := &trial{nobody: l.user}
	var out, errs bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", `read go <&3; exec "$@" 3<&-`, "sh")
	cmd.Args = append(append(cmd.Args, l.under(value)...), program(t, "beckon-hook"), "PreToolUse")
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(forced), &out, &errs
	open.drop(t, cmd)
	if l.user {
		check(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, lonely, lonely))
		}), os.Chmod(filepath.Dir(dir), 0o755))
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: lonely, Gid: lonely}
	}
	r, w, err := os.Pipe()
	check(t, err)
	cmd.ExtraFiles = []*os.File{r}
	check(t, cmd.Start())
	if l.join != nil {
		l.join(t, value, cmd.Process.Pid)
	}
	check(t, w.Close(), r.Close())
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return "killed"
	case err != nil:
		t.Errorf("%s: %v, stderr %.300q", value, err, errs.String())
	case strings.HasPrefix(out.String(), `{"systemMessage"`):
		return "told that the policy is not in force"
	case out.Len() > 0 && out.String() != answer:
		t.Errorf("%s: the hook says %q", value, out.String())
	case out.Len() > 0:
		return "answered"
	case names(filepath.Join(dir, "state", "sessions")) > 0:
		return "folded"
	case errs.Len() > 0:
		return "given up by Go"
	}
	return "lost"
}

// joinGroup puts a process into a control group of at most that many processes.
func joinGroup(t *testing.T, value string, pid int) {
	for _, at := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := filepath.Join(at, fmt.Sprintf("beckon-test-%d", pid))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, "pids.max"), []byte(value), 0o644) == nil {
			check(t, os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644))
			return
		}
	}
	t.Skip("no control group can be made here")
}
