//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents returns the paths of the README and of the manual's pages.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../internal/manual/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("the manual's pages: %v, %v", pages, err)
	}
	return append([]string{"../../README.md"}, pages...)
}

// readmeExample is an indented block of the README or the manual that begins with a command,
// with what each command prints. `<!-- not run: reason -->` on the line before excludes a
// block. `<!-- file: PATH -->` on the line before another block makes that a file in the home
// directory of the examples that follow.
type readmeExample struct {
	line  int // of the first command, from 0
	end   int // of the line after the block
	steps []readmeStep
	files map[string]string
}

type readmeStep struct {
	command string
	output  []string
	gap     bool // a blank line precedes the next command
}

// examples finds the examples in the lines of the README.
func examples(lines []string) (list []readmeExample) {
	var files map[string]string
	for i := 0; i < len(lines); i++ {
		if name, ok := strings.CutPrefix(lines[i], "<!-- file: "); ok {
			files = withFile(files, strings.TrimSuffix(name, " -->"), lines[i+1:])
		}
		if !strings.HasPrefix(lines[i], "    $ ") {
			continue
		}
		excused := i > 0 && strings.HasPrefix(lines[i-1], "<!-- not run: ")
		x := readmeExample{line: i, files: files}
		for ; i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], "    ")); i++ {
			text := strings.TrimPrefix(lines[i], "    ")
			if command, ok := strings.CutPrefix(text, "$ "); ok {
				x.steps = append(x.steps, readmeStep{command: command})
				continue
			}
			last := &x.steps[len(x.steps)-1]
			last.output = append(last.output, text)
		}
		for x.end = i; lines[x.end-1] == ""; x.end-- {
		}
		for j := range x.steps {
			s := &x.steps[j]
			for n := len(s.output); n > 0 && s.output[n-1] == ""; n-- {
				s.output, s.gap = s.output[:n-1], j < len(x.steps)-1
			}
		}
		if !excused {
			list = append(list, x)
		}
	}
	return list
}

// withFile returns files with one more: the indented block with which lines begin.
func withFile(files map[string]string, name string, lines []string) map[string]string {
	files = maps.Clone(files)
	if files == nil {
		files = map[string]string{}
	}
	var text strings.Builder
	for _, l := range lines {
		rest, indented := strings.CutPrefix(l, "    ")
		if !indented {
			break
		}
		text.WriteString(rest + "\n")
	}
	files[name] = text.String()
	return files
}

// TestManualExamples runs every example of the README and the manual at the moment of the demo
// that the README's first picture shows, and compares the output.
func TestManualExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs installed programs for some seconds")
	}
	t.Parallel()
	found := 0
	for _, path := range documents(t) {
		found += runExamples(t, path)
	}
	if found < 6 {
		t.Fatalf("found %d examples: is their form another?", found)
	}
}

// runExamples runs the examples of a document and returns how many it has.
func runExamples(t *testing.T, path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	list := examples(lines)
	for i := len(list) - 1; i >= 0; i-- { // from the end, so that line numbers stay valid when the document is rewritten
		x := list[i]
		d := newStage(t)
		d.put(x.files)
		block := []string{}
		for _, s := range x.steps {
			got := d.run(s.command)
			if *golden && same(got, s.output) {
				got = s.output
			}
			block = append(block, "    $ "+s.command)
			for _, l := range got {
				block = append(block, strings.TrimRight("    "+l, " "))
			}
			if s.gap {
				block = append(block, "")
			}
			if !*golden && !same(got, s.output) {
				t.Errorf("%s:%d: $ %s (go test -run ManualExamples -golden writes it anew)\ngot:\n%s\nwant:\n%s",
					path, x.line+1, s.command, strings.Join(got, "\n"), strings.Join(s.output, "\n"))
			}
		}
		lines = append(lines[:x.line:x.line], append(block, lines[x.end:]...)...)
	}
	if *golden {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return len(list)
}

// stage is a home directory with everything installed, at the moment of stand.
type stage struct {
	t    *testing.T
	home string
	env  []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, ".local", "bin")
	installPrograms(t, bin)
	client := "#!/bin/sh\necho '2.1.329 (Claude Code)'\n"
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(client), 0o700); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, ".local", "state", "beckon")
	d := &stage{t: t, home: home, env: []string{"HOME=" + home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "TZ=UTC", "NO_COLOR=1", "USER=you", "TERM=dumb"}}
	if out := d.run("beckon demo --list --speed 0 --until 4.5 --dir " + state); len(out) == 0 {
		t.Fatal("the demo printed nothing")
	}
	return d
}

// put writes files into the home directory.
func (d *stage) put(files map[string]string) {
	d.t.Helper()
	for name, text := range files {
		path := filepath.Join(d.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// run runs a line in a shell and returns its output, except for what differs between machines.
func (d *stage) run(line string) []string {
	d.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = d.home, d.env
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		d.t.Fatalf("%s: %v", line, err)
	}
	text := strings.TrimRight(strings.ReplaceAll(string(out), d.home, "/home/you"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// varies matches what differs between any two runs: dates, times of day, durations in ms and
// their ratios, the path of an empty program, the version of the build.
var varies = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:.]+Z)?|\d\d:\d\d(:\d\d)?|[\d.]+ (ms|µs|times|launches)|\S+/true|\(devel\)|v\d+\.\d+\.\d+\S*|go1\.\S+|(linux|darwin)/\w+`)

// same compares output with what the README shows, where a line of "..." stands for any number
// of lines.
func same(got, want []string) bool {
	plain := func(l string) string {
		return strings.Join(strings.Fields(varies.ReplaceAllString(l, "_")), " ")
	}
	for i, w := range want {
		if strings.TrimSpace(w) == "..." {
			for j := i; j <= len(got); j++ {
				if same(got[j:], want[i+1:]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || plain(got[i]) != plain(w) {
			return false
		}
	}
	return len(got) == len(want)
}

func TestManualExamplesAreFound(t *testing.T) {
	list := examples(strings.Split("text\n\n    $ a\n    one\n\n    two\n    $ b\n\ntext\n<!-- not run: it waits -->\n    $ c\n\n    no command\n", "\n"))
	if got := fmt.Sprint(list); got != "[{2 7 [{a [one  two] false} {b [] false}] map[]}]" {
		t.Error(got)
	}
	for _, c := range []struct {
		got, want string
		same      bool
	}{
		{"a 12 ms\nb", "a  7.5 ms\nb", true}, {"a\nb\nc", "a\n...\nc", true}, {"a\nb\nc", "a\n...", true},
		{"a\nb", "a", false}, {"a", "a\nb", false}, {"a\nb\nc", "...\nb", false}, {"state idle", "state busy", false},
	} {
		if same(strings.Split(c.got, "\n"), strings.Split(c.want, "\n")) != c.same {
			t.Errorf("%q and %q: want same %v", c.got, c.want, c.same)
		}
	}
}
