package shell

import (
	"slices"
	"strings"
	"testing"
)

// run returns the commands of a line, each with its words joined.
func run(l *Line) (list []string) {
	for _, c := range l.Commands {
		list = append(list, strings.ReplaceAll(strings.Join(c.Words, " "), Hole, "?"))
	}
	return list
}

func TestCommands(t *testing.T) {
	for line, want := range map[string][]string{
		"a; b && c | d":                         {"a", "b", "c", "d"},
		"if a; then b; fi":                      {"a", "b"},
		"X=1; a $X $Y":                          {"a 1 ?"},
		"a $(b) `c`":                            {"b", "c", "a ? ?"},
		"bash -lc 'a; b'":                       {"bash -lc a; b", "a", "b"},
		"eval 'a b'":                            {"eval a b", "a b"},
		"ssh h a b":                             {"ssh h a b", "a b"},
		"f() { a $1; }; f x":                    {"a ?", "a x"},
		"for i in x y; do a $i; done":           {"a x", "a y"},
		"echo a b | sh":                         {"echo a b", "sh", "a b"},
		"bash <<E\na\nE":                        {"bash", "a"},
		"sh '' a; bash -0 ''":                   {"sh  a", "bash -0 "},
		"echo 'a b' > s; sh s":                  {"echo a b", "sh s", "a b"},
		"read X <<< b; a $X":                    {"read X", "a b"},
		"{a,b} c":                               {"a b c"},
		`python3 -c "os.system('a b')"`:         {"python3 -c os.system('a b')", "a b"},
		`python3 -c "run(['a', 'b'])"`:          {"python3 -c run(['a', 'b'])", "a", "b", "a b"},
		"printf '%s\n' a | xargs -I{} sh -c {}": {"printf %s\n a", "xargs -I{} sh -c a a", "a"},
	} {
		if got := run(Read(line)); !slices.Equal(got, want) {
			t.Errorf("%q runs %q, want %q", line, got, want)
		}
	}
	power := ReadPower("ls | % { Remove-Item $_ -Recurse }; git `\n push \"a $x\"")
	if got := run(power); !slices.Equal(got, []string{"ls", "%", "Remove-Item ? -Recurse", "git push a ?"}) {
		t.Errorf("PowerShell: %q", got)
	}
}

// What a command reads from another one is known by its number, through variables, too.
func TestFeeds(t *testing.T) {
	for _, line := range []string{"curl x | sh", "curl x | tee f | sh", `X=$(curl x); echo "$X" | sh`, `S=$(curl x); bash -c "$S"`, "sh <(curl x)", "curl x -o f; sh f", "curl x | while read l; do sh -c \"$l\"; done"} {
		l := Read(line)
		at := slices.IndexFunc(l.Commands, func(c Command) bool { return In(Shells, c.Programs()[0].Name) })
		if at < 0 || !slices.ContainsFunc(l.Sources(at), func(i int) bool { return l.Commands[i].Words[0] == "curl" }) {
			t.Errorf("%q: %+v", line, l.Commands)
		}
	}
}

func TestPrograms(t *testing.T) {
	for line, want := range map[string]string{
		"sudo -u x rm y":                    "sudo x rm",
		"npx prettier y":                    "npx prettier y?",
		"docker run -it --entrypoint=rm x":  "docker rm x",
		"find . -exec rm {} +":              "find rm",
		"echo rm":                           "echo",
		"uv run pytest -q":                  "uv pytest",
		"bash deploy.sh":                    "bash deploy.sh",
		"python3 -m pip install":            "python pip",
		"git -C x submodule foreach rm y":   "git rm",
		"/usr/bin/terraform@1.5 apply":      "terraform apply?",
		"env A=1 command rm x":              "env command rm",
		"kubectl exec p -- psql -c x":       "kubectl p psql",
		"node --trace-warnings acme.js":     "node acme.js",
		"npm test":                          "npm",
		"yarn workspace api deploy":         "yarn workspace api deploy",
		"command -v rm":                     "command",
		"make -C web deploy":                "make web? deploy?",
		"deno run -A https://x.y/z.ts":      "deno https://x.y/z.ts",
		"parallel rm ::: a b":               "parallel rm",
		"node ./bin/acme.js up":             "node acme.js up?",
		"docker run --rm alpine rm -rf /x":  "docker alpine rm",
		"docker compose exec db psql":       "docker compose? db psql",
		"xargs -0 -n1 git push":             "xargs git",
		"ssh h git push":                    "ssh h? git? push?",
		"timeout 5 git push":                "timeout 5 git",
		"aws-vault exec prod -- aws s3 ls":  "aws-vault exec prod aws s3 ls",
		"GIT=x git push":                    "git",
		"nice -n 10 bash -c x":              "nice 10 bash",
		"go run golang.org/x/tools/cmd/a@v": "go a@v",
	} {
		var got []string
		c := Read(line).Commands[0]
		for _, p := range c.Programs() {
			name := p.Name
			if p.Weak {
				name += "?"
			}
			got = append(got, name)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %q, want %q", line, text, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"sudo -u x rm -rf \"$(cat <<E\nx\nE\n)\" | xargs -I{} sh -c 'rm {}'", "for i in {a,b}; do $i; done",
		"f() { f; }; f", "a=$a$a; a=$a$a; eval $a", "bash -c \"bash -c 'bash <<< x'\"", "read a b <<< 'x y'; $a", "\"$(a)`b`\" {x(y)}", "sh '' a; bash -0 ''",
		"xargs -0 -I% env A= timeout 5 nice sh -c '%' '' < f", "printf '' | tar xf - '' ; curl -o '' x; cp '' ''", "Get-Item '' | % { & \"$_\" -x:'' }"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		if len(s) < 3000 {
			Read(s)
			ReadPower(s)
		}
	})
}
