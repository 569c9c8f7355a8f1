package notify

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"beckon/state/alert"
	"beckon/state/store"
)

// Limits of the desktop.
const (
	desktopLimit = 5 * time.Second
	// clickLimit is how long a process waits for a click on its notification.
	clickLimit = 2 * time.Minute
)

// DesktopChannel is the channel of the desktop's notifications. A click jumps to the
// session on Linux, and on macOS with terminal-notifier.
type DesktopChannel struct {
	Actions bool     // notifications of requests have buttons
	Jump    []string // the command that jumps to a session, without its id; or nil

	clicks sync.WaitGroup
}

// Name returns the channel's name in the configuration.
func (*DesktopChannel) Name() string { return alert.Desktop }

// Send returns when the notification is shown. Wait waits for a click on it.
func (d *DesktopChannel) Send(ctx context.Context, n Note) error {
	switch runtime.GOOS {
	case "darwin":
		return d.mac(ctx, n)
	case "windows":
		return toast(ctx, n)
	}
	return d.freedesktop(ctx, n)
}

// Wait waits until every notification was clicked or closed, at most two minutes.
func (d *DesktopChannel) Wait() { d.clicks.Wait() }

func (d *DesktopChannel) follow(ctx context.Context, n Note) error {
	if len(d.Jump) == 0 {
		return nil
	}
	_, err := run(ctx, desktopLimit, nil, nil, append(d.Jump[:len(d.Jump):len(d.Jump)], n.record())...)
	return err
}

// ErrNoDesktop means that there is no desktop, as over SSH or in a container.
var ErrNoDesktop = errors.New("no desktop here: there is no session bus")

// bus reports whether there is a session bus.
func bus(getenv func(string) string) bool {
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := getenv("XDG_RUNTIME_DIR")
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return dir != "" && err == nil
}

// mac shows n with terminal-notifier, which supports clicks, else with osascript.
func (d *DesktopChannel) mac(ctx context.Context, n Note) error {
	path, err := exec.LookPath("terminal-notifier")
	if err == nil && len(d.Jump) > 0 && string(store.KeyOf(n.record())) == n.record() {
		_, err = run(ctx, desktopLimit, nil, nil, path, "-title", guarded(n.Title), "-message", guarded(n.Body),
			"-group", n.record(), "-execute", shellLine(append(d.Jump[:len(d.Jump):len(d.Jump)], n.record())))
		return err
	}
	_, err = run(ctx, desktopLimit, nil, nil, "osascript", "-e", "on run argv",
		"-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", guarded(n.Title), n.Body)
	return err
}

// guarded keeps terminal-notifier from reading a text as an option or a list.
func guarded(s string) string {
	if s == "" || strings.ContainsAny(s[:1], `-[{("<`) {
		return " " + s
	}
	return s
}

// shellLine quotes words for sh, in which terminal-notifier runs the command of a click.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// toast shows n with Windows' own toasts. PowerShell reads the texts from the environment and
// inserts them into the XML as text, so nothing has to be quoted.
func toast(ctx context.Context, n Note) error {
	_, err := run(ctx, desktopLimit, nil, n.env(), "powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command", toastScript)
	return err
}

// toastScript shows the toast as PowerShell's: it needs a program from the start menu, and
// beckon is not there.
const toastScript = `$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$text = $xml.GetElementsByTagName('text')
[void]$text.Item(0).AppendChild($xml.CreateTextNode($env:BECKON_TITLE))
[void]$text.Item(1).AppendChild($xml.CreateTextNode($env:BECKON_BODY))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))
`
