package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Alone starts a command without a window, with detach in a process group of its own.
func Alone(cmd *exec.Cmd, detach bool, _ syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	if detach {
		cmd.SysProcAttr.CreationFlags = syscall.CREATE_NEW_PROCESS_GROUP
	}
}

// Signal kills the process. There is no polite way: a console signal would reach this program as well.
func Signal(p *os.Process, _ syscall.Signal) error { return p.Kill() }

// Shell returns what runs a command line: Git Bash if it is installed, else PowerShell, as in the
// client. The first bash.exe on PATH may belong to another system, such as WSL.
func Shell(kind, line string) (argv []string) {
	if git, err := exec.LookPath("git"); err == nil && kind != "powershell" {
		bash, err := exec.LookPath(filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"))
		if err == nil {
			return []string{bash, "-c", line}
		}
	}
	return powershell(line)
}
