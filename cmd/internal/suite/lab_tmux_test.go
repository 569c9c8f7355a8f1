//go:build unix

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// enterDelay is how long the client gets to read typed text: an Enter in the same burst would
// count as part of a paste.
const enterDelay = 150 * time.Millisecond

// Tmux is a private tmux server in a home's environment.
type Tmux struct {
	home   *Home
	socket string
	pid    int // of the server
	panes  int
}

// Pane is one tmux pane with a program in it, usually a client.
type Pane struct {
	tmux *Tmux
	ID   string // like %0
	Pid  int    // the program's
}

// NewTmux prepares a tmux server, which the first Start starts.
func NewTmux(h *Home) *Tmux { return &Tmux{home: h, socket: filepath.Join(h.Root, "t.sock")} }

// Socket returns the path of the server's socket.
func (t *Tmux) Socket() string { return t.socket }

// Run runs a tmux command against the private server and returns its output.
func (t *Tmux) Run(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env, cmd.Dir = t.home.Env(), t.home.Root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// Start opens a session named name that runs argv in dir, without a shell. The pane stays when
// the program exits, so that its last screen can be read.
func (t *Tmux) Start(name, dir string, argv ...string) (*Pane, error) {
	const format = "#{pane_id} #{pane_pid} #{pid}"
	args := []string{"new-session", "-d", "-P", "-F", format, "-s", name, "-x", "140", "-y", "50", "-c", dir}
	for k, v := range t.home.Extra { // the server keeps the environment of its start
		args = append(args, "-e", k+"="+v)
	}
	args = append(args, "--")
	if t.panes == 0 {
		args = append([]string{"start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
			"set-option", "-s", "escape-time", "0", ";", "set-option", "-g", "default-terminal", "xterm-256color", ";",
			"run-shell", "-b", t.lastWill(), ";"}, args...)
	}
	out, err := t.Run(append(args, argv...)...)
	if err != nil {
		return nil, err
	}
	p := &Pane{tmux: t}
	if _, err := fmt.Sscan(out, &p.ID, &p.Pid, &t.pid); err != nil {
		return nil, fmt.Errorf("reading the new pane from %q: %w", out, err)
	}
	t.panes++
	return p, nil
}

// lastWill returns a shell command that cleans up if this process ends without Close, as when
// a test times out. As killAll does, it also ends what has left its terminal. The server asks
// it to end with it.
func (t *Tmux) lastWill() string {
	return fmt.Sprintf("trap '' TERM HUP; while kill -0 %d && test -S %s; do sleep 2; done 2>/dev/null; tmux -S %[2]s kill-server 2>/dev/null; sleep 2; "+
		`for pid in $(grep -lzx HOME=%s /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\n'); do test $pid = $$ || kill -9 $pid; done 2>/dev/null; rm -rf %s`,
		os.Getpid(), t.socket, t.home.Dir, t.home.Root)
}

// StartClient opens a session with an interactive client in the project.
func (t *Tmux) StartClient(name string, args ...string) (*Pane, error) {
	return t.StartClientIn(name, t.home.Project, args...)
}

// StartClientIn is StartClient in another directory.
func (t *Tmux) StartClientIn(name, dir string, args ...string) (*Pane, error) {
	argv := append([]string{t.home.client.Path}, append(t.home.Args(), args...)...)
	return t.Start(name, dir, argv...)
}

// Panes returns all panes, dead ones too, in the order in which they were started.
func (t *Tmux) Panes() ([]*Pane, error) {
	if t.panes == 0 {
		return nil, nil
	}
	out, err := t.Run("list-panes", "-a", "-F", "#{pane_id} #{pane_pid}")
	if err != nil {
		return nil, err
	}
	var all []*Pane
	for line := range strings.Lines(out) {
		p := &Pane{tmux: t}
		if _, err := fmt.Sscan(line, &p.ID, &p.Pid); err != nil {
			return nil, fmt.Errorf("reading a pane from %q: %w", line, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Screens returns the screens of all panes, for messages to people.
func (t *Tmux) Screens() string {
	panes, _ := t.Panes()
	var all []string
	for _, p := range panes {
		all = append(all, p.ID+":\n"+blankLines.ReplaceAllString(p.Capture(), "\n\n"))
	}
	return strings.Join(all, "\n")
}

var blankLines = regexp.MustCompile(`\n\s*\n\s*\n+`)

// Close ends the server and with it every program in its panes.
func (t *Tmux) Close() error {
	if t.panes == 0 {
		return nil
	}
	_, err := t.Run("kill-server")
	_ = os.Remove(t.socket)
	return err
}

// Type types text literally, without Enter.
func (p *Pane) Type(text string) error {
	_, err := p.tmux.Run("send-keys", "-t", p.ID, "-l", "--", text)
	return err
}

// Say types text, waits until the client shows it, and presses Enter.
func (p *Pane) Say(text string) error {
	if err := p.Type(text); err != nil {
		return err
	}
	shown := regexp.QuoteMeta(text[max(0, len(text)-30):])
	if err := p.WaitFor(shown, 10*time.Second); err != nil {
		return err
	}
	time.Sleep(enterDelay)
	return p.Key("Enter")
}

// Key presses one key by its tmux name: Enter, Escape, Down, C-c, ...
func (p *Pane) Key(name string) error {
	_, err := p.tmux.Run("send-keys", "-t", p.ID, name)
	return err
}

// Capture returns the visible screen, or "".
func (p *Pane) Capture() string {
	out, _ := p.tmux.Run("capture-pane", "-p", "-t", p.ID)
	return out
}

// prompted matches a prompt of a script that was sent, or is being typed.
var prompted = regexp.MustCompile(`(?m)^[^\w\n]{0,12}lab:`)

// latest returns what the screen shows from the last prompt on: what is above it is the past.
func (p *Pane) latest() string {
	screen := p.Capture()
	if all := prompted.FindAllStringIndex(screen, -1); all != nil {
		return screen[all[len(all)-1][0]:]
	}
	return screen
}

// WaitFor waits until the screen matches the regular expression.
func (p *Pane) WaitFor(pattern string, timeout time.Duration) error {
	return waitFor(p.Capture, pattern, timeout)
}

func waitFor(look func() string, pattern string, timeout time.Duration) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	screen := ""
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if screen = look(); re.MatchString(screen) {
			return nil
		}
	}
	return fmt.Errorf("waiting %v for %q on the screen:\n%s", timeout, pattern, strings.TrimSpace(screen))
}

// Ready waits until the client shows its prompt and no dialog.
func (p *Pane) Ready() error {
	if a := p.tmux.home.client.Agent; a != nil {
		return a.Ready(p)
	}
	return p.WaitFor(`(?m)^[>❯][\s\x{a0}]*$`, 30*time.Second)
}

// Dead reports whether the program in the pane has ended. A zombie counts: sometimes tmux
// never reaps one.
func (p *Pane) Dead() bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/stat"); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(after, "Z")
	}
	return syscall.Kill(p.Pid, 0) != nil
}

// WaitDead waits until the program has ended.
func (p *Pane) WaitDead(timeout time.Duration) error {
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if p.Dead() {
			return nil
		}
	}
	return fmt.Errorf("process %d still runs after %v", p.Pid, timeout)
}

// Signal sends a signal to the client itself, not to its children. Another agent consists of a
// launcher and the program that it launched: both get it.
func (p *Pane) Signal(s syscall.Signal) error {
	if p.tmux.home.client.Agent != nil {
		return syscall.Kill(-p.Pid, s)
	}
	return syscall.Kill(p.Pid, s)
}

// Kill9 kills the client without giving it a chance to react.
func (p *Pane) Kill9() error { return p.Signal(syscall.SIGKILL) }

// Title returns the pane's title as the client set it.
func (p *Pane) Title() string {
	out, _ := p.tmux.Run("display-message", "-p", "-t", p.ID, "#{pane_title}")
	return out
}
