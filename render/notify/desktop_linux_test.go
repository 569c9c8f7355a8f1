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

// A daemon without buttons shows the text, also of a request.
func TestDesktopWithoutButtons(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	trustDaemon(t)
	d.Lacks()
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

func TestDesktopMissing(t *testing.T) {
	c := &desktop{}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := c.send(context.Background(), Note{Title: "x"}); err != ErrNoDesktop {
		t.Errorf("without a bus: %v", err)
	}
	path := filepath.Join(t.TempDir(), "bus")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	if err := c.send(context.Background(), Note{Title: "x"}); err == nil || !strings.HasPrefix(err.Error(), "the session bus: ") {
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
