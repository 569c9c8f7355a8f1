package notify

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/testdata/dbustest"
)

// A real daemon gets the text unchanged, and a click jumps to the session.
func TestDesktopClick(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	clicked := filepath.Join(t.TempDir(), "clicked")
	c := &desktop{[]string{"/bin/sh", "-c", `printf %s "$1" > ` + clicked, "sh"}}
	n := Note{Title: "-h & <b>", Body: `a <b> & c \n`, SessionID: "some-id"}
	if err := errors.Join(HasDesktop(context.Background()), c.send(context.Background(), n)); err != nil {
		t.Fatal(err)
	}
	awaitReceived(t, d, 1)
	if got, want := d.Received(), (dbustest.Message{Title: "-h & <b>", Body: `a &lt;b&gt; &amp; c \n`, Buttons: "default"}); len(got) != 1 || got[0] != want {
		t.Fatalf("received %q, want %q", got, want)
	}
	d.Click(1)
	Wait()
	if got, err := os.ReadFile(clicked); err != nil || string(got) != "some-id" {
		t.Errorf("the click ran with %q, %v", got, err)
	}
}

// A daemon without buttons shows the text.
func TestDesktopWithoutButtons(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	d.Lacks()
	c := &desktop{[]string{"false"}}
	if err := c.send(t.Context(), needs); err != nil {
		t.Error(err)
	}
	if got := d.Received(); len(got) != 1 || got[0] != needed {
		t.Errorf("received %q", got)
	}
}

// A notify-send without actions shows the text.
func TestDesktopOldNotifySend(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	dir := t.TempDir()
	old := "#!/bin/sh\ncase $1 in --help) echo '  -e, --expire-time=TIME'; exit;; esac\n" +
		"case \"$*\" in *--action*|*--wait*|*--print-id*) echo 'Unknown option'; exit 1;; esac\nexec /usr/bin/notify-send \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := (&desktop{[]string{"false"}}).send(t.Context(), needs); err != nil {
		t.Error(err)
	}
	if got := d.Received(); len(got) != 1 || got[0] != needed {
		t.Errorf("received %q", got)
	}
}

func TestDesktopMissing(t *testing.T) {
	c := &desktop{}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := c.send(context.Background(), Note{Title: "x"}); err != ErrNoDesktop {
		t.Errorf("without a bus: %v", err)
	}
	path := filepath.Join(t.TempDir(), "bus")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	if err := c.send(context.Background(), Note{Title: "x"}); err == nil || !strings.Contains(err.Error(), "Could not connect") {
		t.Errorf("a bus that has ended: %v", err)
	}
	silent, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, over := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer over()
	if err := c.send(ctx, Note{Title: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a bus that says nothing: %v", err)
	}
}

var (
	needs  = Note{Title: "shop needs a permission", SessionID: "s1", Body: "Bash\nmake <all>"}
	needed = dbustest.Message{Title: needs.Title, Body: "Bash\nmake &lt;all&gt;"}
)

// awaitReceived waits until the daemon has received n notifications.
func awaitReceived(t *testing.T, d *dbustest.Daemon, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(d.Received()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was not shown")
		}
	}
}
