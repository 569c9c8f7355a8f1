package rule

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"beckon/event"
)

func matcher(t testing.TB, text string) []Matcher {
	m, err := NewMatcher(event.PreToolUse, text)
	if err != nil {
		t.Fatal(err)
	}
	return []Matcher{m}
}

// The example in the manual does what its reader expects: it protects secrets in every
// directory and from every tool.
func TestSecretsAnywhere(t *testing.T) {
	r := &Rule{Tools: matcher(t, "Edit|Write|Read"), Conditions: Conditions{Paths: []string{".env", "*.pem"}}}
	for _, c := range []*Call{
		onFile("Read", "/w/p/config/server.pem"), onFile("Write", "/home/u/.ssh/k.pem"), onFile("Read", "/tmp/x.pem"), onFile("Edit", "/w/other/.env"),
		bash("cat .env"), bash("cp a/b.pem /tmp"), bash("x < .env"), bash("x >> .env"), bash("cd /etc && sudo cat k.pem"), bash(`cat "$DIR/.env"`),
		bash("python3 -c \"open('.env')\""), bash("cat *.pem"), bash("cat .en?"), bash("find . -name x -exec cat .env ;"), bash("for f in .env; do cat $f; done"),
		bash("python3 - <<'X'\nopen('.env')\nX"), bash("echo \"open('.env')\" | python3 -u -"), bash("python3 /dev/stdin <<'X'\nopen('.env')\nX"),
		bash("cat > x.py <<'X'\nopen('.env')\nX\npython3 x.py"), bash("cat > x.js <<'X'\nfs.readFileSync('.env')\nX\nnode ./x.js"),

		bash("git diff --no-index .env /dev/null"), bash("git add -f .env"), bash("git show HEAD:.env"), bash("git show :.env"), bash("git -C a cat-file -p main:b/.env"),
		bash("git diff .env"), bash("git diff main -- .env"), bash("git blame -w .env"), bash("git log -p -- .env"), bash("git log -L 1,9:.env"), bash("git grep -n KEY -- .env"),
		call("mcp__fs__read_file", `{"path":"/x/.env"}`), call("mcp__fs__read_multiple_files", `{"paths":["a","b/.env"]}`),
		call("mcp__fs__move_file", `{"source":"x.pem","destination":"y"}`), call("mcp__x__open", `{"uri":"file:///w/.env"}`),
		call("Read", `{"file_path":"/w/a://../../.env"}`), call("Write", `{"file_path":"a://../../.env"}`),
	} {
		if !fits(r, c) {
			t.Errorf("%s %s passes: %+v", c.Tool, c.Input, r.Evaluate(c))
		}
	}
	for _, c := range []*Call{
		onFile("Read", "/w/p/env"), onFile("Read", "/w/p/.env.go"), bash("ls"), bash("echo .env"), bash("grep .env README.md"), bash("ssh h cat .env"),
		bash("git commit -m .env"), bash("cat > x.py <<'X'\nopen('.env')\nX"), bash("git diff HEAD x"), bash("git log -- .env"), bash("git check-ignore .env"), bash("git ls-files .env"), bash("git status .env"), bash("git grep .env"), call("mcp__x__get", `{"url":"https://x/.env"}`), call("Grep", `{"pattern":".env"}`),
	} {
		if v := r.Evaluate(c); v.Result == Yes {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, v)
		}
	}
	read := &Rule{Tools: matcher(t, "Grep|Glob"), Conditions: Conditions{Paths: []string{"*.pem"}}}
	for _, c := range []*Call{call("Grep", `{"pattern":"x","glob":"**/*.pem"}`), call("Glob", `{"pattern":"**/*.pem"}`), call("Glob", `{"pattern":"a.pem","path":"/x"}`), call("Grep", `{"path":"k.pem"}`)} {
		if !fits(read, c) {
			t.Errorf("%s %s passes", c.Tool, c.Input)
		}
	}
	writes := &Rule{Tools: matcher(t, "Write"), Conditions: Conditions{Paths: []string{"go.sum"}}}
	if fits(writes, bash("cat go.sum")) || !fits(writes, bash("cat x > go.sum")) || !fits(writes, bash("rm go.sum")) || !fits(writes, bash("tee go.sum")) {
		t.Error("reading is no writing")
	}
}

// A git command that shows a stored file counts as reading the file.
func TestStoredFiles(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".git", "sub/deep"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := func(dir, line string) *Call {
		c := bash(line)
		c.Cwd, c.Project = filepath.Join(root, dir), root
		return c
	}
	r := &Rule{Tools: matcher(t, "Read"), Conditions: Conditions{Paths: []string{".env", "*.pem", "./secrets/**", "./sub/prod.yml"}},
		Unless: &Conditions{Paths: []string{"./sub/ok/**"}}}
	for _, c := range []struct {
		dir, line string
		want      Result
	}{
		{"", "git show HEAD:secrets/a", Yes},
		{"sub", "git show HEAD:secrets/a", Yes},
		{"sub", "git show HEAD:./secrets/a", No},
		{"sub", "git show HEAD:../secrets/a", Yes},
		{"sub", "git show :secrets/a", Yes},
		{"sub", "git show :2:secrets/a", Yes},
		{"sub/deep", "git -C .. show HEAD:./prod.yml", Yes},
		{"", "cd sub && git show HEAD:./prod.yml", Yes},
		{"sub", "git show HEAD:sub/prod.yml", Yes},
		{"sub", "git show HEAD:prod.yml", No},
		{"sub", "git show 'HEAD@{2020-01-01 10:00:00}:secrets/a'", Yes},
		{"sub", "git show 'stash@{0}^3:.env'", Yes},
		{"sub", "git show 'HEAD^{/fix: .env}'", No},
		{"sub", "git diff -- ':(top)secrets/a'", Yes},
		{"sub", "git diff -- ':/secrets/a'", Yes},
		{"sub", "git diff -- ':(top,icase).env'", Yes},
		{"sub", "git diff -- secrets/a", No},
		{"", "git diff -- . ':!.env'", No},
		{"", "git diff -- . ':^config/k.pem' ':(exclude)secrets/a' ':(top,exclude).env'", No},
		{"", "git diff -- '*.env'", Yes},
		{"", "git log -p -- 'secrets/*'", Yes},
		{"", "for c in $(git rev-list HEAD); do git show $c:.env; done", Yes},
		{"", `git show "$REV:secrets/a"`, Yes},
		{"", `git show "$REV:a.go"`, No},
		{"", "git log -U5 -- .env", Yes},
		{"", "git log -p -S .env -- a.go", No},
		{"", "git log -S x -p -- .env", Yes},
		{"", "git diff --stat HEAD~1 -- .env", No},
		{"", "git diff --name-only -- '*.pem'", No},
		{"", "git diff --quiet .env", No},
		{"", "git diff --stat -p .env", Yes},
		{"", "git diff --name-only -U3 .env", Yes},
		{"", "git log --cc .env", Yes},
		{"", "git shortlog -p -- .env", Yes},
		{"", "git archive HEAD .env", Yes},
		{"", "git difftool -x cat HEAD -- .env", Yes},
		{"", "git blame -L '/.env/,+3' deploy.sh", No},
		{"", "git log -L '/a:b/,/c/:.env'", Yes},
		{"", "git show HEAD:sub/ok/.env", No},
		{"", "git stash show -p -- .env", Yes},
		{"", "git format-patch -1 --stdout -- .env", Yes},
		{"", "for f in $(find . -name .env); do cat $f; done", Yes},
		{"", "find . -name '*.pem' | while read f; do cat \"$f\"; done", Yes},
		{"", "for f in $(find . -name '*.go'); do cat $f; done", No},
		{"", "ls -d .env* | xargs -I{} cat {}", Yes},
		{"", "docker run -v $PWD/.env:/x alpine cat /x", Yes},
		{"", "docker run --env-file .env alpine npm test", No},
		{"sub", "git show HEAD:ok/.env", Yes},
	} {
		if v := r.Evaluate(in(c.dir, c.line)); v.Result != c.want {
			t.Errorf("in %q: %s: %+v, want %d", c.dir, c.line, v, c.want)
		}
	}

	for line, want := range map[string]Result{
		"rsync -a --exclude .env src/ to/": No, "tar --exclude k.pem -czf x.tgz .": No, "rsync -a --exclude-from .env src/ to/": Yes,
		"rsync -a .env to/": Yes,
	} {
		if v := (&Rule{Conditions: Conditions{Paths: []string{".env", "*.pem"}}}).Evaluate(bash(line)); v.Result != want {
			t.Errorf("%s: %+v, want %d", line, v, want)
		}
	}

	writes := &Rule{Tools: matcher(t, "Read|Write"), Conditions: Conditions{Paths: []string{"*.pem", "./secrets/**"}}}
	for line, want := range map[string]Result{
		"git add :/secrets/a": Yes, "git add ':(top)secrets/a'": Yes, "git rm :/secrets/a": Yes, "git rm -r :/": Yes, "git add x:k.pem": Yes, "git add '*.pem'": Yes,
		"git add . ':!*.pem'": No, "git add -A -- ':!k.pem' ':(exclude)secrets/a' ':^:x.pem'": No, "git rm -r . ':!k.pem'": No, "git add secrets/a": No,
	} {
		if v := writes.Evaluate(in("sub", line)); v.Result != want {
			t.Errorf("%s: %+v, want %d", line, v, want)
		}
	}
	if v := ruleOf("git add *.pem").Evaluate(bash("git add . ':!*.pem'")); v.Result == Yes {
		t.Errorf("what git leaves out counts as added: %+v", v)
	}
	// An approval of a file does not cover a git revision.
	allow := &Rule{Allow: true, Tools: matcher(t, "Bash"), Conditions: Conditions{Commands: []string{"git show", "git diff", "git log"}, Paths: []string{"./sub/**"}}}
	for _, line := range []string{"git show HEAD:secret", "git show mybranch", "git show mybranch:./a", "git diff a", "git log -p x", "git diff ':!a'"} {
		if v := allow.Evaluate(in("sub", line)); v.Result != No {
			t.Errorf("%s is approved: %+v", line, v)
		}
	}
}

// A patch that Codex's shell applies edits the files that it names.
func TestPatchesOnTheLine(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: src/a.go\n*** Move to: keys/.env\n@@\n-x\n+y\n*** End Patch"
	r := &Rule{Tools: matcher(t, "Edit|Write"), Conditions: Conditions{Paths: []string{".env"}}}
	for _, line := range []string{
		"apply_patch <<'EOF'\n" + patch + "\nEOF", "cd sub && apply_patch <<EOF\n" + patch + "\nEOF\n", "apply_patch '" + patch + "'", "applypatch \"" + patch + "\"",
		"codex --codex-run-as-apply-patch '" + patch + "'", "/usr/bin/codex --codex-run-as-apply-patch \"$(cat <<'E'\n" + patch + "\nE\n)\"",
		"bash -lc \"apply_patch <<'EOF'\n" + patch + "\nEOF\"", "printf '%s' '" + patch + "' | apply_patch", "cat > p <<'E'\n" + patch + "\nE\napply_patch < p",
		"apply_patch <<'EOF'\n*** Begin Patch\n  *** Add File: .env \n+x\n*** End Patch\nEOF", "apply_patch <<'EOF'\n*** Delete File: .env\nEOF",
		"apply_patch <<EOF\n*** Update File: $DIR/.env\nEOF",
	} {
		if !fits(r, bash(line)) {
			t.Errorf("%q passes: %+v", line, r.Evaluate(bash(line)))
		}
	}
	for _, line := range []string{"cat <<'EOF'\n" + patch + "\nEOF", "apply_patch <<'EOF'\n*** Update File: a.go\n+.env\nEOF", "codex exec 'change .env'"} {
		if v := r.Evaluate(bash(line)); v.Result != No {
			t.Errorf("%q: %+v", line, v)
		}
	}
	deep := &Rule{Tools: matcher(t, "Write"), Conditions: Conditions{Paths: []string{"/w/p/sub/deep/src/a.go"}}}
	if line := "cd deep && apply_patch '" + patch + "'"; !fits(deep, bash(line)) {
		t.Errorf("%q passes", line)
	}
}

func TestPathPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{".env", "/w/p/a/.env", true}, {".env", "/w/other/.env", true}, {"**/.env", "/w/p/.env", true}, {"./.env", "/w/p/.env", true},
		{"./.env", "/w/p/sub/.env", false}, {"./.env", "/w/other/.env", false}, {"secrets/", "/w/p/secrets/a/b", true}, {"secrets", "/x/secrets/a", true},
		{"./a/*.go", "/w/p/a/x.go", true}, {"a/*.go", "/w/p/a/b/x.go", false}, {"a/**/*.go", "/w/p/a/b/x.go", true}, {"/etc/**", "/etc/x/y", true},
		{"~/.ssh/**", "/home/u/.ssh/id", true}, {"~/.ssh/**", "~/.ssh/id", true}, {"~/.ssh", "/home/u/.ssh/id", true}, {"/w/p/../q", "/w/q", true},
		{"/w/q", "/w/p/../q", true}, {"[!a]b", "/w/p/cb", true}, {"[!a]b", "/w/p/ab", false}, {"x", "../x", true}, {"*.{pem,key}", "/x/a.key", true},
	} {
		r := &Rule{Conditions: Conditions{Paths: []string{c.pattern}}}
		if got := fits(r, onFile("Write", c.path)); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.path, got)
		}
	}
	allow := &Rule{Allow: true, Conditions: Conditions{Paths: []string{"./src/**"}}}
	if !fits(allow, onFile("Edit", "/w/p/src/a")) || fits(allow, onFile("Edit", "/w/p/src/../a")) || fits(allow, bash("cat src/a")) || fits(allow, call("Read", `{}`)) {
		t.Error("an approval of paths")
	}
	both := &Rule{Conditions: Conditions{Commands: []string{"rm"}, Paths: []string{"./prod/**"}}}
	if !fits(both, bash("ls; rm -f ../prod/x")) || fits(both, bash("rm x; cat ../prod/x")) {
		t.Error("a command and its files")
	}
	unless := &Rule{Conditions: Conditions{Commands: []string{"rm -r"}}, Unless: &Conditions{Commands: []string{"rm -rf node_modules", "rm -rf /tmp/*"}}}
	for line, want := range map[string]bool{"rm -rf node_modules": false, "rm -rf /tmp/x": false, "rm -rf /tmp/../etc": true, "rm -rf node_modules /": true, "rm -rf node_modules; rm -rf x": true, "rm -rf $X": true} {
		if got := fits(unless, bash(line)); got != want {
			t.Errorf("unless on %q: %v", line, got)
		}
	}
	words := &Rule{Conditions: Conditions{Words: []string{"Secret", "say \"x\"\ny"}}}
	for _, c := range []*Call{{Prompt: "tell the SECRET"}, bash("echo secret"), call("Write", `{"content":["a",{"b":"say \"x\"\ny"}]}`)} {
		if !fits(words, c) {
			t.Errorf("words: %+v", c)
		}
	}
	if fits(words, &Call{Prompt: "no"}) || fits(words, call("Write", `{"content":"say x"}`)) {
		t.Error("words that are not there")
	}
}

// BenchmarkRules compiles and evaluates five thousand rules against one call.
func BenchmarkRules(b *testing.B) {
	var rules []Rule
	for i := range 5000 {
		r := Rule{Tools: matcher(b, "Bash")}
		switch i % 4 {
		case 0:
			r.Commands = []string{fmt.Sprintf("git sub%d --force", i)}
		case 1:
			r.Commands = []string{fmt.Sprintf("prog%d -rf", i)}
		case 2:
			r.Tools = nil
			r.Paths = []string{fmt.Sprintf("*.x%d", i), fmt.Sprintf("~/d%d/**", i)}
		case 3:
			r.Regex = []string{fmt.Sprintf("^prog%d .*-f", i)}
			r.Commands = []string{fmt.Sprintf("prog%d", i)}
		}
		rules = append(rules, r)
	}
	for b.Loop() {
		c := bash("cd x && git -C y push origin main | tee log.txt; cat a b; for i in 1 2 3; do sudo make -j4 $i; done")
		for _, r := range rules {
			if r.Evaluate(c).Result == Yes {
				b.Fatal(r)
			}
		}
	}
}

// A pattern in place of a directory's name may match the directory that a rule protects. Every
// file that a tool's input names counts.
func TestNoWayRoundByAnotherName(t *testing.T) {
	rule := &Rule{Conditions: Conditions{Paths: []string{"/home/u/.ssh/**"}}}
	for line, want := range map[string]Result{
		"rm /home/u/.ss*/id":          Yes,
		"rm /home/u/.s[s]h/id":        Yes,
		"rm /home/*/.ssh/id":          Yes,
		"rm /home/u/*/id":             No, // the shell's * does not match .ssh
		"rm /home/u/src*/id":          No,
		"chmod -x /home/u/.ssh/id":    Yes,
		"chmod 600 /home/u/.ssh/id":   Yes,
		"find /home/u/.ssh -delete":   Yes,
		"find /home/u -name x -print": No,
	} {
		c := &Call{Tool: "Bash", Input: []byte(`{"command":"` + line + `"}`), Cwd: "/w", Project: "/w", Home: "/home/u"}
		if got := rule.Evaluate(c).Result; got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	c := &Call{Tool: "NotebookEdit", Input: []byte(`{"file_path":"/tmp/x","notebook_path":"/home/u/.ssh/n.ipynb"}`), Cwd: "/w", Home: "/home/u"}
	if got := rule.Evaluate(c).Result; got != Yes {
		t.Errorf("a second name: %v", got)
	}
}
