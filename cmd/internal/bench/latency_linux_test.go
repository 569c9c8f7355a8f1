package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const latencySessions = 100

// BenchmarkLatency measures how long after a hook's exit the screen of watch shows its event, and
// an event stream of serve has it. The hooks come at irregular times.
func BenchmarkLatency(b *testing.B) {
	h := newHome(b)
	var agents []*agent
	for i := range latencySessions {
		agents = append(agents, h.busy(b, sessionName(i)))
	}
	b.Run("watch", func(b *testing.B) {
		s := openScreen(b, h, "watch", "--color", "never")
		measureLatency(b, agents, s.await)
	})
	b.Run("serve", func(b *testing.B) {
		var stream shown
		h.serve(b).listen(b, context.Background(), func(_ string, data []byte) { stream.write(data) })
		measureLatency(b, agents, stream.await)
	})
}

var idle = flag.Bool("idle", false, "measure watch beside idle sessions, for two minutes")

// BenchmarkIdle measures the share of a processor that watch takes while it shows sessions in
// which nothing has happened for more than a minute.
func BenchmarkIdle(b *testing.B) {
	if !*idle {
		b.Skip("it takes two minutes: -idle")
	}
	const settled, measured = 75 * time.Second, 30 * time.Second
	h := newHome(b)
	for i := range latencySessions {
		a := h.busy(b, sessionName(i))
		a.send(b, payload(sessionName(i), "Stop", `"last_assistant_message":"All tests pass."`))
	}
	s := openScreen(b, h, "watch", "--color", "never")
	if _, ok := s.await("run the tests", 30*time.Second); !ok {
		b.Fatal("watch does not show the sessions")
	}
	time.Sleep(settled)
	for b.Loop() {
		before := s.cpu(b)
		time.Sleep(measured)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(100*float64(s.cpu(b)-before)/float64(measured), "cpu-%")
	}
}

func sessionName(n int) string { return fmt.Sprintf("session-%04d", n) }

// measureLatency runs hooks with new prompts and reports how soon await finds each prompt's text.
func measureLatency(b *testing.B, agents []*agent, await func(text string, within time.Duration) (time.Time, bool)) {
	r := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		time.Sleep(time.Duration(20+r.IntN(300)) * time.Millisecond)
		// No letter keeps its place: a screen gets only changes.
		letters := []byte([2]string{"ABCDEFGH", "STUVWXYZ"}[i%2])
		r.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		n := r.IntN(len(agents))
		agents[n].send(b, payload(sessionName(n), "UserPromptSubmit", fmt.Sprintf(`"prompt":%q`, letters)))
		exit := time.Now()
		at, ok := await(string(letters), 5*time.Second)
		if !ok {
			b.Fatalf("prompt %s of session %d is not shown", letters, n)
		}
		took = append(took, max(0, at.Sub(exit)))
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	for _, percent := range []int{50, 99} {
		at := took[min(len(took)*percent/100, len(took)-1)]
		b.ReportMetric(float64(at)/float64(time.Millisecond), fmt.Sprintf("p%d-ms", percent))
	}
}

// shown is what a view has shown.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
	last time.Time
	pid  int
}

// cpu returns the processor time that the program has taken, in whole nanoseconds.
func (s *shown) cpu(b *testing.B) time.Duration {
	b.Helper()
	var total time.Duration
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.pid))
	if err != nil || len(tasks) == 0 {
		b.Fatal("watch has ended")
	}
	for _, task := range tasks {
		var ran int64
		text, err := os.ReadFile(task)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fmt.Sscan(string(text), &ran); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(ran)
	}
	return total
}

func (s *shown) write(b []byte) {
	s.mu.Lock()
	s.last = time.Now()
	s.text.Write(b)
	s.mu.Unlock()
}

// await waits for a text and forgets all before it.
func (s *shown) await(text string, within time.Duration) (time.Time, bool) {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(500 * time.Microsecond) {
		s.mu.Lock()
		at, ok := s.last, strings.Contains(s.text.String(), text)
		if ok {
			s.text.Reset()
		}
		s.mu.Unlock()
		if ok {
			return at, true
		}
	}
	return time.Time{}, false
}

// openScreen runs beckon in a terminal of its own.
func openScreen(b *testing.B, h home, args ...string) *shown {
	b.Helper()
	fail := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	fail(err)
	fd := int(master.Fd())
	fail(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	fail(err)
	fail(unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: latencySessions + 20, Col: 120}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	fail(err)
	defer tty.Close()
	cmd := exec.Command(program(b, "beckon"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = tty, tty, tty, h.env()
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	fail(cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = master.Close()
	})
	s := &shown{pid: cmd.Process.Pid}
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			s.write(buf[:n])
		}
	}()
	return s
}
