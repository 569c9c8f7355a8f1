package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"beckon/state/evidence"
	"beckon/state/offer"

	"github.com/godbus/dbus/v5"
)

// The notification daemon's interface (specifications.freedesktop.org/notification-spec).
const (
	daemonName = "org.freedesktop.Notifications"
	daemonPath = "/org/freedesktop/Notifications"
	jumpAction = "default" // a click on the notification itself
	neverGone  = int32(0)  // it is taken away when its offer is over
)

// desktopRows is what a desktop shows of a notification.
const desktopRows = 6

// Asks reports whether the user wants buttons, where the system has them.
func (d *DesktopChannel) Asks() bool {
	return d.Actions && runtime.GOOS != "darwin" && runtime.GOOS != "windows"
}

// Words says what a notification shows: it stays on this machine.
func (*DesktopChannel) Words() Words { return Words{Rows: desktopRows, Full: true} }

// Ask shows a with buttons. It speaks to the bus itself: a program in between
// would have to be believed, and a directory of the search path may be anybody's.
// An answer is a signal of the very connection that took the notification, for
// the number that it gave; the bus says whose a signal is, and who sends one
// cannot. A daemon that an agent started is none.
//
// A daemon without buttons shows a as any notification.
func (d *DesktopChannel) Ask(ctx context.Context, a Ask) (word offer.Word, become func(string), err error) {
	become = func(string) {}
	b, err := dial(ctx)
	if errors.Is(err, errNoButtons) {
		return "", become, d.Send(ctx, a.Note)
	}
	if err != nil {
		return "", become, err
	}
	id, err := b.show(ctx, a, len(d.jump) > 0)
	if err != nil {
		b.conn.Close()
		return "", become, err
	}
	become = func(string) {
		_ = b.call(context.WithoutCancel(ctx), "CloseNotification", id).Err // it may be gone
		b.conn.Close()
	}
	for {
		key, ok := b.next(ctx, id)
		if !ok {
			return "", become, nil
		}
		if key == jumpAction {
			_ = d.follow(ctx, a.Note)
		} else if a.has(offer.Word(key)) {
			return offer.Word(key), become, nil
		}
	}
}

// daemon is the connection to a notification daemon.
type daemon struct {
	conn    *dbus.Conn
	object  dbus.BusObject
	owner   string // the unique name of its connection
	signals chan *dbus.Signal
}

var (
	errNoButtons    = errors.New("this desktop's notifications have no buttons")
	errAgentsDaemon = errors.New("an agent started the notification daemon: it is not believed")
)

// address is the session bus's; the library would start one where there is none.
func address() string {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		return a
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
}

func dial(ctx context.Context) (b *daemon, err error) {
	if !bus(os.Getenv) {
		return nil, ErrNoDesktop
	}
	conn, err := dbus.Connect(address(), dbus.WithContext(context.WithoutCancel(ctx)))
	if err != nil {
		return nil, fmt.Errorf("the session bus: %w", err)
	}
	b = &daemon{conn: conn, object: conn.Object(daemonName, daemonPath), signals: make(chan *dbus.Signal, 64)}
	if err := b.meet(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return b, nil
}

// meet finds out who the daemon is, and that it has buttons.
func (b *daemon) meet(ctx context.Context) error {
	var able []string
	if err := b.call(ctx, "GetCapabilities").Store(&able); err != nil { // starts it
		return fmt.Errorf("the notification daemon: %w", err)
	}
	if !slices.Contains(able, "actions") {
		return errNoButtons
	}
	var pid uint32
	broker := b.conn.BusObject()
	err := broker.CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, daemonName).Store(&b.owner)
	if err == nil {
		err = broker.CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, b.owner).Store(&pid)
	}
	if err != nil {
		return fmt.Errorf("the notification daemon: %w", err)
	}
	if within, _ := fromClient(int(pid)); within {
		return errAgentsDaemon
	}
	b.object = b.conn.Object(b.owner, daemonPath) // whoever has the name later is another
	b.conn.Signal(b.signals)
	return errors.Join(
		b.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(b.owner), dbus.WithMatchInterface(daemonName), dbus.WithMatchObjectPath(daemonPath)),
		b.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, b.owner)))
}

// fromClient is replaced in tests, which an agent may run.
var fromClient = evidence.FromClient

func (b *daemon) call(ctx context.Context, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(ctx, desktopLimit)
	defer cancel()
	return b.object.CallWithContext(ctx, daemonName+"."+method, 0, args...)
}

// show shows a and returns the daemon's number for it.
func (b *daemon) show(ctx context.Context, a Ask, jumps bool) (id uint32, err error) {
	actions := []string{}
	if jumps {
		actions = append(actions, jumpAction, "Go to it")
	}
	labels := map[offer.Word]string{offer.Allow: "Allow", offer.Deny: "Deny"}
	for _, w := range a.Buttons {
		actions = append(actions, string(w), labels[w])
	}
	err = b.call(ctx, "Notify", "beckon", uint32(0), "", a.Title, escapeMarkup(a.Text), actions, map[string]dbus.Variant{}, neverGone).Store(&id)
	return id, err
}

// grace is how long after a notification was put away its click may come: daemons
// differ in which they tell first.
const grace = 500 * time.Millisecond

// next waits for what is done to the notification id: the key of its button. It
// reports false when it was put away, or the daemon or ctx ended.
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
				continue // the bus passes on what is sent to us, whatever we asked for
			case s.Name == daemonName+".ActionInvoked":
				key, ok = s.Body[1].(string)
				return key, ok
			case s.Name == daemonName+".NotificationClosed":
				away = time.After(grace)
			}
		}
	}
}
