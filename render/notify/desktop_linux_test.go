package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/render/notify/dbustest"
)

// A real daemon gets the text unchanged, and a click jumps to the session.
func TestDesktopClick(t *testing.T) {
	d := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", d.Address)
	clicked := filepath.Join(t.TempDir(), "clicked")
	c := &DesktopChannel{Jump: []string{"/bin/sh", "-c", `printf %s "$1" > ` + clicked, "sh"}}
	n := Note{Title: "-h & <b>", Body: "a <b> & c", SessionID: "some-id"}
	if err := c.Send(context.Background(), n); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Received(), (dbustest.Message{Title: "-h & <b>", Body: "a &lt;b&gt; &amp; c", Buttons: "default"}); len(got) != 1 || got[0] != want {
		t.Fatalf("received %q, want %q", got, want)
	}
	d.Click(1)
	c.Wait()
	if got, err := os.ReadFile(clicked); err != nil || string(got) != "some-id" {
		t.Errorf("the click ran with %q, %v", got, err)
	}
}

func TestDesktopMissing(t *testing.T) {
	c := &DesktopChannel{}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := c.Send(context.Background(), Note{Title: "x"}); err != ErrNoDesktop {
		t.Errorf("without a bus: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "bus"))
	t.Setenv("PATH", t.TempDir())
	if err := c.Send(context.Background(), Note{Title: "x"}); err == nil || err.Error() != "notify-send is not installed" {
		t.Errorf("without notify-send: %v", err)
	}
}

// A notify-send that does not support clicks still shows the text; one that hangs is killed.
func TestDesktopOldAndHanging(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("OUT", filepath.Join(dir, "out"))
	program := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program(`case "$*" in *--action*) echo 'Unknown option --action' >&2; exit 1;; esac; echo "$@" > "$OUT"` + "\n")
	if err := (&DesktopChannel{Jump: []string{"true"}}).Send(context.Background(), Note{Title: "title", Body: "body"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "out")); string(got) != "--app-name=beckon -- title body\n" {
		t.Errorf("it was called with %q", got)
	}
	program("sleep 60\n")
	err := (&DesktopChannel{}).Send(context.Background(), Note{Title: "title"})
	if err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("a hanging one: %v", err)
	}
}
