package evidence

import (
	"bufio"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

const execsVar = "BECKON_EVIDENCE_EXECS"

func init() {
	if os.Getenv(execsVar) != "" {
		goruntime.LockOSThread() // playExecs keeps the first thread, and executes from another
	}
}

// playExecs executes this program anew, from another thread than the first, as often as the
// variable says; then it waits for the end of stdin.
func playExecs() {
	n, _ := strconv.Atoi(os.Getenv(execsVar))
	if n == 0 {
		os.Stdout.WriteString("done\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Setenv(execsVar, strconv.Itoa(n-1))
	go func() {
		_ = syscall.Exec(os.Args[0], os.Args, os.Environ())
		os.Exit(1)
	}()
	select {}
}

// A process that executes another program is alive all the while, and is the same process.
func TestExec(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("there is no exec")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=execs", execsVar+"=200")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	here := ThisMachine()
	p, ok := Process(cmd.Process.Pid, here)
	if !ok {
		t.Fatal("it has no identity")
	}
	var done atomic.Bool
	go func() {
		_, _ = bufio.NewReader(out).ReadString('\n')
		done.Store(true)
	}()
	gone, looks := 0, 0
	for !done.Load() {
		looks++
		if here.Presence(p, event.MillisOf(time.Now())) == state.Gone {
			gone++
		}
	}
	if gone > 0 {
		t.Errorf("gone in %d of %d looks", gone, looks)
	}
}
