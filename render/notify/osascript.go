package notify

import (
	"context"
	"os/exec"
	"strings"

	"beckon/render/run"
	"beckon/state/store"
)

// mac shows n with terminal-notifier, which supports clicks, else with osascript.
func (d *DesktopChannel) mac(ctx context.Context, n Note) error {
	argv := []string{"osascript", "-e", "on run argv",
		"-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", guarded(n.Title), n.Body}
	path, err := exec.LookPath("terminal-notifier")
	if err == nil && len(d.Jump) > 0 && string(store.KeyOf(n.record())) == n.record() {
		argv = []string{path, "-title", guarded(n.Title), "-message", guarded(n.Body),
			"-group", n.record(), "-execute", shellLine(d.jump(&n))}
	}
	_, err = run.Program{Argv: argv, Limit: desktopLimit}.Output(ctx)
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
