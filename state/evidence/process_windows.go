package evidence

import (
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"beckon/event"
	"beckon/state"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// processes returns none: their parents and names would take a snapshot of them all.
func processes(int) iter.Seq2[int, proc] { return func(func(int, proc) bool) {} }

// machineID is made once per installation.
func machineID() string {
	const access = registry.QUERY_VALUE | registry.WOW64_64KEY
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, access)
	if err != nil {
		return ""
	}
	defer k.Close()
	id, _, _ := k.GetStringValue("MachineGuid")
	return id
}

// booted is useless without a boot id.
func booted() event.Millis { return 0 }

// bootID is empty: Windows has no cheap boot id, and a start time in units of 100 ns
// identifies a process across boots.
func bootID() string { return "" }

// lookup reads one process. One that may not be opened is unknown; one that has exited but is
// still held open counts as dead.
func lookup(pid int) (proc, state.Presence) {
	const access = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	h, err := windows.OpenProcess(access, false, uint32(pid))
	switch err {
	case nil:
	case windows.ERROR_INVALID_PARAMETER: // no such process
		return proc{}, state.Gone
	default:
		return proc{}, state.Unread
	}
	defer windows.CloseHandle(h)

	var made, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &made, &exit, &kernel, &user); err != nil {
		return proc{}, state.Unread
	}
	ended, err := windows.WaitForSingleObject(h, 0)
	if err != nil {
		return proc{}, state.Unread
	}
	return proc{
		ppid:  parentOf(h),
		comm:  imageName(h),
		start: strconv.FormatInt(int64(made.HighDateTime)<<32|int64(made.LowDateTime), 10),
		dead:  ended == windows.WAIT_OBJECT_0,
	}, state.Alive
}

// parentOf returns the pid of the process that started it, 0 if unknown. That pid may belong
// to another process by now; nearest compares start times.
func parentOf(h windows.Handle) int {
	var info windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation,
		unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return int(info.InheritedFromUniqueProcessId)
}

// imageName returns the program's base name, in lower case, without ".exe".
func imageName(h windows.Handle) string {
	var buf [windows.MAX_PATH]uint16
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) != nil {
		return ""
	}
	name := strings.ToLower(filepath.Base(windows.UTF16ToString(buf[:n])))
	return strings.TrimSuffix(name, ".exe")
}

// filetimeEpoch is 1970 in FILETIME: 100 ns since 1601.
const filetimeEpoch = 116_444_736_000_000_000

// startWall returns when a process started, by the wall clock.
func startWall(start string) (event.Millis, bool) {
	ft, err := strconv.ParseInt(start, 10, 64)
	return event.Millis((ft - filetimeEpoch) / 10_000), err == nil && ft > filetimeEpoch
}
