package rule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A search over a folder reads a protected file that is there, unless the search leaves it out.
func TestSearchesReadWhatIsThere(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".git/HEAD": "", ".env": "KEY=1", "app/key.pem": "", "app/main.go": "", ".gitignore": "/ignored/\n*.log\n!keep.log\n", "ignored/.env": "",
		"docs/a.md": "", "web/x/y/.env": "", "node_modules/p/.env": "", "logs/a.log": "",
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rule := &Rule{Tools: matcher(t, "Edit|Write|Read|Grep"), Conditions: Conditions{Paths: []string{".env", "*.pem"}}}
	ask := func(tool, input string) bool {
		c := &Call{Tool: tool, Input: []byte(strings.ReplaceAll(input, "ROOT", filepath.ToSlash(root))), Cwd: root, Project: root, Home: "/home/u"}
		return rule.Evaluate(c).Result == Yes
	}
	for _, input := range []string{
		`{"pattern":"KEY","output_mode":"content"}`, `{"pattern":"KEY","path":"ROOT","output_mode":"content"}`, `{"pattern":"KEY","path":"web","output_mode":"content"}`,
		`{"pattern":"KEY","path":"app","output_mode":"content"}`, `{"pattern":"KEY","path":".env"}`, `{"pattern":"x","glob":"*.pem"}`,
	} {
		if !ask("Grep", input) {
			t.Errorf("Grep %s passes", input)
		}
	}
	for _, input := range []string{
		`{"pattern":"KEY"}`, `{"pattern":"KEY","output_mode":"count"}`, `{"pattern":"KEY","path":"docs","output_mode":"content"}`,
		`{"pattern":"KEY","output_mode":"content","glob":"*.go"}`, `{"pattern":"KEY","output_mode":"content","type":"go"}`,
		`{"pattern":"KEY","path":"ignored","output_mode":"content"}`,
	} {
		if ask("Grep", input) {
			t.Errorf("Grep %s is refused", input)
		}
	}
	command := func(line string) string { return `{"command":"` + line + `"}` }
	for _, line := range []string{
		"grep -r KEY .", "grep -rn KEY", "grep -R KEY web", "cd web && grep -rn KEY .", "egrep --recursive KEY docs web", "grep -r KEY ignored", "rg KEY app", "rg --hidden KEY",
		"rg -uu KEY ignored", "rg -. KEY web/x", "grep -rh --include=.env KEY .", "grep -r KEY --include=*.pem", "rg -g .env KEY", "rg --glob=*.pem KEY app", "npx dotenv -e .env -- printenv",
		"grep -rv x .", "ag KEY app",
		"tar czf x.tgz .", "tar -czf x.tgz app", "tar -C app -cf - .", "cp -r . /tmp/x", "cp -a web /tmp/x", "zip -qr x.zip .", "rsync -a app/ h:/x",
		"for f in .env*; do cat \\\"$f\\\"; done", "docker run -v ./.env:/e alpine", "docker run -v $PWD/.env:/e alpine",
	} {
		if !ask("Bash", command(line)) {
			t.Errorf("%s passes", line)
		}
	}
	for _, line := range []string{
		"grep -r KEY docs", "grep -rl KEY .", "grep -rc KEY .", "grep -rq KEY .", "grep KEY README.md", "rg KEY docs", "rg KEY web", "rg KEY ignored", "rg -l KEY", "rg -t go KEY",
		"grep -r --include=*.go KEY .", "cat x | rg KEY", "cat x | grep -r KEY", "rg -g *.go KEY", "grep -r KEY logs", "ls | grep -v x", "grep --exclude=.env --exclude=*.pem -r KEY .",
		"tar xzf x.tgz", "tar czf x.tgz docs", "tar --exclude=.env -czf x.tgz .", "cp -r docs /tmp/x", "cp -r docs web", "zip -r x.zip . -x .env", "zip x.zip README.md",
		"code .env", "git rm --cached .env", "for f in .envrc*; do cat $f; done",
	} {
		if ask("Bash", command(line)) {
			t.Errorf("%s is refused", line)
		}
	}
	read := func(line string) bool {
		c := &Call{Tool: "Bash", Input: []byte(command(line)), Cwd: root, Project: root, Home: "/home/u"}
		return (&Rule{Conditions: Conditions{Paths: []string{".env", ".env.*"}}, Unless: &Conditions{Paths: []string{".env.example"}}}).Evaluate(c).Result == Yes
	}
	for _, line := range []string{"cp .env.example .env", "cp -n config/.env.example .env.local"} {
		if read(line) {
			t.Errorf("%s is refused", line)
		}
	}
	for _, line := range []string{"cp .env x", "cp a .env", "cp x.example .env", "cp .env.example .env && cat .env", "mv .env .env.example", "cp .env.sample .env"} {
		if !read(line) {
			t.Errorf("%s passes", line)
		}
	}
	for line, want := range map[string]Result{
		"rm -rf ignored": No, "rm -rf ignored/sub/x": No, "rm -rf logs/a.log": No, "rm -rf app": Yes, "rm -rf ignored app": Yes,
		"rm -rf keep.log": Yes, "rm -rf docs/ignored": Yes, "rm -rf $X/ignored": Yes,
	} {
		r := &Rule{Conditions: Conditions{Commands: []string{"rm -r"}}, Unless: &Conditions{Paths: []string{"git:ignored"}}}
		if v := r.Evaluate(&Call{Tool: "Bash", Input: []byte(command(line)), Cwd: root, Project: root, Home: "/home/u"}); v.Result != want {
			t.Errorf("%s: %+v", line, v)
		}
	}
}

// A folder at the root of the file system, and the root itself, are searched like any other.
func TestSearchesAtTheRoot(t *testing.T) {
	r := &Rule{Conditions: Conditions{Paths: []string{"no-such-file-anywhere"}}, Unless: &Conditions{Paths: []string{"git:ignored"}}}
	for _, cwd := range []string{"/", "/no-such-folder", "/no-such-folder/x"} {
		for _, line := range []string{"rg KEY", "rg KEY /", "grep -r KEY .", "rm -rf x", "rm -rf /x", "rg KEY ..", "rg KEY ~", "rg KEY $X"} {
			c := &Call{Tool: "Bash", Input: []byte(`{"command":"` + line + `"}`), Cwd: cwd, Project: cwd, Home: "/"}
			if v := r.Evaluate(c); v.Result == Yes {
				t.Errorf("%s in %s: %+v", line, cwd, v)
			}
		}
	}
}
