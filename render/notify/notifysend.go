package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/render/run"
	"beckon/state/evidence"
	"beckon/state/request"
)

// desktopRows is how many rows of text a notification shows.
const desktopRows = 6

// jumpAction is the action of a click on the notification itself.
const jumpAction = "default"

// daemonName is the notification daemon's name on the session bus, and its interface's
// (specifications.freedesktop.org/notification-spec).
const daemonName = "org.freedesktop.Notifications"

// notifySend shows notifications on a Linux desktop by notify-send. Nothing that answers for
// the user comes from the search path or the environment, where an agent may put its own:
// trusted means that programs are looked for in the system's directories alone, and get no
// environment of ours.
type notifySend struct {
	trusted bool
	bus     string // the session bus's address
	path    string // of notify-send
	buttons bool   // notify-send has actions: libnotify 0.8
	query   string // a program that asks the bus, "" for none
	able    []string
}

// systemDirs are where only root puts programs.
var systemDirs = []string{"/usr/bin", "/bin", "/run/current-system/sw/bin"}

// undriven are daemons, by their own names, whose buttons no program can press. Others have a
// command or a bus method for it: mako, dunst, SwayNC, Plasma.
var undriven = []string{"gnome-shell", "cinnamon", "Xfce Notify Daemon", "Notification Daemon"} // the last is MATE's

var (
	errNoButtons    = errors.New("this desktop's notifications have no buttons")
	errAgentsDaemon = errors.New("an agent started the notification daemon: it is not trusted")
	errAgentsBus    = errors.New("an agent started the session bus: it is not trusted")
	errUnseen       = errors.New("cannot tell who started the session bus or the notification daemon: its buttons are not trusted")
	errOther        = errors.New("another program has become the notification daemon: its answer does not count")
)

// fromClient is replaced in tests, which an agent may run.
var fromClient = evidence.FromClient

// checkOrigin returns an error if an agent's client started process pid, or may have.
func checkOrigin(pid int, agents error) error {
	switch within, name := fromClient(pid); {
	case within:
		return agents
	case name == "":
		return errUnseen
	}
	return nil
}

// find prepares notify-send. If it is to be trusted, an agent must not have started the bus:
// the socket is a file of the user, which an agent could replace, and the bus vouches for its
// senders.
func find(ctx context.Context, trusted bool) (*notifySend, error) {
	if !hasBus(os.Getenv) {
		return nil, ErrNoDesktop
	}
	n := &notifySend{trusted: trusted}
	var socket string
	n.bus, socket = address()
	ctx, cancel := context.WithTimeout(ctx, desktopLimit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err == nil {
		if trusted {
			err = checkOrigin(listener(conn), errAgentsBus)
		}
		conn.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("the session bus: %w", err)
	}
	if n.path = n.program("notify-send"); n.path == "" {
		return nil, errors.New("notify-send is not installed")
	}
	n.query = cmp.Or(n.program("busctl"), n.program("dbus-send"))
	help, err := n.run(ctx, n.path, "--help")
	n.buttons = strings.Contains(help, "--action")
	if err == nil && n.query != "" {
		n.able, err = n.ask(ctx, daemonName, "GetCapabilities") // it starts the daemon
	}
	return n, err
}

// program returns the path of a program, "" if there is none.
func (n *notifySend) program(name string) string {
	if !n.trusted {
		path, _ := exec.LookPath(name)
		return path
	}
	for _, dir := range systemDirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// address returns the first of the session bus's addresses that is a socket of this machine,
// and the socket: the process at the other end of another one cannot be seen.
func address() (bus, socket string) {
	addresses := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if addresses == "" {
		path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")
		return "unix:path=" + url.PathEscape(path), path
	}
	for a := range strings.SplitSeq(addresses, ";") {
		keys, _ := strings.CutPrefix(a, "unix:")
		for key := range strings.SplitSeq(keys, ",") {
			name, value, _ := strings.Cut(key, "=")
			value, err := url.PathUnescape(value)
			switch {
			case err != nil || keys == a:
			case name == "path":
				return a, value
			case name == "abstract":
				return a, "@" + value
			}
		}
	}
	return "", ""
}

// hasBus reports whether there is a session bus.
func hasBus(getenv func(string) string) bool {
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return dir != "" && err == nil
}

// spec returns a run of a program that talks to the bus.
func (n *notifySend) spec(argv ...string) run.Program {
	env := []string{"DBUS_SESSION_BUS_ADDRESS=" + n.bus, "LC_ALL=C.UTF-8"}
	return run.Program{Argv: argv, Env: env, Bare: n.trusted, Limit: desktopLimit}
}

func (n *notifySend) run(ctx context.Context, argv ...string) (string, error) {
	out, err := n.spec(argv...).Output(ctx)
	if said := strings.TrimSpace(out); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return out, err
}

// value is a text or a number in the output of busctl and dbus-send.
var value = regexp.MustCompile(`"([^"]*)"|uint32 (\d+)|^u (\d+)`)

// ask calls a method of a service that has one object and one interface, of its name, and
// returns the texts and numbers of its answer.
func (n *notifySend) ask(ctx context.Context, service, method string, args ...string) (values []string, err error) {
	object := "/" + strings.ReplaceAll(service, ".", "/")
	argv := []string{n.query, "--address=" + n.bus, "call", service, object, service, method}
	if len(args) > 0 {
		argv = append(append(argv, strings.Repeat("s", len(args))), args...)
	}
	if filepath.Base(n.query) == "dbus-send" {
		argv = []string{n.query, "--bus=" + n.bus, "--print-reply", "--dest=" + service, object, service + "." + method}
		for _, a := range args {
			argv = append(argv, "string:"+a)
		}
	}
	out, err := n.run(ctx, argv...)
	if err != nil {
		return nil, fmt.Errorf("the notification daemon: %w", err)
	}
	for _, m := range value.FindAllStringSubmatch(out, -1) {
		values = append(values, cmp.Or(m[1], m[2], m[3]))
	}
	return values, nil
}

// owner returns the unique name of the daemon's connection, which the bus gives to no other.
func (n *notifySend) owner(ctx context.Context) (string, error) {
	got, err := n.ask(ctx, "org.freedesktop.DBus", "GetNameOwner", daemonName)
	if err == nil && len(got) != 1 {
		err = errUnseen
	}
	return strings.Join(got, ""), err
}

// check returns an error unless the daemon has buttons that can be trusted. driven means that
// other programs may be able to press them.
func (n *notifySend) check(ctx context.Context, owner string) (driven bool, err error) {
	if !n.buttons || !slices.Contains(n.able, "actions") || !slices.Contains(n.able, "body") {
		return false, errNoButtons // without a body it would not show the request
	}
	got, err := n.ask(ctx, "org.freedesktop.DBus", "GetConnectionUnixProcessID", owner)
	if err != nil {
		return false, err
	}
	pid, _ := strconv.Atoi(strings.Join(got, ""))
	if err := checkOrigin(pid, errAgentsDaemon); err != nil {
		return false, err
	}
	about, _ := n.ask(ctx, daemonName, "GetServerInformation") // a daemon that does not answer is not a known one
	return len(about) == 0 || !slices.Contains(undriven, about[0]), nil
}

// show returns the run that shows a until the user has dealt with it, and prints the action.
func (n *notifySend) show(a Ask, expires string, actions ...string) run.Program {
	argv := []string{n.path, "--app-name=beckon", "--expire-time=" + expires}
	for _, action := range actions {
		argv = append(argv, "--action="+action)
	}
	return n.spec(append(argv, "--", a.Title, escape(a.Text))...)
}

// escape keeps a daemon from reading a text as markup, and notify-send from reading a
// backslash.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// The expiry of a notification.
const (
	neverGone = "0"  // it is removed when its request is over
	asUsual   = "-1" // the daemon decides
)

// Asks reports whether the user wants buttons, if the system has them.
func (d *DesktopChannel) Asks() bool {
	return d.Actions && runtime.GOOS != "darwin" && runtime.GOOS != "windows"
}

// Words says how much a notification shows; it stays on this machine, where all users can read
// notify-send's command line.
func (*DesktopChannel) Words() Words { return Words{Rows: desktopRows, Full: true, Open: true} }

// Ask shows a with buttons. The answer is what notify-send prints: it takes signals from the
// owner of the daemon's name alone, for the number that the daemon assigned, and the bus
// vouches for the sender of a signal. A daemon or a bus that an agent started is not trusted,
// nor an answer if another program owns the daemon's name afterwards; one that takes the name
// and gives it back in between is not noticed. If any program can make the daemon press a
// button, no button allows.
//
// The notification disappears with ctx, and with this process. A desktop without buttons shows
// a like any notification.
func (d *DesktopChannel) Ask(ctx context.Context, a Ask) (word request.Word, become func(string), err error) {
	become = func(string) {} // notify-send has removed it
	n, err := find(ctx, true)
	if err == nil && n.query == "" {
		err = errUnseen
	}
	if err != nil {
		return "", become, d.without(ctx, a, err)
	}
	owner, err := n.owner(ctx)
	driven := false
	if err == nil {
		driven, err = n.check(ctx, owner)
	}
	if err != nil {
		return "", become, d.without(ctx, a, err)
	}
	if driven {
		a.Buttons = slices.DeleteFunc(slices.Clone(a.Buttons), func(w request.Word) bool { return w == request.Allow })
	}
	var actions []string
	if len(d.Jump) > 0 {
		actions = append(actions, jumpAction+"=Go to it")
	}
	for _, w := range a.Buttons {
		actions = append(actions, string(w)+"="+buttonLabels[w])
	}
	p := n.show(a, neverGone, actions...)
	p.Limit, p.Interrupt = 0, true
	out, said, err := p.Outputs(ctx)
	if ctx.Err() != nil {
		return "", become, nil
	}
	if err != nil {
		return "", become, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said.Kept)))
	}
	key := strings.TrimSpace(string(out.Kept))
	if now, err := n.owner(ctx); err != nil || now != owner {
		return "", become, errors.Join(errOther, err)
	}
	if key == jumpAction && len(d.Jump) > 0 {
		return "", become, d.follow(ctx, &a.Note)
	}
	if slices.Contains(a.Buttons, request.Word(key)) {
		word = request.Word(key)
	}
	return word, become, nil
}

// without shows a request without buttons, unless an agent would see it.
func (d *DesktopChannel) without(ctx context.Context, a Ask, err error) error {
	switch {
	case errors.Is(err, errNoButtons):
		return d.Send(ctx, a.Note)
	case errors.Is(err, errUnseen):
		return errors.Join(err, d.Send(ctx, a.Note))
	}
	return err
}

// freedesktop shows a note, and jumps when it is clicked.
func (d *DesktopChannel) freedesktop(ctx context.Context, note Note) error {
	n, err := find(ctx, false)
	if err != nil {
		return err
	}
	a := Ask{Note: note, Text: note.Body}
	if len(d.Jump) == 0 || !n.buttons || !slices.Contains(n.able, "actions") {
		_, err := n.run(ctx, n.show(a, asUsual).Argv...)
		return err
	}
	p := n.show(a, asUsual, jumpAction+"=Go to it")
	p.Limit = clickLimit
	ended := make(chan error, 1)
	d.clicks.Go(func() {
		ctx := context.WithoutCancel(ctx)
		key, err := p.Output(ctx)
		if ended <- err; strings.TrimSpace(key) == jumpAction {
			_ = d.follow(ctx, &note)
		}
	})
	select {
	case err := <-ended:
		return err
	case <-time.After(settled):
		return nil
	}
}

// settled is how long notify-send is watched: a notification that it cannot show it reports at
// once, one that is shown it does not.
const settled = 500 * time.Millisecond

// HasDesktop returns why no notification can be shown on this Linux desktop, nil if one can.
func HasDesktop(ctx context.Context) error {
	_, err := find(ctx, false)
	return err
}
