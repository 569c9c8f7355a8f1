package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// maxEnv is the size limit of one environment variable: the system's is 32,767 characters.
const maxEnv = 32 << 10

func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// end kills the process. There is no polite way: a console signal would reach this program as well.
func end(p *os.Process) error { return p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

// shell returns the program and arguments that run a command line: Git Bash if it is installed,
// else PowerShell, as in the client. The first bash.exe on PATH may belong to another system, such
// as WSL.
func shell(kind, line string) (name string, args []string) {
	if git, err := exec.LookPath("git"); err == nil && kind != "powershell" {
		bash, err := exec.LookPath(filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe"))
		if err == nil {
			return bash, []string{"-c", line}
		}
	}
	return powershell(line)
}
