package run

import "os/exec"

// powershell is the newer one where it is installed.
func powershell() string {
	if _, err := exec.LookPath("pwsh"); err == nil {
		return "pwsh"
	}
	return "powershell"
}
