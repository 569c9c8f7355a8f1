package run

import (
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// maxEnv is the size limit of one environment variable: the system's is 32,767 characters.
const maxEnv = 32 << 10

// group is a job object, which contains everything that the command starts.
type group struct {
	cmd *exec.Cmd

	mu  sync.Mutex // the context may end while the job is created
	job windows.Handle
}

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &group{cmd: cmd}
}

// started puts the process into its own job. Without one (if the system refuses) ending it
// ends only the process itself.
func (g *group) started() {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	process, err := windows.OpenProcess(access, false, uint32(g.cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.job = job
}

// end kills the process and its children. There is no polite way: a console signal would reach
// this program as well.
func (g *group) end() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return g.cmd.Process.Kill()
	}
	return windows.TerminateJobObject(g.job, 1)
}

func (g *group) kill() { _ = g.end() }

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}

// shell returns the program and arguments that run a command line: Git Bash if it is
// installed, else PowerShell, as in the client.
func shell(kind, line string) (name string, args []string) {
	if bash := gitBash(); bash != "" && kind != "powershell" {
		return bash, []string{"-c", line}
	}
	return powershell(), []string{"-NoProfile", "-NonInteractive", "-Command", line}
}

// gitBash looks for bash next to git: the first bash.exe on PATH may belong to another system,
// such as WSL.
func gitBash() string {
	git, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	bash, err := exec.LookPath(filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"))
	if err != nil {
		return ""
	}
	return bash
}
