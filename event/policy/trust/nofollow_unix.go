//go:build unix

package trust

import "syscall"

// noFollow opens no symbolic link: what is written to is the file itself.
const noFollow = syscall.O_NOFOLLOW
