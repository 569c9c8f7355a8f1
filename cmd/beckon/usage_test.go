package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/manual"

	"github.com/alecthomas/kong"
)

// begun is what one run of the program printed.
type begun struct {
	code        int
	out, errors string
}

// begin runs a command line in this process, with these variables and no others.
func begin(line string, env map[string]string) begun {
	var out, errors strings.Builder
	code := run(strings.Fields(line), strings.NewReader(""), &out, &errors, func(n string) string { return env[n] })
	return begun{code, out.String(), errors.String()}
}

// The help fits on a screen of 80 columns and 24 lines, and has every command that is not hidden.
func TestHelpFitsAScreen(t *testing.T) {
	out := begin("--help", map[string]string{"HOME": t.TempDir()}).out
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for _, l := range lines {
		if utf8.RuneCountInString(l) >= 80 {
			t.Errorf("too wide: %q", l)
		}
	}
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	parser, err := kong.New(&commands{}, kong.Name("beckon"), kong.Vars{"session": "", "version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Children {
		if shown := strings.Contains(out, "  "+n.Name+" "); shown == n.Hidden {
			t.Errorf("%s is hidden: %v, and shown: %v", n.Name, n.Hidden, shown)
		}
	}
}

// TestWrongCommandLine: a wrong command line has exit code 2, and an error in plain words.
func TestWrongCommandLine(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir()}
	for line, want := range map[string]string{
		"help xyz":             `no help on "xyz"`,
		"help list nosuch":     `no help on "list nosuch"`,
		"help policy tset":     "did you mean beckon help policy test?",
		"list --color":         "--color: a value is missing",
		"list --state":         "--state: a value is missing",
		"show x --turns -1":    `--turns: "-1" looks like a flag; give it as --turns="-1"`,
		"seen shop --pane %3":  "mark: --all and --pane mark as seen, and go with no other flag and no session",
		"seen --pane %3 --all": "mark: --all and --pane mark as seen, and go with no other flag and no session",
	} {
		if got := begin(line, env); got.code != cli.ExitUsage || !strings.Contains(got.errors, want) {
			t.Errorf("%q: exit code %d, %s; want %s", line, got.code, got.errors, want)
		}
	}
}

// TestStateIsAFile: where the state directory should be is something else, which is told with
// what to do.
func TestStateIsAFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has another error for it")
	}
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := []string{file}
	if runtime.GOOS == "linux" { // one that cannot be made, and one in which no file can
		dirs = append(dirs, "/proc/beckon/state", "/proc")
	}
	for _, line := range []string{"list", "list --json", "show x", "stats", "history", "seen --all"} {
		for _, dir := range dirs {
			got := begin(line, map[string]string{"HOME": t.TempDir(), "BECKON_STATE_DIR": dir})
			if got.code != cli.ExitError || !strings.Contains(got.errors, "hint: "+dir+": make it yours") ||
				strings.Count(got.errors, "beckon:") != 1 {
				t.Errorf("%s in %s: exit code %d, %s", line, dir, got.code, got.errors)
			}
		}
	}
}

// TestNeverAway: a digest of no absence has no beginning.
func TestNeverAway(t *testing.T) {
	if got := begin("digest --json", map[string]string{"HOME": t.TempDir()}); got.code != cli.ExitOK || strings.Contains(got.out, "since") {
		t.Errorf("exit code %d, %s%s", got.code, got.out, got.errors)
	}
}

// TestFleetWords: what fails in making a hub is advised about in its own way, and a token may
// hold for days.
func TestFleetWords(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir()}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"fleet init", cli.ExitError, "hint: --name hub.example.org"},
		{"fleet init --listen 127.0.0.1:4222", cli.ExitOK, ""},
		{"fleet init --name hub.example.org", cli.ExitError, "hint: --dir names another place"},
	} {
		if got := begin(c.line, env); got.code != c.code || !strings.Contains(got.errors, c.want) || strings.Count(got.errors, "hint:") != strings.Count(c.want, "hint:") {
			t.Errorf("%q: exit code %d, %s; want %d, %s", c.line, got.code, got.errors, c.code, c.want)
		}
	}
}

// TestFlagsThatServeHad: a unit of an earlier release gets one clear error where serve would do
// less than the unit says.
func TestFlagsThatServeHad(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir()}
	for line, want := range map[string]string{} {
		if got := begin(line, env); got.code != cli.ExitUsage || !strings.Contains(got.errors, want) {
			t.Errorf("%q: exit code %d, %s; want %s", line, got.code, got.errors, want)
		}
	}
}

// TestHelp: what is asked about is printed, and its last line ends.
func TestHelp(t *testing.T) {
	asked := []string{"help serve url", "help policy trust", "help backburner", "help help"}
	for _, topic := range manual.Topics() {
		asked = append(asked, "help "+topic)
	}
	for _, line := range asked {
		got := begin(line, map[string]string{"HOME": t.TempDir()})
		if got.code != cli.ExitOK || !strings.HasSuffix(got.out, "\n") || strings.HasSuffix(got.out, "\n\n") || got.errors != "" {
			t.Errorf("%q: exit code %d, %q, %s", line, got.code, got.out[max(0, len(got.out)-40):], got.errors)
		}
	}
}

// An earlier command line means the same: with an agent, not Claude Code's hooks, too.
func TestRenamed(t *testing.T) {
	for was, want := range map[string]string{
		"install":                         "setup hooks",
		"install --yes --scope project":   "setup hooks --yes --scope project",
		"install --statusline":            "setup hooks statusline",
		"install --agent codex --yes":     "setup --agent codex --yes",
		"install --agent=codex":           "setup --agent=codex",
		"install --dry-run --agent codex": "setup --dry-run --agent codex",
		"uninstall --agent codex":         "setup --undo --agent codex",
		"seen --pane %1":                  "mark --seen --pane %1",
		"list":                            "list",
	} {
		if now, _ := renamed(strings.Fields(was)); strings.Join(now, " ") != want {
			t.Errorf("%s: %q, want %q", was, now, want)
		}
	}
	if got := begin("help version", map[string]string{"HOME": t.TempDir()}); got.code != cli.ExitOK || got.out == "" {
		t.Errorf("help of a command that is a flag now: exit code %d, %s", got.code, got.errors)
	}
}

// TestNoHome: what needs no file of the user's works without a home, and what does says how to
// give it one.
func TestNoHome(t *testing.T) {
	for _, line := range []string{"help", "help states", "version", "man", "completion bash", "init fish"} {
		if got := begin(line, nil); got.code != cli.ExitOK || got.out == "" {
			t.Errorf("%q: exit code %d, %s", line, got.code, got.errors)
		}
	}
	if got := begin("list --all", nil); got.code != cli.ExitError || !strings.Contains(got.errors, "hint: set HOME, or BECKON_STATE_DIR") {
		t.Errorf("list: exit code %d, %s", got.code, got.errors)
	}
}

// TestNotFound: a session that is not there, that is not named clearly or that has not what was
// asked of it has exit code 3, in words that fit; an empty name names none.
func TestNotFound(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	hook := func(payload string) {
		if code := run([]string{"hook"}, strings.NewReader(payload), &strings.Builder{}, &strings.Builder{}, func(n string) string { return env[n] }); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d", payload, code)
		}
	}
	hook(`{"session_id":"aaaa1111","cwd":"/nowhere/shop","hook_event_name":"SessionStart"}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"show", ""}, `session "": no such session`},
		{[]string{"remove", ""}, `session "": no such session`},
		{[]string{"jump", "nosuch"}, `session "nosuch": no such session`},
		{[]string{"answer", "shop", "yes"}, "session aaaa1111 asks nothing"},
		{[]string{"answer", "yes"}, "no session waits for an answer"},
	} {
		var out, errors strings.Builder
		code := run(c.args, strings.NewReader(""), &out, &errors, func(n string) string { return env[n] })
		if first, _, _ := strings.Cut(errors.String(), "\n"); code != cli.ExitNotFound || first != "beckon: "+c.want || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %q, %q; want %q", c.args, code, out.String(), errors.String(), c.want)
		}
	}
}
