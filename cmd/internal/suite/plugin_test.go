//go:build unix

package suite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/render"
)

// pluginWays are the ways in which a user can give the client the plugin's directory.
var pluginWays = []struct {
	name string
	dir  func(*Lab) string
	give func(l *Lab, dir string) ([][]string, []string) // commands of the client to run before, and arguments for it
	sees bool                                            // the client's list of plugins has it
	repo bool                                            // the directory is a clone of the repository
}{
	{
		"for one session", func(l *Lab) string { return filepath.Join(l.Home.Root, "plugin") },
		func(_ *Lab, dir string) ([][]string, []string) { return nil, []string{"--plugin-dir", dir} }, false, false,
	},
	{
		"from the skills directory", func(l *Lab) string { return filepath.Join(l.Home.Dir, ".claude", "skills", "beckon") },
		func(*Lab, string) ([][]string, []string) { return nil, nil }, true, false,
	},
	{
		"from its own marketplace", func(l *Lab) string { return filepath.Join(l.Home.Root, "plugin") }, fromMarketplace, true, false,
	},
	{
		"from the repository", func(l *Lab) string { return filepath.Join(l.Home.Root, "clone") }, fromMarketplace, true, true,
	},
}

func fromMarketplace(_ *Lab, dir string) ([][]string, []string) {
	return [][]string{{"plugin", "marketplace", "add", dir}, {"plugin", "install", "beckon@beckon"}}, nil
}

// TestPlugin gives the real client the plugin of a release: its events are marked, with
// an install as well each event counts once, and the doctor reports that.
func TestPlugin(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	for _, version := range Bounds {
		for _, way := range pluginWays {
			if !*matrix && version != V330 && way.name != "from its own marketplace" {
				continue
			}
			t.Run(version+"/"+way.name, func(t *testing.T) {
				t.Parallel()
				tried(t, func(t testing.TB) {
					p := plugged{TB: t, l: Start(t, version)}
					dir := way.dir(p.l)
					p.make(dir, way.repo)
					commands, args := way.give(p.l, dir)
					for _, c := range commands {
						p.client(c...)
					}
					p.alone(args)
					p.beside(args, way.sees)
					if len(commands) > 0 {
						p.remove()
					}
				})
			})
		}
	}
}

// plugged is a client with the plugin.
type plugged struct {
	testing.TB
	l *Lab
}

// make makes the plugin, or a clone that has it, and has the client validate it.
func (p plugged) make(dir string, repo bool) {
	p.Helper()
	programs, err := programs()
	if err != nil {
		p.Fatal(err)
	}
	if err := put(p.l, programs); err != nil {
		p.Fatal(err)
	}
	if repo {
		for _, part := range []string{".claude-plugin", "installer/plugin"} {
			must(p, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../..", part))))
		}
		p.client("plugin", "validate", dir)
		p.client("plugin", "validate", filepath.Join(dir, "installer", "plugin"))
		return
	}
	must(p, os.CopyFS(dir, os.DirFS("../../../installer/plugin")))
	for _, file := range []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"} {
		p.client("plugin", "validate", filepath.Join(dir, file))
	}
}

func (p plugged) client(args ...string) string {
	p.Helper()
	out, err := p.l.Home.Command(p.l.Client.Path, args...).CombinedOutput()
	if err != nil {
		p.Fatalf("claude %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// says runs a prompt that uses a tool, and returns its session and the session's events.
func (p plugged) says(args []string) (row render.Row, journal string) {
	p.Helper()
	if out, err := p.l.Home.Print("lab:bash ./nap 0", args...); err != nil {
		p.Fatalf("claude -p: %v\n%s", err, out)
	}
	out, err := beckon(p.l, nil, "list", "--json", "--all")
	if err != nil {
		p.Fatal(err)
	}
	var list render.List
	if err := json.Unmarshal(out, &list); err != nil {
		p.Fatal(err)
	}
	for _, r := range list.Sessions {
		if row.UpdatedAt.Before(r.UpdatedAt) {
			row = r
		}
	}
	days, err := filepath.Glob(filepath.Join(p.l.Home.State, "history", "*.jsonl"))
	if err != nil || len(days) == 0 {
		p.Fatalf("%q, %v", days, err)
	}
	for _, day := range days {
		b, err := os.ReadFile(day)
		if err != nil {
			p.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, `{"key":"`+row.SessionID+`"`) {
				journal += line
			}
		}
	}
	return row, journal
}

// alone checks that all events come through the plugin.
func (p plugged) alone(args []string) {
	p.Helper()
	row, journal := p.says(args)
	if row.State != "ended" || row.Turn == nil || row.Turn.Number != 1 {
		p.Errorf("the session is %s, %+v", row.State, row.Turn)
	}
	events, marked := strings.Count(journal, `"kind":"event"`), strings.Count(journal, `"via":"plugin"`)
	if events < 6 || marked != events {
		p.Errorf("%d of %d events are marked as the plugin's:\n%s", marked, events, journal)
	}
}

// beside checks that with the hooks in the settings, too, every event comes twice and counts
// once.
func (p plugged) beside(args []string, listed bool) {
	p.Helper()
	if _, err := beckon(p.l, nil, "setup", "hooks"); err != nil {
		p.Fatal(err)
	}
	row, journal := p.says(args)
	events, marked := strings.Count(journal, `"kind":"event"`), strings.Count(journal, `"via":"plugin"`)
	if row.Turn == nil || row.Turn.Number != 1 || marked*2 != events {
		p.Errorf("turn %+v; %d of %d events are the plugin's", row.Turn, marked, events)
	}
	if n := strings.Count(journal, `"kind":"turn"`); n != 2 {
		p.Errorf("%d turns are in the journal, want the prompt's and the answer's:\n%s", n, journal)
	}
	out, _ := beckon(p.l, nil, "doctor")
	if got := strings.Contains(string(out), "installed twice, as a plugin in "); got != listed {
		p.Errorf("doctor tells of the plugin: %v, want %v\n%s", got, listed, out)
	}
}

// remove takes the plugin out: the client runs nothing of it any more, and the hooks in the settings go on.
func (p plugged) remove() {
	p.Helper()
	p.client("plugin", "update", "beckon@beckon")
	p.client("plugin", "uninstall", "beckon@beckon")
	p.client("plugin", "marketplace", "remove", "beckon")
	_, journal := p.says(nil)
	if events, marked := strings.Count(journal, `"kind":"event"`), strings.Count(journal, `"via":"plugin"`); events < 6 || marked > 0 {
		p.Errorf("%d of %d events are marked as a removed plugin's:\n%s", marked, events, journal)
	}
}
