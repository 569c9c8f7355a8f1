package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"beckon/state/request"
	"beckon/testdata/dbustest"
)

// trustDaemon makes the daemon of a test count as the user's, whoever runs the test.
func trustDaemon(t *testing.T) {
	t.Helper()
	was := fromClient
	fromClient = func(int) (bool, string) { return false, "anything" }
	t.Cleanup(func() { fromClient = was })
}

// busOf returns the process of the test's session bus.
func busOf(t *testing.T) int {
	t.Helper()
	_, socket := address()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pid := listener(conn)
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil || string(name) != "dbus-daemon\n" {
		t.Errorf("process %d is the bus: %q, %v", pid, name, err)
	}
	return pid
}

// asking asks the user and waits until that is shown.
func asking(t *testing.T, ctx context.Context, d *dbustest.Daemon, c *desktop, a Ask) <-chan asked {
	t.Helper()
	n := len(d.Received())
	got := make(chan asked, 1)
	go func() {
		word, become, err := c.ask(ctx, a)
		got <- asked{word, become, err}
	}()
	awaitReceived(t, d, n+1)
	awaitSenders(t, os.Getpid())
	return got
}

var senderStatus = regexp.MustCompile(`(?s)^Name:\tnotify-send\n.*\nPPid:\t(\d+)\n.*\nSigCgt:\t([0-9a-f]+)\n`)

// awaitSenders waits until every notify-send that process pid has started, one at least, takes
// notice of SIGINT.
func awaitSenders(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ready, all := 0, 0
		files, _ := filepath.Glob("/proc/[0-9]*/status")
		for _, file := range files {
			status, _ := os.ReadFile(file)
			m := senderStatus.FindSubmatch(status)
			if m == nil || string(m[1]) != strconv.Itoa(pid) {
				continue
			}
			all++
			if caught, _ := strconv.ParseUint(string(m[2]), 16, 64); caught&(1<<(syscall.SIGINT-1)) != 0 {
				ready++
			}
		}
		if all > 0 && ready == all {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d notify-send take notice of SIGINT", ready, all)
		}
	}
}

// awaitReceived waits until the daemon has received n notifications.
func awaitReceived(t *testing.T, d *dbustest.Daemon, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(d.Received()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was not shown")
		}
	}
}

var both = Ask{Note: Note{Title: "shop needs a permission", SessionID: "s1", Body: "Bash\nmake <all>"}, Buttons: []request.Word{request.Allow, request.Deny}}

// A button answers only for its own notification, which then disappears.
func TestDesktopButtons(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	dir := t.TempDir()
	clicked := filepath.Join(dir, "clicked")
	c := &desktop{[]string{"/bin/sh", "-c", `printf %s "$1" > ` + clicked, "sh"}}
	one := asking(t, t.Context(), d, c, both)
	two := asking(t, t.Context(), d, c, both)
	if got := d.Received()[0]; got.Buttons != "default allow deny" || !strings.Contains(got.Body, "make &lt;all&gt;") {
		t.Errorf("it shows %q", got)
	}
	d.Press(2, "deny")
	if got := <-two; got.word != request.Deny || got.err != nil {
		t.Errorf("deny: %+v", got)
	} else {
		got.become("refused")
	}
	if !d.Closed(2) || d.Closed(1) {
		t.Error("what was answered is not taken away, or another one is")
	}
	d.Press(1, "allow")
	if got := <-one; got.word != request.Allow || got.err != nil {
		t.Errorf("allow: %+v", got)
	}
	deny := both
	deny.Buttons = deny.Buttons[1:]
	three := asking(t, t.Context(), d, c, deny)
	if got := d.Received()[2].Buttons; got != "default deny" {
		t.Errorf("what cannot be allowed has %q", got)
	}
	d.Press(3, "allow") // a word that it does not have, and then closes it
	if got := <-three; got.word != "" || got.err != nil {
		t.Errorf("a button that is not there: %+v", got)
	}
	four := asking(t, t.Context(), d, c, both)
	d.Click(4)
	if got := <-four; got.word != "" {
		t.Errorf("a click: %+v", got)
	}
	if got, err := os.ReadFile(clicked); err != nil || string(got) != "s1" {
		t.Errorf("the click went to %q, %v", got, err)
	}
}

// Only the daemon can press a button, and a daemon that an agent started does not count.
func TestDesktopForged(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	c := &desktop{jump: []string{"true"}}
	ctx, over := context.WithCancel(t.Context())
	got := asking(t, ctx, d, c, both)
	d.Forge(1, "allow")
	time.Sleep(200 * time.Millisecond) // it would have come by now
	select {
	case a := <-got:
		t.Fatalf("a forged signal answers: %+v", a)
	default:
	}
	over()
	a := <-got
	if a.word != "" || a.err != nil {
		t.Errorf("the offer's end: %+v", a)
	}
	a.become("it is over")
	if !d.Closed(1) {
		t.Error("what is over is still shown")
	}
	fromClient = func(pid int) (bool, string) { return pid != busOf(t), "anything" }
	if _, _, err := c.ask(t.Context(), both); err != errAgentsDaemon || len(d.Received()) != 1 {
		t.Errorf("an agent's daemon: %v", err)
	}
}

// An agent's session bus claims any sender: no answer from it is believed, and one that does
// not answer is not waited for.
func TestDesktopAgentsBus(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "tcp:host=localhost,port=1;"+d.Address)
	trustDaemon(t)
	c := &desktop{jump: []string{"true"}}
	fromClient = func(pid int) (bool, string) { return pid == busOf(t), "anything" }
	if _, _, err := c.ask(t.Context(), both); !errors.Is(err, errAgentsBus) || len(d.Received()) != 0 {
		t.Errorf("an agent's bus: %v", err)
	}
	fromClient = func(int) (bool, string) { return false, "" }
	if word, _, err := c.ask(t.Context(), both); word != "" || !errors.Is(err, errUnseen) {
		t.Errorf("nobody's bus: %q, %v", word, err)
	}
	if got := d.Received(); len(got) != 1 || got[0].Buttons != "default" {
		t.Errorf("nobody's bus shows %q", got)
	}

	path := filepath.Join(t.TempDir(), "bus")
	silent, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	trustDaemon(t)
	ctx, over := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer over()
	if _, _, err := c.ask(ctx, both); err == nil {
		t.Error("a bus that says nothing has shown something")
	}
}

// If any program can make the daemon press a button, no button allows anything.
func TestDesktopDriven(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	d.Rename("mako")
	got := asking(t, t.Context(), d, &desktop{jump: []string{"true"}}, both)
	if shown := d.Received()[0].Buttons; shown != "default deny" {
		t.Errorf("it has the buttons %q", shown)
	}
	d.Press(1, "allow")
	if a := <-got; a.word != "" {
		t.Errorf("a program answers %q", a.word)
	}
	if len(both.Buttons) != 2 {
		t.Error("the offer has lost a button")
	}
}

// A notify-send without actions shows the text, also of a request.
func TestDesktopOldNotifySend(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	dir := t.TempDir()
	old := "#!/bin/sh\ncase $1 in --help) echo '  -e, --expire-time=TIME'; exit;; esac\n" +
		"case \"$*\" in *--action*|*--wait*|*--print-id*) echo 'Unknown option'; exit 1;; esac\nexec /usr/bin/notify-send \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	was := systemDirs
	systemDirs = append([]string{dir}, was...)
	t.Cleanup(func() { systemDirs = was })
	c := &desktop{[]string{"false"}}
	if err := c.send(t.Context(), both.Note); err != nil {
		t.Error(err)
	}
	if word, _, err := c.ask(t.Context(), both); word != "" || err != nil {
		t.Errorf("a request: %q, %v", word, err)
	}
	want := dbustest.Message{Title: both.Title, Body: "Bash\nmake &lt;all&gt;"}
	if got := d.Received(); len(got) != 2 || got[0] != want || got[1] != want {
		t.Errorf("received %q", got)
	}
}

// A program of the search path is not asked for an answer, nor does an environment that an
// agent chose reach notify-send.
func TestDesktopAgentsProgram(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	dir := t.TempDir()
	for _, name := range []string{"notify-send", "busctl", "dbus-send"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho allow\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("LD_PRELOAD", filepath.Join(dir, "evil.so"))
	ctx, over := context.WithCancel(t.Context())
	got := asking(t, ctx, d, &desktop{jump: []string{"true"}}, both)
	over()
	if a := <-got; a.word != "" || a.err != nil {
		t.Errorf("it answers %+v", a)
	}
}

// Another program that becomes the daemon answers nothing.
func TestDesktopTakenOver(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	got := asking(t, t.Context(), d, &desktop{jump: []string{"true"}}, both)
	d.Replace()
	d.Press(1, "allow")
	if a := <-got; a.word != "" || !errors.Is(a.err, errOther) {
		t.Errorf("its answer: %+v", a)
	}
}

// Nothing waits on when the request's process has been killed, and its notification is gone.
func TestDesktopKilled(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	cmd := exec.Command(os.Args[0], "-test.run=^TestDesktopKilledAsker$")
	cmd.Env = append(os.Environ(), "DESKTOP_ASKER=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitReceived(t, d, 1)
	awaitSenders(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(time.Minute); !d.Closed(1); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the notification is still shown")
		}
	}
}

// TestDesktopKilledAsker is the process that TestDesktopKilled kills.
func TestDesktopKilledAsker(t *testing.T) {
	if os.Getenv("DESKTOP_ASKER") == "" {
		t.Skip("no test of its own")
	}
	trustDaemon(t)
	_, _, _ = (&desktop{jump: []string{"true"}}).ask(t.Context(), both)
}

// Other users of the machine see the command line of notify-send: it has no secrets.
func TestDesktopTexts(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	o := &request.Request{ID: "O1", Kind: request.Permission, Tool: "Bash", Cwd: "/src/shop", Host: "here"}
	for command, buttons := range map[string][]request.Word{
		"make test": {request.Allow, request.Deny},
		"curl -H 'Authorization: token " + secret + "' x": {request.Deny},
	} {
		o.Payload = []byte(`{"tool_input":{"command":"` + command + `"}}`)
		a := AskOf(o, "here", Desktop(true, nil).Rows)
		if strings.Contains(a.Title+a.Body, secret) || !slices.Equal(a.Buttons, buttons) {
			t.Errorf("%q: %q, %q", command, a.Body, a.Buttons)
		}
	}
}
