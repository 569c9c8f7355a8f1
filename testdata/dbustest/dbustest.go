//go:build linux

// Package dbustest starts a session bus for a test, with a notification daemon that uses the
// real protocol (python-dbusmock's) and records what it receives.
package dbustest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

// python is the system's own, because the package python3-dbusmock belongs to it.
const python = "/usr/bin/python3"

// Daemon is a notification daemon.
type Daemon struct {
	Address string // for DBUS_SESSION_BUS_ADDRESS

	t    testing.TB
	log  string
	stop func() // ends the daemon
}

// Message is one notification as the daemon received it, with the keys of its
// buttons. Its numbers count from 1.
type Message struct {
	Title, Body string
	Buttons     string // as in "default deny"
}

// Start starts a bus and a daemon for the duration of a test. Without the programs for it the
// test is skipped; in CI it fails.
func Start(t testing.TB) *Daemon {
	t.Helper()
	for _, program := range []string{"dbus-daemon", "dbus-send", "notify-send", python} {
		need.Program(t, program)
	}
	if out, err := exec.Command(python, "-c", "import dbusmock").CombinedOutput(); err != nil {
		need.Missing(t, "a notification daemon needs python3-dbusmock: %s", out)
	}
	d := &Daemon{t: t, log: filepath.Join(t.TempDir(), "daemon.log")}
	d.Address = d.bus()
	d.start()
	d.Rename("gnome-shell")
	return d
}

// Replace makes another process the daemon, after the first has ended.
func (d *Daemon) Replace() { d.t.Helper(); d.stop(); d.start() }

func (d *Daemon) start() {
	d.t.Helper()
	mock := exec.Command(python, "-m", "dbusmock", "--session", "--template", "notification_daemon",
		"--parameters", `{"capabilities": "body body-markup actions"}`, "-l", d.log)
	mock.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+d.Address)
	d.stop = d.run(mock)
	for range 600 {
		if d.send("org.freedesktop.DBus.Peer.Ping") == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.t.Fatal("the notification daemon does not answer")
}

func (d *Daemon) bus() string {
	d.t.Helper()
	bus := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address=1")
	out, err := bus.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	d.run(bus)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		d.t.Fatalf("starting a session bus: %v", err)
	}
	return address[:len(address)-1]
}

func (d *Daemon) run(cmd *exec.Cmd) (stop func()) {
	d.t.Helper()
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	d.t.Cleanup(stop)
	return stop
}

// Rename gives the daemon the name of a desktop's daemon.
func (d *Daemon) Rename(name string) {
	d.t.Helper()
	d.says("GetServerInformation", "ssss", fmt.Sprintf("(%q, 'vendor', '1.0', '1.2')", name))
}

// Lacks makes it a daemon without buttons.
func (d *Daemon) Lacks() { d.t.Helper(); d.says("GetCapabilities", "as", "['body']") }

// says sets what a method of the daemon returns, as a Python value.
func (d *Daemon) says(method, signature, value string) {
	d.t.Helper()
	if err := d.send("org.freedesktop.DBus.Mock.AddMethod", "string:org.freedesktop.Notifications", "string:"+method, "string:", "string:"+signature,
		"string:ret = "+value); err != nil {
		d.t.Fatalf("setting what %s of the notification daemon returns: %v", method, err)
	}
}

func (d *Daemon) send(method string, args ...string) error {
	cmd := exec.Command("dbus-send", append([]string{"--session", "--print-reply", "--reply-timeout=2000",
		"--dest=org.freedesktop.Notifications", "/org/freedesktop/Notifications", method}, args...)...)
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+d.Address)
	return cmd.Run()
}

// Click clicks on the notification with that number, and closes it as daemons do.
func (d *Daemon) Click(number int) { d.t.Helper(); d.Press(number, "default") }

// Press presses a button of a notification, by its key. It uses python because dbus-send has
// no arrays of variants.
func (d *Daemon) Press(number int, key string) {
	d.t.Helper()
	d.python(`
o = dbus.SessionBus().get_object("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
def emit(name, signature, values):
    o.EmitSignal("org.freedesktop.Notifications", name, signature, values, dbus_interface="org.freedesktop.DBus.Mock")
emit("ActionInvoked", "us", [n, dbus.String(key)])
emit("NotificationClosed", "uu", [n, dbus.UInt32(2)])
`, number, key)
}

// Forge makes another program of the user claim that a button was pressed: to all, and to each
// connection individually.
func (d *Daemon) Forge(number int, key string) {
	d.t.Helper()
	d.python(`
from dbus.lowlevel import SignalMessage
bus = dbus.SessionBus()
everybody = [None] + [c for c in bus.list_names() if c.startswith(":")]
for to in everybody:
    m = SignalMessage("/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActionInvoked")
    m.append(n, key, signature="us")
    if to:
        m.set_destination(to)
    bus.send_message(m)
bus.flush()
bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus").GetId()
`, number, key)
}

func (d *Daemon) python(script string, number int, key string) {
	d.t.Helper()
	cmd := exec.Command(python, "-c", "import sys, dbus\nn, key = dbus.UInt32(int(sys.argv[1])), sys.argv[2]\n"+script, strconv.Itoa(number), key)
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS="+d.Address)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("pressing: %v: %s", err, out)
	}
}

// Closed reports whether its sender closed a notification.
func (d *Daemon) Closed(number int) bool {
	d.t.Helper()
	return strings.Contains(d.read(), fmt.Sprintf(" CloseNotification %d\n", number))
}

func (d *Daemon) read() string {
	d.t.Helper()
	log, err := os.ReadFile(d.log)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(log)
}

var received = regexp.MustCompile(`(?m)^[0-9.]+ Notify "[^"]*" \d+ "[^"]*" "([^"]*)" "([^"]*)" \[([^\]]*)\]`)

var button = regexp.MustCompile(`"([^"]*)", "[^"]*"`)

// Received returns what the daemon has received so far, in order.
func (d *Daemon) Received() (all []Message) {
	d.t.Helper()
	for _, m := range received.FindAllStringSubmatch(d.read(), -1) {
		var keys []string
		for _, b := range button.FindAllStringSubmatch(m[3], -1) {
			keys = append(keys, b[1])
		}
		all = append(all, Message{m[1], m[2], strings.Join(keys, " ")})
	}
	return all
}
