package store

import "golang.org/x/sys/windows"

// try locks l if nobody else holds it, and reports whether it did. It locks the first byte, which
// need not exist.
func (l *lockFile) try() (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(l.f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}

// unsupported reports whether err means that the file system has no locks.
func unsupported(err error) bool {
	return err == windows.ERROR_NOT_SUPPORTED || err == windows.ERROR_INVALID_FUNCTION
}

// Close releases the lock. With the file alone it would be released some time later.
func (l *lockFile) Close() {
	_ = windows.UnlockFileEx(windows.Handle(l.f.Fd()), 0, 1, 0, new(windows.Overlapped))
	_ = l.f.Close()
}
