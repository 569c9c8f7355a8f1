//go:build unix

package suite

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

// wantTerminal is what an unknown terminal gets for the lab's permission: OSC 9, and then the
// bell. Within tmux it is the same, but the client wraps the two separately and tmux may draw
// between them.
const wantTerminal = "\x1b]9;proj needs a permission: Write: perm.txt\a"

// TestTerminalNotification has the real client notify through its own terminal, inside tmux
// and outside, and reads what the outermost terminal gets.
func TestTerminalNotification(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	need.Program(t, "script")
	t.Parallel()
	for i, version := range Bounds {
		for where, start := range map[string]func(testing.TB, *Lab) seat{"in tmux": inTmux, "outside": outside} {
			if !*matrix && (where == "outside") != (i == 0) {
				continue // each version once, each place once
			}
			t.Run(version+"/"+where, func(t *testing.T) {
				t.Parallel()
				tried(t, func(t testing.TB) {
					l := equipped(t, version)
					if _, err := beckon(l, nil, "setup", "hooks", "notify"); err != nil {
						t.Fatal(err)
					}
					notifiesOnce(t, l, start(t, l))
				})
			})
		}
	}
}

// notifiesOnce asks for a permission that is answered late, then for one that is refused with
// Esc: the terminal is notified of the first once, and never of the second.
func notifiesOnce(t testing.TB, l *Lab, s seat) {
	s.say("lab:write perm.txt")
	await(t, l, s, "permission")
	s.until(t, wantTerminal, patience)
	s.key("\r")
	await(t, l, s, "idle")
	s.say("lab:write esc.txt")
	await(t, l, s, "permission")
	s.key("\x1b")
	time.Sleep(9 * time.Second) // after six seconds the client would have reported that it waits
	got := s.read(t)
	if n := strings.Count(got, "\x1b]9;"); n != 1 || !strings.Contains(got, wantTerminal) {
		t.Errorf("the terminal was told %d times, want once; %q", n, around(got))
	}
	if n := bells(got); n != 1 {
		t.Errorf("the bell rang %d times, want once; %q", n, around(got))
	}
	if t.Failed() {
		out, _ := beckon(l, nil, "notify", "explain")
		t.Logf("%s", out)
	}
}

var command = regexp.MustCompile(`\x1b\][^\a\x1b]*\a`)

// bells counts the bells in what a terminal got, except those that end a sequence.
func bells(got string) int { return strings.Count(command.ReplaceAllString(got, ""), "\a") }

// around returns the notifications in what a terminal got.
func around(got string) (list []string) {
	for {
		i := strings.Index(got, "\x1b]9;")
		if i < 0 {
			return list
		}
		list = append(list, got[i:min(len(got), i+100)])
		got = got[i+4:]
	}
}

// seat is a client and the terminal around it.
type seat struct {
	log      string            // everything that the outermost terminal got
	say, key func(keys string) // say types a line and sends it
}

func (s seat) read(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s seat) until(t testing.TB, want string, patience time.Duration) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if strings.Contains(s.read(t), want) {
			return
		}
	}
	t.Errorf("the terminal did not get %q within %s, only %q", want, patience, around(s.read(t)))
}

// await waits until beckon shows the client in a state.
func await(t testing.TB, l *Lab, s seat, want string) {
	t.Helper()
	var got []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if got, _ = beckon(l, nil, "list", "--json"); bytes.Contains(got, []byte(`"state": "`+want+`"`)) {
			return
		}
	}
	screen := s.read(t)
	t.Fatalf("never %s:\n%s\n%q", want, got, screen[max(0, len(screen)-2000):])
}

// inTmux starts a client in a pane, and a terminal that shows the pane.
func inTmux(t testing.TB, l *Lab) seat {
	pane, err := l.Tmux.StartClient("told")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tmux.Run("set-option", "-g", "allow-passthrough", "on"); err != nil {
		t.Fatal(err)
	}
	if err := pane.Ready(); err != nil {
		t.Fatal(err)
	}
	log, _ := terminal(t, l, fmt.Sprintf("tmux -S %s -f /dev/null attach-session -t told", l.Tmux.Socket()))
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	return seat{log: log, say: func(text string) { must(pane.Say(text)) }, key: func(k string) {
		must(pane.Key(map[string]string{"\r": "Enter", "\x1b": "Escape"}[k]))
	}}
}

// outside starts a client with no multiplexer around it.
func outside(t testing.TB, l *Lab) seat {
	line := "stty rows 50 cols 140; exec " + strings.Join(append([]string{filepath.Join(l.Home.Bin, "claude")}, l.Home.Args()...), " ")
	log, in := terminal(t, l, line)
	s := seat{log: log}
	s.key = func(k string) {
		if _, err := io.WriteString(in, k); err != nil {
			t.Error(err)
		}
	}
	s.say = func(text string) {
		s.key(text)
		time.Sleep(time.Second)
		s.key("\r")
	}
	await(t, l, s, "idle")
	time.Sleep(2 * time.Second) // its prompt is drawn after its start hook
	return s
}

// terminal runs a shell command in a terminal and returns its keyboard and the file that gets
// everything it shows.
func terminal(t testing.TB, l *Lab, line string) (log string, in io.WriteCloser) {
	t.Helper()
	log = filepath.Join(l.Home.Root, "outer.log")
	cmd := l.Home.Command("script", "-qfc", line, log)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return log, in
}
