//go:build unix

package suite

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

const endlessLab = "BECKON_TEST_ENDLESS_LAB"

// If a test's process ends without Close, nothing of its lab is left, not even a process that
// has left its terminal.
func TestLabOfAKilledTest(t *testing.T) {
	if os.Getenv(endlessLab) != "" {
		runEndlessly(t)
	}
	need.Program(t, "tmux")
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLabOfAKilledTest$")
	cmd.Env = append(os.Environ(), endlessLab+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	root, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	h := &Home{Dir: filepath.Join(strings.TrimSpace(root), "home")}
	for end := time.Now().Add(patience); len(h.processes()) > 0; time.Sleep(pollEvery) {
		if time.Now().After(end) {
			left, _ := exec.Command("ps", append([]string{"-o", "pid=,args=", "-p"}, strings.Trim(fmt.Sprint(h.processes()), "[]"))...).Output()
			h.killAll()
			t.Fatalf("left:\n%s", left)
		}
	}
}

// runEndlessly starts a lab with such a process and says where it is.
func runEndlessly(t *testing.T) {
	h, err := NewHome(Client{Path: os.Args[0]}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewTmux(h).Start("endless", h.Project, "sh", "-c", "setsid sleep 600 & exec sleep 600"); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(h.Root + "\n")
	time.Sleep(2 * patience)
}
