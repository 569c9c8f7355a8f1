package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/state/evidence"
	"beckon/state/store"

	"golang.org/x/sys/unix"
)

const (
	idleFor   = 10 * time.Second // how long an idle screen is measured
	idleSince = 100 * time.Hour  // so that the ages shown change only daily
)

// watchReport measures `beckon watch` in a terminal: what an idle screen costs, and how long
// after a hook's exit the screen shows its event. It measures the programs in turn, each with
// the beckon-hook next to it; without any, this tree's.
func watchReport(dir string, programs []string, hooks int, w io.Writer) error {
	if len(programs) == 0 {
		if err := buildOurs(dir, "beckon", "beckon-hook"); err != nil {
			return err
		}
		programs = []string{filepath.Join(dir, "beckon")}
	}
	fmt.Fprintf(w, "\n%-32s %14s %32s\n", "beckon watch", "idle CPU", "hook's exit to screen, in ms")
	for _, sessions := range []int{100, 500} {
		home := filepath.Join(dir, fmt.Sprintf("watch-%d", sessions))
		agents, err := crowded(home, sessions)
		if err != nil {
			return err
		}
		err = watchAll(home, programs, sessions, hooks, w)
		for _, a := range agents {
			end(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func watchAll(home string, programs []string, sessions, hooks int, w io.Writer) error {
	for i, program := range programs {
		s, err := openScreen(program, homeEnv(home), sessions+20, "watch", "--color", "never")
		if err != nil {
			return err
		}
		idle, err := idleShare(s.cmd.Process.Pid, idleFor)
		var late []time.Duration
		if err == nil && sessions <= 100 {
			late, err = s.latencies(home, filepath.Join(filepath.Dir(program), "beckon-hook"), sessions, hooks, i)
		}
		s.close()
		if err != nil {
			return err
		}
		line := ""
		if len(late) > 0 {
			at := func(percent int) float64 { return ms(percentile(late, percent)) }
			line = fmt.Sprintf("p50 %.0f, p90 %.0f, p99 %.0f, max %.0f", at(50), at(90), at(99), at(100))
		}
		fmt.Fprintf(w, "%-32s %12.2f %% %32s\n", fmt.Sprintf("%d sessions, %s", sessions, filepath.Base(filepath.Dir(program))), idle*100, line)
	}
	return nil
}

// crowded creates a home with live sessions, each with its own process and registry record.
func crowded(home string, sessions int) (agents []*exec.Cmd, err error) {
	if err := fill(home, sessions, 0, idleSince); err != nil {
		return nil, err
	}
	st, here := store.Open(filepath.Join(home, "state")), evidence.ThisMachine()
	registry := filepath.Join(home, ".claude", "sessions")
	if err := os.RemoveAll(registry); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(registry, 0o700); err != nil {
		return nil, err
	}
	now := event.MillisOf(time.Now().Add(-idleSince))
	for i := range sessions {
		a := exec.Command("sleep", "3600")
		if err := a.Start(); err != nil {
			return agents, err
		}
		agents = append(agents, a)
		id := fmt.Sprintf("session-%04d", i)
		p, _ := evidence.Process(a.Process.Pid, here)
		e := event.Event{Agent: "claude-code", Kind: event.SessionStart, Name: "SessionStart", SessionID: id, Cwd: "/home/u/shop", Source: "resume", At: now + 100,
			Origin: &event.Origin{Seat: "seat-" + id, Host: here.Host, Project: "/home/u/shop", Process: p}}
		if err := foldEvent(st, id, e); err != nil {
			return agents, err
		}
		record := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","startedAt":%d,"procStart":%q,"version":"2.1.329","kind":"interactive","status":"idle","updatedAt":%d,"statusUpdatedAt":%d}`,
			p.Pid, id, now, p.Start, now, now)
		if err := os.WriteFile(filepath.Join(registry, fmt.Sprintf("%d.json", p.Pid)), []byte(record), 0o600); err != nil {
			return agents, err
		}
	}
	return agents, nil
}

// screen is a program in its own terminal.
type screen struct {
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	seen bytes.Buffer
	last time.Time
}

func homeEnv(home string) []string {
	return []string{"HOME=" + home, "BECKON_STATE_DIR=" + filepath.Join(home, "state"), "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "USER=ann"}
}

func openScreen(program string, env []string, rows int, args ...string) (*screen, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: 120}); err != nil {
		return nil, err
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	s := &screen{tty: master, cmd: exec.Command(program, args...)}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.Env = env
	s.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go s.read()
	return s, nil
}

func (s *screen) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.tty.Read(buf)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.last = time.Now()
		s.seen.Write(buf[:n])
		s.mu.Unlock()
	}
}

func (s *screen) close() {
	end(s.cmd)
	_ = s.tty.Close()
}

func end(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// latencies runs hooks with new prompts, at irregular times, and returns how long after each
// one's exit the screen shows its prompt.
func (s *screen) latencies(home, hook string, sessions, hooks, turn int) (late []time.Duration, err error) {
	r := rand.New(rand.NewPCG(1, uint64(turn)))
	for i := range hooks {
		time.Sleep(time.Duration(20+r.IntN(300)) * time.Millisecond)
		// No letter keeps its place: the screen gets only changes.
		letters := []byte([2]string{"ABCDEFGH", "STUVWXYZ"}[i%2])
		r.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		payload := fmt.Sprintf(`{"session_id":"session-%04d","cwd":"/home/u/shop","hook_event_name":"UserPromptSubmit","prompt":%q,"prompt_id":"p%d"}`,
			r.IntN(sessions), letters, i)
		cmd := exec.Command(hook, "UserPromptSubmit")
		cmd.Env, cmd.Stdin = homeEnv(home), strings.NewReader(payload)
		d, err := s.lateness(cmd, letters)
		if err != nil {
			return late, fmt.Errorf("prompt %d: %w", i, err)
		}
		late = append(late, d)
	}
	return late, nil
}

// lateness runs a hook and returns how long after its exit the screen shows the text.
func (s *screen) lateness(hook *exec.Cmd, text []byte) (time.Duration, error) {
	s.mu.Lock()
	s.seen.Reset()
	s.mu.Unlock()
	if err := hook.Run(); err != nil {
		return 0, err
	}
	exit := time.Now()
	at, ok := s.await(text, exit.Add(5*time.Second))
	if !ok {
		return 0, fmt.Errorf("the screen never showed %s", text)
	}
	return max(0, at.Sub(exit)), nil
}

func (s *screen) await(text []byte, end time.Time) (time.Time, bool) {
	for time.Now().Before(end) {
		s.mu.Lock()
		at, ok := s.last, bytes.Contains(s.seen.Bytes(), text)
		s.mu.Unlock()
		if ok {
			return at, true
		}
		time.Sleep(500 * time.Microsecond)
	}
	return time.Time{}, false
}
