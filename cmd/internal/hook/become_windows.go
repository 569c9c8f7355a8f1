package hook

import "os"

// become runs another program in place of this one and returns its exit code;
// ok is false when it could not be started.
func become(path string, args []string) (code int, ok bool) {
	if path == "" {
		return 0, false
	}
	p, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, false
	}
	state, err := p.Wait()
	if err != nil {
		return 0, true
	}
	return state.ExitCode(), true
}
