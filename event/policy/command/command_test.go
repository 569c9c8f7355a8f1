package command

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// texts lists the commands of a line as texts, with holes for unknown parts.
func texts(l *Line) (list []string) {
	for _, c := range l.Commands {
		list = append(list, c.Joined())
	}
	return list
}

// Every program that runs another one has a line here for each way in which it does.
func TestCarriers(t *testing.T) {
	data, err := os.ReadFile("testdata/carriers.txt")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		l := Parse(line, Bash)
		if !slices.Contains(texts(l), "rm -rf x") {
			t.Errorf("%s: %q, %q", line, texts(l), l.Unknown)
		}
		for _, c := range l.Commands {
			tested[c.Args.Program] = true
			for n := range c.Args.Sub {
				tested[c.Args.Program+" "+strings.Join(c.Args.Sub[:n+1], " ")] = true
			}
		}
	}
	for line := range strings.Lines(programs) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '\t' {
			continue
		}
		names := strings.Split(line, ", ")
		if s := lookup(names[0]); s.carriesCommands() && !slices.ContainsFunc(names, func(n string) bool { return tested[n] }) {
			t.Errorf("none of %s is in testdata/carriers.txt", line)
		}
	}
}

// carriesCommands reports whether some words of the entry's program are a command.
func (s *spec) carriesCommands() bool {
	command := []string{"cmd", "join", "sh"}
	return s.stdin == "sh" || s.after == "cmd" ||
		slices.ContainsFunc(s.flags, func(f flagSpec) bool { return slices.Contains(command, f.kind) }) ||
		slices.ContainsFunc(s.words, func(w wordsSpec) bool {
			return slices.ContainsFunc(w.kinds, func(k string) bool { return slices.Contains(command, strings.TrimSuffix(k, "...")) })
		})
}

// The table names no program twice, and uses only kinds that exist.
func TestPrograms(t *testing.T) {
	seen := map[string]bool{}
	kinds := strings.Fields("r w e d @ dd far farw cmd join sh code script = x split exec sshopt gitopt url ref rev range spec specw into found keys make patch")
	lines := map[string]bool{"flags": true, "harmless": true, "words": true, "after": true, "stdin": true, "all": true, "is": true}
	for line := range strings.Lines(programs) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			if f := strings.Fields(line); !lines[f[0]] || line != "\t"+strings.Join(f, " ") {
				t.Errorf("no such line: %q", line)
			}
		default:
			for _, name := range strings.Split(line, ", ") {
				if seen[name] {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
				s := lookup(name)
				var names []string
				for _, f := range s.flags {
					names = append(names, f.names...)
					if f.kind != "" && !slices.Contains(kinds, strings.TrimSuffix(f.kind, "...")) || f.harmless && runs(f.kind) {
						t.Errorf("%s: %v is %q", name, f.names, f.kind)
					}
				}
				slices.Sort(names)
				if short := slices.Compact(slices.Clone(names)); len(short) != len(names) {
					t.Errorf("%s: a flag is there twice: %q", name, names)
				}
				for _, w := range s.words {
					for _, k := range w.kinds {
						if !slices.Contains(kinds, strings.TrimSuffix(k, "...")) {
							t.Errorf("%s: words %q", name, k)
						}
					}
				}
			}
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct{ line, reads, writes string }{
		{"xxd -l 16 a", "a", ""}, {"xxd -ps -r a b", "a", "b"}, {"tree -L 2 -o a b", "", "a"}, {"kubectl cp a pod:/b", "a", ""}, {"kubectl cp -c x pod:/a b", "", "b"}, {"kubectl create secret generic x --from-file=a --from-env-file b", "a b", ""},
		{"gh gist create -d x a b", "a b", ""}, {"gh secret set -f a", "a", ""}, {"gh release upload v1 a --clobber", "a", ""},
		{"jq --arg x y .k a", "a", ""}, {"jq -n --rawfile x a .k", "a", ""}, {"jq --slurpfile x a --argjson y 1 .k b", "a b", ""},
		{"yq .k a", "a", ""}, {"yq e .k a", "a", ""}, {"yq eval -i .k=1 a", "a", "a"}, {"zip -r a . -x b c", ".", "a"}, {"zip a b -x c d -q", "b", "a"},
		{"cat a b", "a b", ""}, {"cat < a > b", "a", "b"}, {"cp a b c", "a b", "c"}, {"cp -t d a b", "a b", "d"}, {"mv a b", "a", "a b"},
		{"sed s/x/y/ a", "a", ""}, {"sed -i s/x/y/ a", "a", "a"}, {"sed -i -e s/x/y/ a", "a", "a"}, {"sed -n -e 1p a", "a", ""}, {"grep x a b", "a b", ""},
		{"grep -e x a", "a", ""}, {"grep -rn x d", "d", ""}, {"tee a b", "", "a b"}, {"sort -o b a", "a", "b"}, {"dd if=a of=b", "a", "b"},
		{"curl -d @a -o b x", "a", "b"}, {"curl -F f=@a x", "a", ""}, {"scp a h:b", "a", ""}, {"scp h:a b", "", "b"}, {"tar czf x.tgz d", "d", ""},
		{"awk '{print}' a", "a", ""}, {"awk -f p a", "p a", ""}, {"jq . a", "a", ""}, {"openssl rsa -in a -out b", "a", "b"}, {"rm a", "", "a"},
		{"x 2>&1 >/dev/null 2>a &>b", "", "a b"}, {"while read l; do :; done < a", "a", ""}, {"source a", "a", ""}, {"ssh h cat a", "", ""},
		{"docker exec c cat a", "", ""}, {"sudo cat a", "a", ""}, {"echo x | xargs cat", "x", ""}, {"git -C d diff --output=a", "", "d/a"},
		{"cd d && cat a ../b", "d/a d/../b", ""}, {"(cd d; cat a); cat b", "d/a b", ""}, {"cat $HOME/a", "~/a", ""}, {"cat {a,b}.c", "a.c b.c", ""},
		{"tar x -C d", "", "d"}, {"find d -name a -delete", "", "d/**/a"}, {"find d -delete", "", "d"}, {"make -rf", "", ""},
	} {
		var reads, writes []string
		for _, cmd := range Parse(c.line, Bash).Commands {
			for _, f := range cmd.Files {
				name := f.Path.Text
				if f.Dir.Text != "" {
					name = f.Dir.Text + "/" + name
				}
				if f.Access&Read != 0 {
					reads = append(reads, name)
				}
				if f.Access&Write != 0 {
					writes = append(writes, name)
				}
			}
		}
		if strings.Join(reads, " ") != c.reads || strings.Join(writes, " ") != c.writes {
			t.Errorf("%s: reads %q, writes %q", c.line, reads, writes)
		}
	}
}

// What echo, printf and braces make of a text is what the shell makes of it.
func TestTexts(t *testing.T) {
	for line, want := range map[string]string{
		`printf '%b' '\162\155 x' | sh`: "rm x", `$(printf '%b' '\0162\0155') x`: "rm x", `printf '%b y' 'rm\x20x' | sh`: "rm x y",
		`echo -e '\0162\0155 x' | sh`: "rm x", `echo -e '\162\155 x' | sh`: "rm x", `echo -e "\x72m $X" | sh`: "rm " + hole, `echo -e 'rm x\c y' | sh`: "rm x",
		`printf '%b%b' 'rm ' 'x\cy' | sh`: "rm x", `$'\162m' x`: "rm x", `printf '\162m x' | sh`: "rm x", `echo 'r\m' x | sh`: "rm x",
		"printf '%b' 'r\\\nm x' | sh": "rm x", "echo -e 'r\\\nm x' | sh": "rm x", `echo -e 'echo \"; rm x # \"' | sh`: "rm x", `printf '%b' 'echo \"; rm x # \"' | sh`: "rm x", `printf "\'r\'m x" | sh`: "rm x",
		`printf 'a b\0c\0' | xargs -0 x`: "x a b c", `printf 'rm x\0' | xargs -0 sh -c`: "rm x", `printf 'a b,c' | xargs -d, x`: "x a b c", `printf 'rm x\ny' | xargs -d '\n' -n1 bash -c`: "rm x",
		`echo '"rm x"' | xargs sh -c`: "rm x", `echo 'rm\ x' | xargs -n1 sh -c`: "rm x", `echo ' "rm" x ' | xargs -I{} sh -c {}`: "rm x",
		`echo "a 'b'" | xargs x`: "x a b",
		`rm {08..10}`:            "rm 08 09 10", `rm {2..001}`: "rm 002 001", `rm {-01..1}`: "rm -01 000 001", `rm {1..3..2}{a..b}`: "rm 1a 1b 3a 3b",
	} {
		if l := Parse(line, Bash); texts(l)[len(l.Commands)-1] != want || len(l.Unknown) > 0 {
			t.Errorf("%s: %q, %q", line, texts(l), l.Unknown)
		}
	}
}

// A word that is partly unknown keeps its known parts in their places.
func TestPartlyKnown(t *testing.T) {
	for _, c := range []struct {
		line, word string
		d          Dialect
	}{
		{"curl -o$X/a u", hole + "/a", Bash}, {"curl -o=b$X u", "b" + hole, Bash}, {"curl --output=b$X u", "b" + hole, Bash}, {"curl -so$X u", hole, Bash},
		{"git push x +b$X", "b" + hole, Bash}, {"git push x :b$X", "b" + hole, Bash}, {"rm a$x-b", "a" + hole + "-b", PowerShell}, {`rm "a$(x)b"`, "a" + hole + "b", PowerShell},
	} {
		l := Parse(c.line, c.d)
		a := l.Commands[len(l.Commands)-1].Args
		got := slices.Clone(a.Operands)
		for _, f := range a.Flags {
			got = append(got, f.Value)
		}
		if !slices.ContainsFunc(got, func(w Word) bool {
			return !w.Known && w.all() == c.word && w.Text == c.word[:strings.Index(c.word, hole)]
		}) {
			t.Errorf("%s: %+v", c.line, got)
		}
	}
}

// pieces lists parts from which deep, long and complex lines are built.
var pieces = []string{"<(", "$(", "`", "{", "(", "sudo ", "eval ", "watch eval ", "sudo -x ", "bash -c ", "a=b ", "((", "\"$(", "<<x ", "<<x\n", "${a", "${a:-", "ssh ",
	"a&&", "a|", "if ", "case x in x) ", "x() { ", "{a,b}", "{1..9}", "[[ ! ", "! ", "$((1+", "a=$a$a;", "f(){ f;f; };f;", "x=1;$(:);", "for i in 1 2 3; do ", "alias a=b;a;", "echo x|", "\\", "'", "$'\\x", "-- ", "<<<x ", "a[", "time ", "env -S ", "xargs ",
	"echo abcdefgh>>a;cat a a>>a;", "echo a|tee b c -a|cat - b c>b;", "echo a\nb\nc>>l;xargs -I{} sh -c '{} {}'<l;", "a&&b=$b$b&&", "echo 'echo $a'>>a;. a;"}

// The author of a line can make parsing neither slow nor deeply recursive.
func TestLongLines(t *testing.T) {
	for _, piece := range pieces {
		start := time.Now()
		l := Parse("rm -rf x; : "+strings.Repeat(piece, 200_000/len(piece)), Bash)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q takes %s", piece, took)
		}
		if !slices.Contains(texts(l), "rm -rf x") && len(l.Unknown) == 0 {
			t.Errorf("%q hides what is before it", piece)
		}
	}
	if l := Parse(strings.Repeat("a ", maxText), Bash); len(l.Unknown) == 0 {
		t.Error("a line that is too long is known")
	}
}

// FuzzParse checks that every line can be parsed, that each command has words, and that the
// indexes in it are valid.
func FuzzParse(f *testing.F) {
	for _, s := range append(pieces, "rm -rf /", `a "b $(c 'd')" | e`, "x `y` & z", "a\\\nb", "cat <<X\n$(y)\nX", "git -c alias.x='!y' x z", "find . -exec a {} + -delete", "tar xf a", "echo a | xargs -I{} b {}", "parallel a ::: b", "printf '%s' a|sh") {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, power bool) {
		d := Bash
		if power {
			d = PowerShell
		}
		l := Parse(text, d)
		for i, c := range l.Commands {
			if len(c.Words) == 0 || c.By >= i && c.By != -1 || c.From > c.To || c.To > len(l.Commands) {
				t.Fatalf("%q: command %d is %+v", text, i, c)
			}
			for _, w := range c.Words {
				if !w.Known && !strings.HasPrefix(w.shell, w.Text) {
					t.Fatalf("%q: word %+v", text, w)
				}
			}
		}
	})
}
