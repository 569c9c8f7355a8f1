package web

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// anotherEnv tells a test that runs as another user which server to try.
const (
	anotherEnv  = "BECKON_WEB_TEST_ANOTHER"
	anotherSays = "another user: "
)

// another is the id of a user that is neither this one nor root.
const another = 64321

// asAnother runs a test of this binary against the server as another user of the machine, and
// returns the result of each attempt; nil if this user may not do that.
func (x *site) asAnother(test string) map[string]string {
	x.T.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			x.T.Log("without root nothing is tried as another user")
		}
		return nil
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+test+"$") // whatever directory it is in
	cmd.Dir, cmd.Env = "/", []string{anotherEnv + "=" + x.URL}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: another, Gid: another}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.T.Fatalf("as another user: %v\n%s", err, out)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if line, ok := strings.CutPrefix(line, anotherSays); ok {
			what, got, _ := strings.Cut(strings.TrimSpace(line), "\t")
			said[what] = got
		}
	}
	return said
}
