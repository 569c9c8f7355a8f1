//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
	"beckon/testdata/need"
)

// desk is a home with two sessions: shop asks for a permission, notes is idle.
type desk struct {
	t   *testing.T
	dir string
	env []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	d := &desk{t: t, dir: dir, env: []string{"PATH=" + commandDir(t) + ":" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=" + noNap, "BECKON_STATE_DIR=" + filepath.Join(dir, "state"), "TERM=xterm", "LC_ALL=C.UTF-8"}}
	at := time.Now().Add(-time.Minute)
	// Folded in this process: hooks that one process starts would be of one agent, and one
	// row.
	hook := func(id, project, name, more string) {
		e, err := event.Parse("", name, fmt.Appendf(nil, `{"session_id":%q,"cwd":"/nowhere/%s"%s}`, id, project, more))
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Second)
		e.At = event.MillisOf(at)
		if _, err := store.Open(filepath.Join(dir, "state")).Fold(store.KeyOf(id), store.Update{Change: state.Change{At: e.At, Event: &e}}); err != nil {
			t.Fatal(err)
		}
	}
	hook("aaaa1111-x", "shop", "SessionStart", `,"source":"startup"`)
	hook("aaaa1111-x", "shop", "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"make $(id) \u001b[31m"}`)
	hook("bbbb2222-x", "notes", "SessionStart", `,"source":"startup"`)
	hook("$(touch bad);x", "a b$(id)", "SessionStart", `,"source":"startup"`)
	return d
}

// run runs one of beckon's programs or a shell in the desk's environment.
func (d *desk) run(stdin string, argv ...string) string {
	d.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	if bin := strings.TrimPrefix(strings.SplitN(d.env[0], ":", 2)[0], "PATH="); strings.HasPrefix(argv[0], "beckon") {
		cmd.Path, cmd.Err = filepath.Join(bin, argv[0]), nil
	}
	cmd.Env, cmd.Dir, cmd.Stdin = d.env, d.dir, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

// words returns the words of an answer without their meanings.
func words(out string) (list []string) {
	for l := range strings.Lines(out) {
		word, _, _ := strings.Cut(strings.TrimRight(l, "\n"), "\t")
		list = append(list, word)
	}
	return list
}

// completed lists completions that every shell must offer.
var completed = []struct {
	line []string // the last word is the one to complete
	want []string // all of them, in order
}{
	{[]string{"ju"}, []string{"jump"}},
	{[]string{"jump", ""}, []string{"next", "prev", "last", "shop", "aaaa1111", "notes", "bbbb2222"}},
	{[]string{"jump", "sh"}, []string{"shop"}},
	{[]string{"mark", "--aside", "bb"}, []string{"bbbb2222"}},
	{[]string{"backburner", "bb"}, []string{"bbbb2222"}}, // as it was called
	{[]string{"jump", "--queue", "gr"}, []string{"grouped"}},
	{[]string{"jump", "shop", "--dr"}, []string{"--dry-run"}},
	{[]string{"init", ""}, []string{"bash", "zsh", "fish", "tmux", "starship"}},
	{[]string{"jump", "shop", ""}, nil},
}

func TestComplete(t *testing.T) {
	d := newDesk(t)
	for _, c := range append(slices.Clone(completed), []struct{ line, want []string }{
		{[]string{"jump", "--queue=st"}, []string{"--queue=static"}},
		{[]string{"jump", "--queue", "=", "st"}, []string{"static"}}, // as bash parts it
		{[]string{"jump", "--queue", "="}, []string{"fair", "prio", "static", "grouped", "labels"}},
		{[]string{"--js"}, []string{"--json"}}, // of list, the default
		{[]string{"list", "--state", "per"}, []string{"permission"}},
		{[]string{"list", "--state", "a"}, []string{"aside"}}, // as list calls it
		{[]string{"list", "--state", "int"}, []string{"interrupted"}},
		{[]string{"install", "--scope", "us"}, []string{"user"}},
		{[]string{"__"}, nil},
		{[]string{"nosuch", "--nosuch", "x", ""}, nil},
	}...) {
		if got := words(d.run("", append([]string{"beckon", "__complete"}, c.line...)...)); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			if c.line[0] == "nosuch" && len(got) > 0 {
				continue // whatever it offers, it prints no error
			}
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
	out := d.run("", "beckon", "__complete", "jump", "")
	if !strings.Contains(out, "shop\tpermission: Bash: make") || !strings.Contains(out, "bbbb2222\tnotes started: /nowhere/notes") {
		t.Errorf("sessions are not told by their state:\n%s", out)
	}
	if strings.ContainsAny(out, "\x1b;") || strings.Contains(out, "touch") {
		t.Errorf("a name was not made harmless:\n%s", out)
	}
}

func TestBashCompletes(t *testing.T) {
	need.Program(t, "bash")
	d := newDesk(t)
	for _, c := range completed {
		script := fmt.Sprintf(`source <(beckon init bash --completion)
spec=$(complete -p beckon); [[ $spec == *"-F _beckon"* ]] || exit 7
COMP_WORDS=(beckon %s); COMP_CWORD=%d
_beckon beckon
printf '%%s\n' "${COMPREPLY[@]}"`, "'"+strings.Join(c.line, "' '")+"'", len(c.line))
		got := slices.DeleteFunc(words(d.run("", "bash", "--norc", "-c", script)), func(w string) bool { return w == "" })
		if !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

func TestFishCompletes(t *testing.T) {
	need.Program(t, "fish")
	d := newDesk(t)
	for _, c := range completed {
		script := "beckon init fish --completion | source; complete -C 'beckon " + strings.Join(c.line, " ") + "'"
		got := words(d.run("", "fish", "--no-config", "-c", script))
		slices.Sort(got) // fish sorts as it likes
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q: %q, want %q", c.line, got, want)
		}
	}
}

// zsh completes only on a terminal, which tmux provides.
func TestZshCompletes(t *testing.T) {
	need.Program(t, "zsh")
	f := newFloor(t)
	d := newDesk(t)
	f.env = d.env
	rc := "autoload -Uz compinit; compinit -u -d " + d.dir + "/dump; source <(beckon init zsh --completion); PS1='%% '; setopt no_beep; LISTMAX=0\n"
	if err := os.WriteFile(filepath.Join(d.dir, ".zshrc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	f.tmux("new-session", "-d", "-s", "z", "-x", "100", "-y", "40", "zsh", "-i")
	screen := func() string { return f.tmux("capture-pane", "-p", "-t", "z") }
	wait := func(what string, ok func(string) bool) {
		t.Helper()
		for range 2400 {
			if ok(screen()) {
				return
			}
			time.Sleep(25 * time.Millisecond)
		}
		t.Fatalf("waited for %s:\n%s", what, screen())
	}
	wait("a prompt", func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "%") })
	f.tmux("send-keys", "-t", "z", "-l", "beckon jump sh\t")
	wait("shop", func(s string) bool { return strings.Contains(s, "% beckon jump shop") })
	f.tmux("send-keys", "-t", "z", "-l", "--", "--queue=gr\t")
	wait("the flag's value", func(s string) bool { return strings.Contains(s, "beckon jump shop --queue=grouped") })
	f.tmux("send-keys", "-t", "z", "C-u")
	f.tmux("send-keys", "-t", "z", "-l", "beckon jump \t")
	wait("the sessions", func(s string) bool {
		return strings.Contains(s, "aaaa1111") && strings.Contains(s, "shop permission: Bash: make") && strings.Contains(s, "next ")
	})
}

// The manual is made from the commands themselves, and the formatter finds nothing wrong with
// it.
func TestManual(t *testing.T) {
	d := newDesk(t)
	out := d.run("", "beckon", "man")
	for _, want := range []string{".TH BECKON 1", "jump [<session>]", `\fB--dry-run\fP`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	for _, bad := range []string{"%!", "(default )", ": .\n", ".SH DESCRIPTION\n.SH"} {
		if strings.Contains(out, bad) {
			t.Errorf("there is %q in\n%s", bad, out)
		}
	}
	if strings.Contains(out, "__complete") {
		t.Error("it tells of hidden commands")
	}
	need.Program(t, "groff")
	cmd := exec.Command("groff", "-man", "-Tascii", "-ww", "-P-cbou")
	cmd.Stdin = strings.NewReader(out)
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil || said.Len() > 0 || !strings.Contains(string(text), "aside") {
		t.Errorf("groff: %v: %s", err, said.String())
	}
}
