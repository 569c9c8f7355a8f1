package hook

import (
	"os"
	"syscall"
	"time"
)

// Become runs another program instead of this one and returns its exit code; ok is false if it
// could not be started. Windows cannot replace a process.
func Become(path string, args []string) (code int, ok bool) {
	files := &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	p, err := os.StartProcess(path, append([]string{path}, args...), files)
	if err != nil {
		return 0, false
	}
	state, err := p.Wait()
	if err != nil {
		return 0, true
	}
	return state.ExitCode(), true
}

// detached starts a process without a console, in a group of its own.
func detached() *syscall.SysProcAttr {
	const detachedProcess = 0x00000008
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// Shared reports whether anyone else may write to a file, which its mode does not show on Windows.
func Shared(string) bool { return false }

// first reads nothing: every call is evaluated.
func first(*os.File) []byte { return nil }

func sleep(d time.Duration) { time.Sleep(d) }
