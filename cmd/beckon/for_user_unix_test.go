//go:build unix

package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"

	"github.com/alecthomas/kong"
)

// ofUser are command lines that act for the user. An agent's shell runs none of them.
var ofUser = []string{
	"aside first", "backburner first", "aside first --off", "remove first",
	"seen first", "seen --all", "seen", "seen --pane %1",
	"mark first", "mark first --aside", "mark --all", "mark --seen --pane %1", "away off",
	"back", "uninstall", "uninstall --agent codex", "uninstall --dry-run",
	"setup --undo --yes", "setup notify --undo", "setup notify --yes", "setup answers --yes", "setup mod --yes",
	"install --answers", "install --mod",
	"fleet link --join x", "link --join x", "link --forget",
	"fleet init", "fleet invite --view", "fleet revoke box",
	"away", "reply first go", "stop first", "config pin", "policy trust", "policy allow x", "policy allow-once x", "policy init", "policy init --from-client",
}

// ofAgents are the commands that an agent may run, as far as ofUser does not name their flags.
var ofAgents = []string{
	"list", "watch", "show", "history", "stats", "answer", "jump", "wait", "statusline", "prompt", "init",
	"notify test", "notify log", "notify wait", "notify ask", "notify usage", "serve", "fleet link",
	"policy check", "policy test", "policy log",
	"setup", "doctor", "config", "config show", "demo", "mod", "hook", "help",
}

// Below an agent every command that acts for the user is refused with a sentence that says where
// to run it, and does nothing. Each command is in one of the two lists: a new one has to be, too.
func TestAgentsShellDoesNotActForTheUser(t *testing.T) {
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit, event.Stop)
	settings := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"hooks":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home, "BECKON_STATE_DIR": st.Dir, "USER": "kim", "CLAUDECODE": "1", "PATH": os.Getenv("PATH")}
	before, config := sessionOf(t, st), tree(t, home)
	for _, line := range ofUser {
		var out, errs bytes.Buffer
		code := run(strings.Fields(line), strings.NewReader("y\n"), &out, &errs, func(k string) string { return env[k] })
		if code == 0 || !strings.Contains(errs.String(), "yours to do, and this shell belongs to an agent") || out.Len() > 0 {
			t.Errorf("beckon %s: code %d, %q, %q", line, code, out.String(), errs.String())
		}
	}
	if after := sessionOf(t, st); after.Seq != before.Seq || after.Seen != before.Seen {
		t.Errorf("the session was changed: %+v", after)
	}
	if after := tree(t, home); !slices.Equal(after, config) {
		t.Errorf("files before\n%q\nand after\n%q", config, after)
	}

	parser, err := kong.New(&commands{}, kong.Name("beckon"), kong.Vars{"session": sessionHelp, "version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		name, _, _ := strings.Cut(strings.TrimPrefix(leaf.FullPath(), "beckon "), " (") // its other name
		named := func(line string) bool { return line == name || strings.HasPrefix(line, name+" ") }
		if !slices.ContainsFunc(ofUser, named) && !slices.Contains(ofAgents, name) {
			t.Errorf("may an agent's shell run beckon %s? It is in neither list", name)
		}
	}
}

// What an agent looks at, the user has not seen.
func TestAgentsLookIsNotTheUsers(t *testing.T) {
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit)
	time.Sleep(10 * time.Millisecond) // the turn ends after the prompt, by a clock of milliseconds
	fold(t, st, "first", event.Stop)
	env := map[string]string{"HOME": home, "BECKON_STATE_DIR": st.Dir, "CLAUDECODE": "1"}
	before := sessionOf(t, st).Seen
	for _, inside := range []string{"1", ""} {
		env["CLAUDECODE"] = inside
		var out, errs bytes.Buffer
		if code := run([]string{"show", "first"}, strings.NewReader(""), &out, &errs, func(k string) string { return env[k] }); code != 0 {
			t.Fatal(errs.String())
		}
		if seen := sessionOf(t, st).Seen != before; seen == (inside != "") {
			t.Errorf("below an agent: %v, seen: %v", inside != "", seen)
		}
	}
}

func sessionOf(t *testing.T, st *store.Store) state.Session {
	t.Helper()
	all, _, err := st.Live()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	return all[0]
}

// tree lists the files below dir, but for the state directory, with their contents.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == "state" {
				return filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		list = append(list, path+"\x00"+files[path])
	}
	return list
}
