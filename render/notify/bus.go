package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/state/evidence"

	"github.com/godbus/dbus/v5"
)

// The notification daemon's interface (specifications.freedesktop.org/notification-spec).
const (
	daemonName = "org.freedesktop.Notifications"
	daemonPath = "/org/freedesktop/Notifications"
	jumpAction = "default" // a click on the notification itself
	neverGone  = int32(0)  // its expiry: it is removed when its offer is over
	asUsual    = int32(-1) // its expiry: the daemon decides
)

// daemon is the notification daemon of this session bus.
type daemon struct {
	conn    *dbus.Conn
	object  dbus.BusObject
	able    []string // its capabilities
	owner   string   // the unique name of its connection
	driven  bool     // other programs may be able to press its buttons
	signals chan *dbus.Signal
}

// undriven are daemons, by their own names, whose buttons no program can press. Others have a
// command or a bus method for it: mako, dunst, SwayNC, Plasma.
var undriven = []string{"gnome-shell", "cinnamon", "Xfce Notify Daemon", "Notification Daemon"} // the last is MATE's

var (
	errNoButtons    = errors.New("this desktop's notifications have no buttons")
	errAgentsDaemon = errors.New("an agent started the notification daemon: it is not trusted")
	errAgentsBus    = errors.New("an agent started the session bus: it is not trusted")
	errUnseen       = errors.New("it cannot be seen who started the session bus or the notification daemon: its buttons are not trusted")
)

// address returns the session bus's address; the library would start a bus if there is none.
func address() string {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		return a
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
}

// dial connects to the daemon. asks means that its buttons are to be trusted.
func dial(ctx context.Context, asks bool) (b *daemon, err error) {
	if !bus(os.Getenv) {
		return nil, ErrNoDesktop
	}
	conn, err := connect(ctx, asks)
	if err != nil {
		return nil, fmt.Errorf("the session bus: %w", err)
	}
	b = &daemon{conn: conn, object: conn.Object(daemonName, daemonPath), signals: make(chan *dbus.Signal, 64)}
	if err := b.meet(ctx, asks); err != nil {
		conn.Close()
		return nil, err
	}
	return b, nil
}

// connect connects to the session bus. Its socket is a file of the user, which an agent could
// replace, and the bus vouches for its senders: so if it is to be trusted, an agent must not
// have started it.
func connect(ctx context.Context, trusted bool) (*dbus.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, desktopLimit)
	defer cancel()
	to, err := (&net.Dialer{}).DialContext(ctx, "unix", socket(address()))
	if err != nil {
		return nil, err
	}
	late := context.AfterFunc(ctx, func() { to.Close() }) // it may accept the message and never respond
	conn, err := dbus.NewConn(to)
	if err == nil && trusted {
		err = checkOrigin(listener(to), errAgentsBus)
	}
	if err == nil {
		err = conn.Auth(nil)
	}
	if err == nil {
		err = conn.Hello()
	}
	if !late() {
		err = ctx.Err()
	}
	if err != nil {
		to.Close()
		return nil, err
	}
	return conn, nil
}

// socket returns the first of a bus's addresses that is a socket of this machine, "" for none.
func socket(addresses string) string {
	for a := range strings.SplitSeq(addresses, ";") {
		keys, ok := strings.CutPrefix(a, "unix:")
		if !ok {
			continue // the process at its other end cannot be seen
		}
		for key := range strings.SplitSeq(keys, ",") {
			name, value, _ := strings.Cut(key, "=")
			value, err := dbus.UnescapeBusAddressValue(value)
			switch {
			case err != nil:
			case name == "path":
				return value
			case name == "abstract":
				return "@" + value
			}
		}
	}
	return ""
}

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

// meet identifies the daemon, and subscribes to its signals.
func (b *daemon) meet(ctx context.Context, asks bool) error {
	if err := b.call(ctx, "GetCapabilities").Store(&b.able); err != nil { // starts it
		return fmt.Errorf("the notification daemon: %w", err)
	}
	if err := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, daemonName).Store(&b.owner); err != nil {
		return fmt.Errorf("the notification daemon: %w", err)
	}
	if asks {
		if err := b.check(ctx); err != nil {
			return err
		}
	}
	b.object = b.conn.Object(b.owner, daemonPath) // a later owner of the name is a different daemon
	b.conn.Signal(b.signals)
	return errors.Join(
		b.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(b.owner), dbus.WithMatchInterface(daemonName), dbus.WithMatchObjectPath(daemonPath)),
		b.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, b.owner)))
}

// check returns an error unless the daemon has buttons that can be trusted.
func (b *daemon) check(ctx context.Context) error {
	if !slices.Contains(b.able, "actions") || !slices.Contains(b.able, "body") {
		return errNoButtons // without a body it would not show the request
	}
	var pid uint32
	if err := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, b.owner).Store(&pid); err != nil {
		return fmt.Errorf("the notification daemon: %w", err)
	}
	if err := checkOrigin(int(pid), errAgentsDaemon); err != nil {
		return err
	}
	var name, vendor, version, spec string
	_ = b.call(ctx, "GetServerInformation").Store(&name, &vendor, &version, &spec) // a daemon that does not answer is not a known one
	b.driven = !slices.Contains(undriven, name)
	return nil
}

// fromClient is replaced in tests, which an agent may run.
var fromClient = evidence.FromClient

func (b *daemon) call(ctx context.Context, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(ctx, desktopLimit)
	defer cancel()
	return b.object.CallWithContext(ctx, daemonName+"."+method, 0, args...)
}

// show shows a until it expires, and returns the daemon's number for it.
func (b *daemon) show(ctx context.Context, a Ask, jumps bool, expires int32) (id uint32, err error) {
	actions := []string{}
	if jumps {
		actions = append(actions, jumpAction, "Go to it")
	}
	for _, w := range a.Buttons {
		actions = append(actions, string(w), buttonLabels[w])
	}
	err = b.call(ctx, "Notify", "beckon", uint32(0), "", a.Title, escapeMarkup(a.Text), actions, map[string]dbus.Variant{}, expires).Store(&id)
	return id, err
}

// grace is how long after a notification was closed its click may arrive: daemons differ in
// which they report first.
const grace = 500 * time.Millisecond

// next waits for the user's action on the notification id: the key of its button. ok is false
// if it was closed, or the daemon or ctx ended.
func (b *daemon) next(ctx context.Context, id uint32) (key string, ok bool) {
	var away <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return "", false
		case <-away:
			return "", false
		case s, open := <-b.signals:
			switch {
			case !open || s.Sender == "org.freedesktop.DBus" && s.Name == "org.freedesktop.DBus.NameOwnerChanged":
				return "", false
			case s.Sender != b.owner || len(s.Body) < 2 || s.Body[0] != id:
				continue // the bus delivers direct messages whatever we subscribed to
			case s.Name == daemonName+".ActionInvoked":
				key, ok = s.Body[1].(string)
				return key, ok
			case s.Name == daemonName+".NotificationClosed":
				away = time.After(grace)
			}
		}
	}
}

// escapeMarkup keeps notification servers from reading a body as markup.
func escapeMarkup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
