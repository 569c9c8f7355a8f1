package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"
)

func TestRuleOnCommands(t *testing.T) {
	for _, c := range []struct {
		rule, text  string
		deny, allow bool
	}{
		{"rm -rf", "rm -rf /", true, true},
		{"rm -rf", "rm -fr x", true, true},
		{"rm -rf", "rm -r -f x", true, true},
		{"rm -rf", "rm -r x", false, false},
		{"rm -rf /", "rm -rf /", true, true},
		{"rm -rf /", "rm -rf /tmp/x", false, false},
		{"rm -rf", "/bin/rm -rf x", true, false},
		{"rm -rf", "sudo -u root rm -rf x", true, false},
		{"rm -rf", "cd /; X=1 rm -rf x", true, false},
		{"rm -rf", "echo $(rm -rf x)", true, false},
		{"rm -rf", "bash -c 'rm -rf x'", true, false},
		{"rm -rf", "echo x | xargs -n 1 rm -rf", true, false},
		{"rm -rf", "timeout 5 rm -rf x", true, false},
		{"rm -rf", `r""m -rf x`, true, true},
		{"rm -rf", "echo 'rm -rf x'", false, false},
		{"rm -rf", "rm -rf 'unclosed", true, false},
		{"rm -rf", "if true; then rm -rf x; fi", true, false},
		{"rm -rf", "(rm -rf x)", true, true},
		{"rm -rf", `find . -name x -exec rm -rf {} \;`, true, false},
		{"rm -rf", "sudo find . -execdir rm -rf {} +", true, false},
		{"find", `find . -exec rm {} \;`, true, false},
		{"find", "find . -name x", true, true},
		{"rm -rf", "watch -n 1 rm -rf x", true, false},
		{"rm -rf", "su root -c 'rm -rf x'", true, false},
		{"rm -rf", "coproc rm -rf x", true, false},
		{"git push --force", "git push --force=x origin", true, true},
		{"git push --force", "git push origin --force", true, true},
		{"git push --force", "git push --force-with-lease", false, false},
		{"git push -f", "git -C x push -f", true, false},
		{"npm test", "npm test > out.txt", true, false},
		{"npm test", "npm test && rm -rf /", true, false},
		{"npm test", "npm test $X", true, false},
		{"npm test", "env npm test", true, false},
		{"npm test", "# npm test", false, false},

		// Ways to write or run it that are no other command.
		{"rm -rf", "</dev/null rm -rf x", true, false},
		{"rm -rf", "2>/dev/null >&- rm -rf x", true, false},
		{"rm -rf", "echo \\>& rm -rf x", true, false},
		{"rm -rf", "{rm,-rf,x}", true, false},
		{"rm -rf", "{ rm -rf x; }", true, true},
		{"rm -rf", "$'\\x72m' -rf x", true, false},
		{"rm -rf", `$"rm" -rf x`, true, false},
		{"rm -rf", "\"r\\\nm\" -rf x", true, true},
		{"rm -rf", "if false; then :; elif rm -rf x; then :; fi", true, false},
		{"rm -rf", "sudo --user root rm -rf x", true, false},
		{"rm -rf", "sudo -nu root rm -rf x", true, false},
		{"rm -rf", "timeout --signal KILL 5 rm -rf x", true, false},
		{"rm -rf", "env -S 'rm -rf x'", true, false},
		{"rm -rf", "env --split-string='rm -rf' x", true, false},
		{"rm -rf", "bash -c -- 'rm -rf x'", true, false},
		{"rm -rf", "bash -o pipefail -ec 'rm -rf x'", true, false},
		{"rm -rf", "echo 'rm -rf x' | sh", true, false},
		{"rm -rf", "bash <<< 'rm -rf x'", true, false},
		{"rm -rf", "sh script.sh 'rm -rf x'", false, false},
		{"rm -rf", "find . -name x -exec rm -rf {} \\;", true, false},
		{"rm -rf", "find . -exec sh -c 'rm -rf x' \\;", true, false},
		{"rm -rf", "trap 'rm -rf x' EXIT", true, false},
		{"rm -rf", "RM -rf x", true, false},
		{"rm -rf", "sudo apt install rm -rf", false, false},
		{"rm -rf", "cat <<EOF\n'\nEOF\nrm -rf x\ncat <<EOF\n'\nEOF", true, false},
		{"rm -rf", "cat <<-'E F'\nx\n\tE F\nrm -rf x", true, false},
		{"rm -rf", "cat <<EOF\n$(rm -rf x) `rm -rf y`\nEOF", true, false},
		{"rm -rf", "cat <<'EOF'\n$(rm -rf x)\nEOF", false, false},
		{"rm -rf", "git commit -m \"$(cat <<'EOF'\nIt's no rm -rf any more\nEOF\n)\"", false, false},
		{"rm -rf", "git commit -m \"$(cat <<'EOF'\nIt's done\nEOF\n)\"; rm -rf x", true, false},
		{"rm -rf", "bash <<EOF\nrm -rf x\nEOF", true, false},
		{"rm -rf", "((x=1<<2))\nrm -rf x\n2\n", true, false},
		{"rm -rf", "echo ${a:-<<y}\nrm -rf x\ny}", true, false},
		{"rm -rf", "echo $((1<<2))\nrm -rf x\n2\n", true, false},
		{"rm -rf", "echo $[1<<y]\nrm -rf x\ny]", true, false},
		{"rm -rf", "a[1<<2]=3\nrm -rf x\n2]=3", true, false},
		{"rm -rf", "cat <<E$X\nrm -rf x\nE$X", true, false},
		{"rm -rf", "cat <<EOF; rm -rf x\nEOF", true, false},
		{"rm -rf", "cat <<A <<B\nA\nB\nrm -rf x", true, false},
		{"make", "sudo apt install make", false, false},
		{"./deploy.sh", "./deploy.sh now", true, true},
		{"./deploy.sh", "/w/p/deploy.sh now", true, false},
		{"sudo apt update", "sudo apt update", true, true},
		{"ssh build", "ssh build rm -rf x", true, false},
		{"xargs", "ls | xargs -I{} cp {} x", true, false},

		// What an approval of one command does not approve.
		{"git", "X=/git rm -rf x", false, false},
		{"git status", "LD_PRELOAD=/tmp/git status", false, false},
		{"git status", "/tmp/evil/git status", true, false},
		{"git log", "git push origin log", true, false},
		{"git log", "git log --oneline", true, true},
		{"npm test", "npm --prefix /evil test", true, false},
		{"git commit -m", "git -m x commit", true, false},
	} {
		deny := &Rule{Decision: handler.Deny, Commands: []string{c.rule}}
		allow := &Rule{Decision: handler.Allow, Commands: []string{c.rule}}
		if got := deny.holds(command(c.text)); got != c.deny {
			t.Errorf("deny %q on %q: %v", c.rule, c.text, got)
		}
		if got := allow.holds(command(c.text)); got != c.allow {
			t.Errorf("allow %q on %q: %v", c.rule, c.text, got)
		}
	}
}

func TestRuleOnPowerShell(t *testing.T) {
	for _, c := range []struct {
		rule, text  string
		deny, allow bool
	}{
		{"Remove-Item -Recurse", `Remove-Item -Recurse C:\x`, true, true},
		{"Remove-Item -Recurse", `remove-item C:\x -recurse`, true, false},
		{"Remove-Item -Recurse", "Remove`-Item -Recurse x", true, true},
		{"Remove-Item -Recurse", `ls | % {Remove-Item $_ -Recurse}`, true, false},
		{"Remove-Item -Recurse", "<# it #> Remove-Item -Recurse x", true, false},
		{"Remove-Item -Recurse", `Remove-Item ${a b} -Recurse`, true, false},
		{"rm -rf", `cmd /c "rm -rf x"`, true, false},
		{"git status", `git status "\"; Remove-Item x #"`, true, false},
		{"git status", "git status “; Remove-Item x ”", true, false},
		{"git status", "git status", true, true},
	} {
		deny := &Rule{Decision: handler.Deny, Commands: []string{c.rule}}
		allow := &Rule{Decision: handler.Allow, Commands: []string{c.rule}}
		line := call("PowerShell", `{"command":`+quote(c.text)+`}`)
		if got := deny.holds(line); got != c.deny {
			t.Errorf("deny %q on %q: %v", c.rule, c.text, got)
		}
		if got := allow.holds(line); got != c.allow {
			t.Errorf("allow %q on %q: %v", c.rule, c.text, got)
		}
	}
}

// An approval behind an "if" is for what the "if" names and nothing beside it.
func TestApprovalBehindIf(t *testing.T) {
	for _, c := range []struct {
		rule string
		call handler.Call
		want bool
	}{
		{"Bash(git status)", command("git status"), true},
		{"Bash(git status)", command("git status; rm -rf x"), false},
		{"Bash(git status)", command("git status $(rm -rf x)"), false},
		{"Bash(git *)", command("git log > /etc/x"), false},
		{"Bash(git *)", command("GIT_PAGER=x git log"), false},
		{"Bash(git *)", command("git log 'unclosed"), false},
		{"Bash(git *)", command("sudo git log"), false},
		{"Edit(src/**)", file("Edit", "/w/p/sub/src/a"), true},
		{"Edit(src/**)", file("Edit", "/w/p/sub/src/../a"), false},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"https://EXAMPLE.com./x"}`), true},
		{"WebFetch(domain:example.com)", call("WebFetch", `{"url":"%"}`), false},
		{"Bash", command("ls; rm -rf x"), true}, // that is what it says
	} {
		p, err := NewPermission(c.rule, "/home/u")
		if err != nil {
			t.Fatal(err)
		}
		h := &Hook{ID: "a", Event: event.PreToolUse, Type: TypeRule, Level: Global, Enabled: true, If: p, Grant: true,
			Spec: Spec{Rule: &Rule{Decision: handler.Allow}}}
		h.handler = h.Spec.Rule
		r := trigger(t, NewEngine([]*Hook{h}), event.PreToolUse, string(c.call.Payload[:len(c.call.Payload)-1])+`,"cwd":"/w/p/sub"}`)
		if got := r.Verdict.Decision == handler.Allow; got != c.want {
			t.Errorf("%s on %s: %v", c.rule, c.call.Payload, got)
		}
	}
}

// Who writes the command line does not choose how long it takes to judge: at
// the end of the deadline nothing is refused.
func TestLongCommandsAreJudgedSoon(t *testing.T) {
	const n = 100_000
	rule := &Rule{Decision: handler.Deny, Commands: []string{"rm -rf"}}
	for _, piece := range []string{"<(", "$(", "`", "{", "sudo ", "eval ", "watch eval ", "sudo -x ", "bash -c ", "a=b ", "((", "\"$(", "<<x ", "<<x\n", "${a", "ssh "} {
		start := time.Now()
		if !rule.holds(command("rm -rf x; : " + strings.Repeat(piece, n))) {
			t.Errorf("%q hides what is before it", piece)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q takes %s", piece, took)
		}
	}
}

// A link is no way round a pattern, whether or not there is something at its
// end, and neither is the directory itself.
func TestLinksAreNoWayRound(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	err = errors.Join(os.MkdirAll(at("real", "secrets"), 0o700), os.Mkdir(at("p"), 0o700),
		os.Symlink(at("real"), at("link")), os.Symlink(at("real", "secrets"), at("p", "in")),
		os.Symlink("../real/secrets/new", at("p", "dangling")), os.Symlink("dangling", at("p", "twice")),
		os.Symlink("loop", at("p", "loop")))
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{at("real/secrets/**"), at("p/in/key"), true},
		{at("real/secrets/**"), at("p/dangling"), true},
		{at("real/secrets/**"), at("p/twice"), true},
		{at("real/secrets/**"), at("p/other"), false},
		{at("real/secrets/**"), at("p/loop"), false},
		{at("link/secrets/**"), at("real/secrets/key"), true},
		{at("real/secrets/**"), at("real/secrets"), true},
		{at("real/secrets"), at("real/secrets/key"), true},
		{at("real/*"), at("real/secrets/key"), false},
		{"secrets", at("real/secrets/key"), false}, // not in the project
	} {
		r := &Rule{Decision: handler.Deny, Paths: []string{c.pattern}}
		if got := r.holds(file("Write", c.path)); got != c.want {
			t.Errorf("deny %q on %q: %v", c.pattern, c.path, got)
		}
	}
	allow := &Rule{Decision: handler.Allow, Paths: []string{at("p", "**")}}
	for path, want := range map[string]bool{"p/x": true, "p/in/key": false, "p/dangling": false} {
		if got := allow.holds(file("Write", at(path))); got != want {
			t.Errorf("allow on %q: %v", path, got)
		}
	}
}

func TestRuleOnPathsAndWords(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{".env", "/w/p/a/.env", true}, {".env", "/w/other/.env", false}, {"**/.env", "/w/p/.env", true},
		{"secrets/", "/w/p/secrets/a/b", true}, {"./a/*.go", "/w/p/a/x.go", true}, {"a/*.go", "/w/p/a/b/x.go", false},
		{"/etc/**", "/etc/x/y", true}, {"~/.ssh/**", "/home/u/.ssh/id", true}, {"/w/p/../q", "/w/q", true},
		{"/w/q", "/w/p/../q", true}, {"[!a]b", "/w/p/cb", true}, {"[!a]b", "/w/p/ab", false}, {"x", "../x", true},
	} {
		r := &Rule{Decision: handler.Deny, Paths: []string{c.pattern}, home: "/home/u"}
		if got := r.holds(file("Write", c.path)); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
	words := &Rule{Decision: handler.Deny, Words: []string{"Secret"}}
	prompt := handler.Call{Event: "UserPromptSubmit", Payload: []byte(`{"prompt":"tell the SECRET"}`)}
	if !words.holds(prompt) || words.holds(handler.Call{Payload: []byte(`{"prompt":"no"}`)}) || !words.holds(command("echo secret")) {
		t.Error("words")
	}
	odd := &Rule{Decision: handler.Deny, Words: []string{"say \"x\"\ny"}}
	if !odd.holds(call("Write", `{"content":["a",{"b":"say \"x\"\ny"}]}`)) || odd.holds(call("Write", `{"content":"say x"}`)) {
		t.Error("words that JSON writes otherwise")
	}
	if r := (&Rule{Decision: handler.Deny, Paths: []string{"**"}}); r.holds(command("ls")) {
		t.Error("a command has no path")
	}
}

// A command line of any form is taken apart without end or panic, and what it
// denies in a command it denies in a list of them.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"rm -rf /", `a "b $(c 'd')" | e`, "x `y` & z", "sh -c 'sh -c \"sh -c ls\"'", "a\\\nb", "<(x)", "a#b # c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := readCommand(text)
		if line.broken {
			return
		}
		rule := &Rule{Decision: handler.Deny, Commands: []string{"rm -rf"}}
		if strings.ContainsAny(text, "\"'`\\#<>(){}$&|\n") {
			return // what follows may be part of something
		}
		if !rule.commandFits("Bash", "rm -rf x; "+text) {
			t.Fatalf("not seen before %q", text)
		}
	})
}
