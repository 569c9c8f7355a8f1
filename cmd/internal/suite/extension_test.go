//go:build linux

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/render"
	"beckon/state"
)

// extensions are the agents that can install the plugin's directory by commands of their own.
var extensions = []struct {
	agent       *Agent
	enable      func(l *Lab) error // what the lab's configuration switches off
	add, remove [][]string         // DIR is the plugin's directory
}{
	{
		agent: codexAlone,
		enable: func(l *Lab) error {
			path := filepath.Join(l.Home.Dir, ".codex", "config.toml")
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(b), "plugins = false", "plugins = true", 1)), 0o600)
		},
		add:    [][]string{{"plugin", "marketplace", "add", "DIR"}, {"plugin", "add", "beckon@beckon"}},
		remove: [][]string{{"plugin", "remove", "beckon@beckon"}},
	},
	{
		agent:  gemini,
		enable: func(*Lab) error { return nil },
		add:    [][]string{{"extensions", "install", "--consent", "DIR/gemini"}},
		remove: [][]string{{"extensions", "uninstall", "beckon"}},
	},
}

// TestExtension installs the plugin of a release by each agent's own commands. A session is followed, with
// the hooks of setup beside them each event counts once, and after the removal nothing is left.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents take half a minute")
	}
	t.Parallel()
	for _, x := range extensions {
		t.Run(x.agent.Name, func(t *testing.T) {
			t.Parallel()
			client := x.agent.Need(t)
			tried(t, func(t testing.TB) {
				l := StartWith(t, client)
				dir, err := programs()
				must(t, err)
				must(t, put(l, dir))
				must(t, x.enable(l))
				plugin := filepath.Join(l.Home.Root, "plugin")
				must(t, os.CopyFS(plugin, os.DirFS("../../../installer/plugin")))
				run := func(commands [][]string) {
					for _, c := range commands {
						args := strings.Split(strings.ReplaceAll(strings.Join(c, "\x00"), "DIR", plugin), "\x00")
						cmd := l.Home.Command(client.Path, args...)
						cmd.Stdin = strings.NewReader("y\n") // gemini asks whether the directory is trusted
						if out, err := cmd.CombinedOutput(); err != nil {
							t.Fatalf("%q: %v\n%s", args, err, out)
						}
					}
				}
				turn := func(name string) {
					pane, err := l.Tmux.StartClient(name)
					must(t, err)
					must(t, pane.Ready())
					must(t, pane.Say("lab:hi"))
					_, err = find(l, patience, func(rows []render.Row) bool {
						return len(rows) == 1 && rows[0].Agent == x.agent.Name && rows[0].State == state.Idle &&
							rows[0].Reason == "done" && rows[0].Turn.Number == 1
					})
					must(t, err)
					must(t, x.agent.press(pane, "quit"))
					must(t, pane.WaitDead(patience))
					_, err = find(l, patience, func(rows []render.Row) bool { return len(rows) == 0 })
					must(t, err)
				}
				run(x.add)
				turn("alone")
				_, err = beckon(l, nil, "setup", x.agent.Name)
				must(t, err)
				turn("beside")
				_, err = beckon(l, nil, "setup", "--undo", x.agent.Name)
				must(t, err)
				run(x.remove)
			})
		})
	}
}
