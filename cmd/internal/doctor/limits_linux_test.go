package doctor

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"beckon/cmd/internal/cli"
)

func TestLimitNear(t *testing.T) {
	for _, c := range []struct {
		max, used, need uint64
		want            bool
	}{
		{math.MaxUint64, 900, 32, false}, {1000, 900, 32, false}, {932, 900, 32, false}, {931, 900, 32, true},
		{800, 900, 32, true}, {8, 0, 16, true}, {16, 0, 16, false},
	} {
		if got := (limit{max: c.max, used: c.used, need: c.need}).near(); got != c.want {
			t.Errorf("%+v: near is %v", c, got)
		}
	}
}

// Both versions of control groups, the groups around this one, and one without a limit.
func TestGroupLimits(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	root := fstest.MapFS{
		"proc/self/cgroup":                         file("5:cpu,cpuacct:/x\n3:pids:/user/one\n0::/app/scope\n"),
		"sys/fs/cgroup/app/scope/pids.max":         file("max\n"),
		"sys/fs/cgroup/app/scope/pids.current":     file("7\n"),
		"sys/fs/cgroup/app/pids.max":               file("100\n"),
		"sys/fs/cgroup/app/pids.current":           file("90\n"),
		"sys/fs/cgroup/pids/user/one/pids.max":     file("4000\n"),
		"sys/fs/cgroup/pids/user/one/pids.current": file("12\n"),
	}
	var got []string
	for _, l := range groupLimits(root) {
		got = append(got, fmt.Sprint(l, l.near()))
	}
	want := []string{
		"processes and threads of the control group /user/one (pids.max): 12 of 4000 in use false",
		"processes and threads of the control group /app (pids.max): 90 of 100 in use true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestThreadsOf(t *testing.T) {
	status := func(uid string, threads int) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "Name:\tx\nUid:\t%s\t0\t0\t0\nThreads:\t%d\nSigQ:\t0\n", uid, threads)}
	}
	root := fstest.MapFS{"proc/1/status": status("0", 9), "proc/20/status": status("100", 3), "proc/21/status": status("100", 40), "proc/22/status": status("1000", 5), "proc/self/status": status("100", 3)}
	if n := threadsOf(root, 100); n != 43 {
		t.Errorf("%d threads, want 43", n)
	}
}

func TestDoctorLimits(t *testing.T) {
	var out bytes.Buffer
	d := &doctor{App: &cli.App{Stdout: &out}}
	d.limits([]limit{
		{name: "open files (RLIMIT_NOFILE)", max: 8, need: needDescriptors},
		{name: "address space (RLIMIT_AS)", max: math.MaxUint64 >> 20, need: needMegabytes, unit: " MB"},
		{name: "processes", max: 500, used: 490, need: needThreads},
	})
	d.print()
	const hint = "                      fix: raise it with ulimit or where the session is started; the client goes on without a hook that cannot start\n"
	want := "error    limits       a hook may not start here: open files (RLIMIT_NOFILE): 8, and hooks need 16\n" + hint +
		"error    limits       a hook may not start here: processes: 490 of 500 in use, and hooks need 32\n" + hint
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
