package evidence

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"beckon/event"
	"beckon/event/agents"
)

// interpreters run the agents that are scripts.
var interpreters = []string{"node", "bun", "deno"}

// runsAgent reports whether a process is an agent whose name in the kernel does not show it:
// an interpreter that runs the agent, or a program that renames its threads.
func runsAgent(pid int) bool {
	var buf [4096]byte
	return startsAgent(bytes.Split(procFile(pid, "cmdline", buf[:]), []byte{0}))
}

// programs returns the files that a process may run: its program, and the script that an
// interpreter was given.
func programs(pid int) (list []string) {
	if exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
		list = append(list, exe)
	}
	var buf [4096]byte
	for word := range bytes.SplitSeq(procFile(pid, "cmdline", buf[:]), []byte{0}) {
		if path.IsAbs(string(word)) {
			list = append(list, string(word))
		}
	}
	return list
}

// startsAgent reports whether a command line starts an agent.
func startsAgent(line [][]byte) bool {
	var words []string
	for _, w := range line {
		if len(w) > 0 && w[0] != '-' {
			words = append(words, string(w))
		}
	}
	if len(words) > 1 && slices.Contains(interpreters, path.Base(words[0])) {
		words = words[1:]
	}
	return len(words) > 0 && slices.ContainsFunc(event.Agents(), func(a *agents.Agent) bool {
		name := strings.TrimSuffix(path.Base(words[0]), ".js")
		return name == a.Install.Program || a.Package != "" && strings.Contains(words[0], "/"+a.Package+"/")
	})
}
