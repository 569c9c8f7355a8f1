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
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/run"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/request"

	"golang.org/x/sys/unix"
)

const (
	jumpKey    = "default" // a click on the notification itself
	jumpAction = jumpKey + "=Go to it"
	// daemonName is the notification daemon's name on the session bus, and its interface's
	// (specifications.freedesktop.org/notification-spec).
	daemonName = "org.freedesktop.Notifications"
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
	// settled is how long notify-send is watched for an error: one that fails ends at once.
	settled = 500 * time.Millisecond
)

// notifySend shows notifications by notify-send. Nothing that answers for the user comes from
// the search path or the environment, where an agent may put its own: if trusted is set,
// programs are looked for in the system's directories alone, and get no environment of ours.
type notifySend struct {
	trusted bool
	bus     string // the session bus's address
	path    string // of notify-send
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
	errUnseen       = errors.New(
		"cannot tell who started the session bus or the notification daemon: its buttons are not trusted",
	)
	errOther = errors.New("another program has become the notification daemon: its answer does not count")
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
func find(trusted bool) (*notifySend, error) {
	n := &notifySend{trusted: trusted}
	var socket string
	if n.bus, socket = address(); n.bus == "" {
		return nil, ErrNoDesktop
	}
	conn, err := net.DialTimeout("unix", socket, programLimit)
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
	return n, nil
}

// listener returns the process at the other end of a Unix socket, 0 if unknown.
func listener(conn net.Conn) (pid int) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // it fails if the socket is closed: then pid stays 0
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

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

// unixBus is an address of a bus at a socket of this machine.
var unixBus = regexp.MustCompile(`(?:^|;)(unix:(?:[^;,]*,)*(path|abstract)=([^;,]*)[^;]*)`)

// address returns the first of the session bus's addresses that is a socket of this machine,
// and the socket: the process at the other end of another one cannot be seen.
func address() (bus, socket string) {
	addresses := os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if addresses == "" {
		path := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			return "", ""
		}
		addresses = "unix:path=" + url.PathEscape(path)
	}
	m := unixBus.FindStringSubmatch(addresses)
	if m == nil {
		return "", ""
	}
	socket, _ = url.PathUnescape(m[3]) // a wrong one is found when it is dialled
	if m[2] == "abstract" {
		socket = "@" + socket
	}
	return m[1], socket
}

// spec returns a run of a program that talks to the bus.
func (n *notifySend) spec(argv ...string) run.Program {
	env := []string{"DBUS_SESSION_BUS_ADDRESS=" + n.bus, "LC_ALL=C.UTF-8"}
	return run.Program{Argv: argv, Env: env, Bare: n.trusted, Limit: programLimit}
}

// value is a text or a number in the output of dbus-send.
var value = regexp.MustCompile(`(?m)^ +(?:string "(.*)"|uint32 (\d+))$`)

// ask calls a method of a service that has one object and one interface, of its name, and
// returns the texts and numbers of its answer.
func (n *notifySend) ask(ctx context.Context, service, method string, args ...string) (values []string, err error) {
	path := n.program("dbus-send")
	if path == "" {
		return nil, errUnseen
	}
	argv := []string{path, "--bus=" + n.bus, "--print-reply", "--dest=" + service,
		"/" + strings.ReplaceAll(service, ".", "/"), service + "." + method}
	for _, a := range args {
		argv = append(argv, "string:"+a)
	}
	out, err := n.spec(argv...).Output(ctx)
	if err != nil {
		return nil, fmt.Errorf("the notification daemon: %w: %s", err, strings.TrimSpace(out))
	}
	for _, m := range value.FindAllStringSubmatch(out, -1) {
		values = append(values, cmp.Or(m[1], m[2]))
	}
	return values, nil
}

func (n *notifySend) owner(ctx context.Context) (string, error) {
	got, err := n.ask(ctx, "org.freedesktop.DBus", "GetNameOwner", daemonName)
	if err == nil && len(got) != 1 {
		err = errUnseen
	}
	return strings.Join(got, ""), err
}

// check returns the daemon's owner, and an error unless its buttons can be trusted. driven
// means that other programs may be able to press them.
func (n *notifySend) check(ctx context.Context) (owner string, driven bool, err error) {
	able, err := n.ask(ctx, daemonName, "GetCapabilities") // it starts the daemon
	if err != nil {
		return "", false, err
	}
	if !slices.Contains(able, "actions") || !slices.Contains(able, "body") {
		return "", false, errNoButtons // without a body it would not show the request
	}
	if owner, err = n.owner(ctx); err != nil {
		return "", false, err
	}
	got, err := n.ask(ctx, "org.freedesktop.DBus", "GetConnectionUnixProcessID", owner)
	if err != nil {
		return "", false, err
	}
	pid, _ := strconv.Atoi(strings.Join(got, ""))
	if err := checkOrigin(pid, errAgentsDaemon); err != nil {
		return "", false, err
	}
	about, _ := n.ask(ctx, daemonName, "GetServerInformation") // a daemon that does not answer is not a known one
	return owner, len(about) == 0 || !slices.Contains(undriven, about[0]), nil
}

// escape keeps a daemon from reading a text as markup, and notify-send from reading a
// backslash.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// show shows note until it expires, in milliseconds (0 for never, -1 for as the daemon decides), the
// user has dealt with it, or limit has passed (0 for never), and returns the action that the user
// chose, "" for none.
func (n *notifySend) show(
	ctx context.Context, note Note, expires string, limit time.Duration, actions ...string,
) (key string, err error) {
	argv := []string{n.path, "--app-name=beckon", "--expire-time=" + expires}
	for _, action := range actions {
		argv = append(argv, "--action="+action)
	}
	p := n.spec(append(argv, "--", note.Title, escape(note.Body))...)
	p.Limit, p.Interrupt = limit, limit == 0
	out, said, err := p.Outputs(ctx)
	all := string(out.Kept) + string(said.Kept)
	switch {
	case err == nil, strings.Contains(all, "Actions are not supported"): // by the daemon: it is shown without
		return strings.TrimSpace(string(out.Kept)), nil
	case strings.Contains(all, "Unknown option"): // before libnotify 0.8
		return "", errNoButtons
	}
	return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(all))
}

// Desktop is the channel of the desktop's notifications. A click runs jump with the session's id; with
// buttons a request has some. A notification stays on this machine, where all users can read
// notify-send's command line.
func Desktop(buttons bool, jump []string) Channel {
	d := desktop{jump}
	c := Channel{Name: alert.Desktop, Send: d.send, Rows: 6}
	if buttons {
		c.Ask = d.ask
	}
	return c
}

type desktop struct{ jump []string }

// ask shows a with buttons. The answer is what notify-send prints: it takes signals from the
// owner of the daemon's name alone, for the number that the daemon assigned, and the bus
// vouches for the sender of a signal. A daemon or a bus that an agent started is not trusted,
// nor an answer if another program owns the daemon's name afterwards; one that takes the name
// and gives it back in between is not noticed. If any program can make the daemon press a
// button, no button allows.
//
// The notification disappears with ctx, and with this process. A desktop without buttons shows
// a like any notification.
func (d desktop) ask(ctx context.Context, a Ask) (word request.Word, become func(string), err error) {
	word, err = d.choose(ctx, a)
	switch {
	case errors.Is(err, errNoButtons):
		err = d.send(ctx, a.Note)
	case errors.Is(err, errUnseen): // nothing says that an agent would see it
		err = errors.Join(err, d.send(ctx, a.Note))
	}
	return word, func(string) {}, err // notify-send has removed it
}

func (d desktop) choose(ctx context.Context, a Ask) (word request.Word, err error) {
	n, err := find(true)
	if err != nil {
		return "", err
	}
	owner, driven, err := n.check(ctx)
	if err != nil {
		return "", err
	}
	actions := []string{jumpAction}
	for _, w := range a.Buttons {
		if w != request.Allow || !driven {
			actions = append(actions, string(w)+"="+buttonLabels[w])
		}
	}
	key, err := n.show(ctx, a.Note, "0", 0, actions...)
	switch {
	case ctx.Err() != nil:
		return "", nil
	case err != nil:
		return "", err
	}
	if now, err := n.owner(ctx); err != nil || now != owner {
		return "", errors.Join(errOther, err)
	}
	chosen := slices.ContainsFunc(actions, func(action string) bool { return strings.HasPrefix(action, key+"=") })
	switch {
	case !chosen:
		return "", nil
	case key == jumpKey:
		return "", d.follow(ctx, &a.Note)
	}
	return request.Word(key), nil
}

// send shows a note. It returns when that is shown; Wait waits for a click, which jumps.
func (d desktop) send(ctx context.Context, note Note) error {
	n, err := find(false)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	clicks.Go(func() {
		ctx := context.WithoutCancel(ctx)
		key, err := n.show(ctx, note, "-1", clickLimit, jumpAction)
		if errors.Is(err, errNoButtons) {
			_, err = n.show(ctx, note, "-1", programLimit)
		}
		if ended <- err; key == jumpKey {
			_ = d.follow(ctx, &note)
		}
	})
	select {
	case err = <-ended:
	case <-time.After(settled):
	case <-ctx.Done():
		err = ctx.Err()
	}
	return err
}

func (d desktop) follow(ctx context.Context, n *Note) error {
	argv := append(slices.Clone(d.jump), n.record())
	_, err := run.Program{Argv: argv, Limit: programLimit}.Output(ctx)
	return err
}

// HasDesktop returns why no notification can be shown, nil if one can.
func HasDesktop(ctx context.Context) error {
	n, err := find(false)
	if err == nil && n.program("dbus-send") != "" {
		_, err = n.ask(ctx, daemonName, "GetCapabilities")
	}
	return err
}
