//go:build linux

package suite

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"beckon/render"
	"beckon/state"
)

// TestHeldMessage has one session send a message to another, which asks its user first, since it bypasses
// permissions and the sender does not. No hook tells of the dialog.
func TestHeldMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		_, err := beckon(l, nil, "setup", "hooks")
		must(t, err)
		path := filepath.Join(l.Home.Dir, ".claude", "settings.json")
		b, err := os.ReadFile(path)
		must(t, err)
		var settings fields
		must(t, json.Unmarshal(b, &settings))
		settings["skipDangerousModePermissionPrompt"] = true
		must(t, writeJSON(path, settings))
		l.Home.Extra["IS_SANDBOX"] = "1" // root may not bypass without it

		receiver, err := l.Tmux.StartClient("receiver", "--permission-mode", "bypassPermissions")
		must(t, err)
		sender, err := l.Tmux.StartClient("sender")
		must(t, err)
		must(t, errors.Join(receiver.Ready(), sender.Ready()))
		socket := filepath.Join(l.Home.Root, "run", "cc-socks", strconv.Itoa(receiver.Pid)+".sock")
		must(t, sender.Say("lab:message uds:"+socket))
		must(t, receiver.WaitFor("Held message from another session", patience))
		row, err := find(l, patience, func(rows []render.Row) bool {
			// The text comes later, with the client's notification.
			return len(rows) == 2 && rows[0].State == state.Permission && rows[0].Question != nil
		})
		must(t, err)
		if row.Tmux == nil || row.Tmux.Pane != receiver.ID || row.Question.Text != "A message from another session needs your approval" {
			t.Errorf("the row is %+v", row)
		}
		must(t, receiver.Key("Enter"))
		_, err = find(l, patience, func(rows []render.Row) bool {
			return len(rows) == 2 && rows[0].State == state.Idle && rows[1].State == state.Idle
		})
		must(t, err)
	})
}
