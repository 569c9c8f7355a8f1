package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// `sudo beckon install` writes nothing into a user's home: it would be root's.
func TestSudoInstall(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be called by sudo")
	}
	home, err := os.MkdirTemp("/tmp", "beckon-sudo-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"beckon", "beckon-hook"} {
		if out, err := exec.Command("cp", "-L", program(t), filepath.Join(bin, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for _, command := range []string{"install", "uninstall"} {
		cmd := exec.Command(filepath.Join(bin, "beckon"), command)
		cmd.Dir = home
		cmd.Env = []string{"GORACE=" + noNap, "HOME=" + home, "PATH=/usr/bin:/bin", "SUDO_UID=64321", "SUDO_GID=64322"}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "would belong to root") || !strings.Contains(string(out), "run it without sudo") {
			t.Errorf("%s: %v %s", command, err, out)
		}
		if left, _ := filepath.Glob(filepath.Join(home, "*")); len(left) != 1 {
			t.Errorf("%s made %v", command, left)
		}
		if left, _ := filepath.Glob(filepath.Join(home, ".*")); len(left) != 0 {
			t.Errorf("%s made %v", command, left)
		}
	}
}
