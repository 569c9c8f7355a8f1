package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// What `sudo beckon install` creates in a user's home belongs to that user.
func TestSudoInstall(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be called by sudo")
	}
	const uid, gid = 64321, 64322
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
	if out, err := exec.Command("chown", "-R", "64321:64322", home).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, command := range []string{"install", "uninstall"} {
		cmd := exec.Command(filepath.Join(bin, "beckon"), command)
		cmd.Dir = home
		cmd.Env = []string{"GORACE=" + noNap, "HOME=" + home, "PATH=/usr/bin:/bin", "SUDO_UID=64321", "SUDO_GID=64322"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", command, err, out)
		}
		files := 0
		err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			files++
			if stat := info.Sys().(*syscall.Stat_t); stat.Uid != uid || stat.Gid != gid {
				t.Errorf("after %s %s is %d:%d's", command, path, stat.Uid, stat.Gid)
			}
			return nil
		})
		if err != nil || files < 6 {
			t.Errorf("%d files, %v", files, err)
		}
	}
}
