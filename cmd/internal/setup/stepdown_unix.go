//go:build unix

package setup

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"beckon/cmd/internal/cli"
)

// stepDown switches to the user who called sudo, if the home directory is theirs: files
// created there must be theirs too, or the hooks that run later cannot write to it.
func stepDown(a *cli.App) error {
	uid, err1 := strconv.Atoi(a.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(a.Getenv("SUDO_GID"))
	info, err3 := os.Stat(a.Getenv("HOME"))
	if os.Geteuid() != 0 || errors.Join(err1, err2, err3) != nil || uid == 0 {
		return nil
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != uid {
		return nil
	}
	if err := errors.Join(syscall.Setgroups([]int{gid}), syscall.Setgid(gid), syscall.Setuid(uid)); err != nil {
		return fmt.Errorf("becoming the owner of %s: %w", a.Getenv("HOME"), err)
	}
	return nil
}
