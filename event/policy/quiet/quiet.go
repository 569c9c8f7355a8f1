// Package quiet finds the calls that no rule of a policy can apply to, without the shell's
// parser and the rules themselves: for such a call a hook answers at once, and starts no
// second program.
//
// It errs only on the safe side. A call is quiet only if all of it can be read literally and
// it contains nothing that a rule needs; anything less plain (an expansion, a pattern, a link,
// a directory that rules name) is left to the rules. What rules need is an index, which
// package match builds.
package quiet

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/event"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// Index says what calls must have in them for a rule to apply. It is lines of a
// letter, a blank and a text, all in small letters but the tools:
//
//	q TOOL            no rule looks at the tool
//	f TOOL            rules look at the files that the tool names
//	b TOOL            rules look at the tool's command line
//	c PROGRAM :WORD:  a command, with the words of which it must have one; * any
//	w TEXT            a program's name begins so
//	p NAME            a path, in whatever directory, has this name in it
//	s TEXT            a path, in whatever directory, has this text in it
//	n NAME, t TEXT    the same, where a line with d says in which directory
//	d DIR<tab>REAL    a directory or file, and where its links led
type Index string

// Tools are those that an index can know; any other is never quiet.
var Tools = []string{"Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "Task", "Agent",
	"TodoWrite", "AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "Skill", "BashOutput", "KillShell", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop", "ToolSearch"}

// Silent reports whether no rule can apply to a call. It is false whenever it is not sure.
func (x Index) Silent(payload []byte) bool {
	if !gjson.ValidBytes(payload) {
		return false
	}
	call := gjson.ParseBytes(payload)
	tool := call.Get("tool_name").Str
	if tool == "" || call.Get(wire.ToolNames).Exists() || strings.Trim(tool, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	if x.has("q " + tool + "\n") {
		return true
	}
	l := look{index: x, cwd: call.Get("cwd").Str}
	switch {
	case x.has("f " + tool + "\n"):
		return l.begin() && l.named(call.Get("tool_input"))
	case x.has("b " + tool + "\n"):
		line := call.Get("tool_input.command")
		return line.Type == gjson.String && l.begin() && l.line(line.Str)
	}
	return false
}

// SilentOf is Silent for another agent's call, reported by its event of that name. It examines
// the same translated payload that the rules would get.
func (x Index) SilentOf(agent, name string, payload []byte) bool {
	d, hears := wire.DialectOf(agent)
	if x == "" || !hears || !gjson.ValidBytes(payload) {
		return false
	}
	e, err := event.Parse(agent, name, payload)
	if err != nil || e.Kind != event.PreToolUse {
		return false
	}
	if payload, err = d.Payload(&e, payload); err != nil {
		return false
	}
	return x.Silent(payload)
}

func (x Index) has(line string) bool {
	return strings.HasPrefix(string(x), line) || strings.Contains(string(x), "\n"+line)
}

// each calls do for the text of each line of a kind until it returns false.
func (x Index) each(kind string, do func(text string) bool) bool {
	rest := string(x)
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if text, ok := strings.CutPrefix(line, kind); ok && !do(text) {
			return false
		}
	}
	return true
}

// look is the state of Silent for one call.
type look struct {
	index   Index
	cwd     string
	covered []string        // directories and files that rules name
	links   map[string]bool // caches for paths: is it a link
	dirs    []string        // where the line's paths may be relative to
}

// begin determines where the call is made. It is false if rules name that place itself, or if
// a link's target has changed.
func (l *look) begin() bool {
	if !filepath.IsAbs(l.cwd) {
		return false
	}
	real, err := filepath.EvalSymlinks(l.cwd)
	if err != nil || !l.clear(l.cwd, "p ", "s ") || !l.clear(real, "p ", "s ") {
		return false
	}
	l.links, l.dirs = map[string]bool{}, []string{l.cwd}
	if real != l.cwd {
		l.dirs = append(l.dirs, real)
	}
	return l.index.each("d ", func(text string) bool {
		dir, led, ok := strings.Cut(text, "\t")
		if !ok {
			return false
		}
		l.covered = append(l.covered, dir, led)
		for _, here := range l.dirs {
			if here == dir || here == led || within(here, dir) || within(here, led) {
				return false
			}
		}
		if dir == led {
			return !l.linked("/", dir)
		}
		now, err := filepath.EvalSymlinks(dir)
		return err == nil && now == led
	})
}

// within reports whether a path is below a directory, ignoring letter case.
func within(path, dir string) bool {
	dir = strings.ToLower(strings.TrimSuffix(dir, "/")) + "/"
	return strings.HasPrefix(strings.ToLower(path), dir)
}

// clear reports whether a path contains nothing that rules look for.
func (l *look) clear(path, name, text string) bool {
	path = strings.ToLower(path)
	for part := range strings.SplitSeq(path, "/") {
		if l.index.has(name + part + "\n") {
			return false
		}
	}
	return l.index.each(text, func(t string) bool { return !strings.Contains(path, t) })
}

// spares is clear for all kinds of names.
func (l *look) spares(path string) bool {
	return l.clear(path, "p ", "s ") && l.clear(path, "n ", "t ")
}

// linked reports whether a link is on the way to a path.
func (l *look) linked(dir, path string) bool {
	if strings.HasPrefix(path, "/") {
		dir, path = "/", path[1:]
	}
	for name := range strings.SplitSeq(path, "/") {
		dir = filepath.Join(dir, name)
		link, known := l.links[dir]
		if !known {
			info, err := os.Lstat(dir)
			link = err == nil && info.Mode()&os.ModeSymlink != 0
			l.links[dir] = link
		}
		if link {
			return true
		}
	}
	return false
}

// named checks the files that a tool's input names.
func (l *look) named(input gjson.Result) bool {
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		v := input.Get(name)
		if !v.Exists() {
			continue
		}
		if v.Type != gjson.String || strings.HasPrefix(v.Str, "~") || strings.ContainsAny(v.Str, ":\\") || strings.Contains(v.Str, "..") ||
			folds && strings.ContainsFunc(v.Str, func(r rune) bool { return r >= utf8.RuneSelf }) || !l.spares(v.Str) || l.linked(l.cwd, v.Str) {
			return false
		}
	}
	return true
}

// folds: a file system here treats more spellings than letter case as the same name.
const folds = runtime.GOOS == "darwin"

// plain are the characters, besides letters and digits, that always stand for themselves in a
// shell; consumers are the programs that others may pipe into: they run nothing, and nothing
// runs their output.
const plain = "_./:=,@%+- \t"

var consumers = []string{"head", "tail", "grep", "wc", "sort", "uniq", "cat", "cut", "less", "nl"}

// quiets are redirections that write no file.
var quiets = []string{"2>&1", ">/dev/null", "> /dev/null", "2>/dev/null", "2> /dev/null", "&>/dev/null"}

// read splits a line into its commands, in small letters. ok is false for a line that is not
// plain.
func read(text string) (commands []string, ok bool) {
	var b strings.Builder
	var piped []int // commands that others pipe into
	end := func() { commands = append(commands, b.String()); b.Reset() }
	for i := 0; i < len(text); i++ {
		if i == 0 || text[i-1] == ' ' {
			if n := quietAt(text[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		switch c := text[i]; {
		case c == '|' && strings.HasPrefix(text[i:], "|&"):
			return nil, false
		case c == '|' && strings.HasPrefix(text[i:], "||"):
			i++
			end()
		case c == '|':
			end()
			piped = append(piped, len(commands))
		case c == '"' || c == '\'':
			// Only a quoted text that is a whole word: parts of words could form another one.
			// It may itself be a shell command.
			inside, rest, closed := strings.Cut(text[i+1:], string(c))
			if !closed || i > 0 && strings.IndexByte(" \t", text[i-1]) < 0 || rest != "" && strings.IndexByte(" \t;|&\n", rest[0]) < 0 || strings.Contains(inside, "|") {
				return nil, false
			}
			within, ok := read(inside)
			if !ok {
				return nil, false
			}
			b.WriteString(within[0])
			for _, c := range within[1:] {
				end()
				b.WriteString(c)
			}
			i += len(inside) + 1
		case c == ';' || c == '\n' || c == '&':
			end()
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		default:
			return nil, false
		}
	}
	end()
	for _, at := range piped {
		if words := strings.Fields(commands[at]); len(words) == 0 || !slices.Contains(consumers, words[0]) {
			return nil, false
		}
	}
	return commands, true
}

// quietAt returns the length of the redirection that text begins with, if it writes no file.
func quietAt(text string) int {
	for _, q := range quiets {
		if rest, ok := strings.CutPrefix(text, q); ok && (rest == "" || strings.IndexByte(" ;|\n", rest[0]) >= 0) {
			return len(q)
		}
	}
	return 0
}

// line checks a command line.
func (l *look) line(text string) bool {
	if len(text) > 4096 {
		return false
	}
	commands, ok := read(text)
	if !ok || !l.spares(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '"' || r == '\'' }), " ")) {
		return false
	}
	words := map[string]bool{} // possible programs and subcommands
	var fields []string
	for _, c := range commands {
		list := strings.Fields(c)
		for i, w := range list {
			if (w == "cd" || w == "pushd") && (i+1 == len(list) || list[i+1][0] == '-') || w == "popd" {
				return false // it goes home, or back
			}
		}
		fields = append(fields, list...)
	}
	for _, f := range fields {
		for _, name := range strings.FieldsFunc(f, func(r rune) bool { return r == '/' || joint(r) }) {
			if name == ".." {
				return false // relative to a directory that the line may have changed
			}
			forms(name, words)
		}
	}
	for w := range words {
		if l.index.has("p "+w+"\n") || l.index.has("n "+w+"\n") || l.called(w, words) ||
			!l.index.each("w ", func(text string) bool { return !strings.HasPrefix(w, text) }) {
			return false
		}
	}
	return l.paths(text)
}

// forms adds the names that a word may stand for, of a program or path: as it is and without a
// version. After a dash a flag's value may be joined to it.
func forms(w string, all map[string]bool) {
	for i := range w {
		if i == 1 || i > 0 && (w[0] != '-' || w[1] == '-') {
			continue
		}
		bare := strings.TrimSuffix(w[i:], ".exe")
		base := strings.TrimRight(bare, "0123456789.")
		all[w[i:]], all[bare], all[base], all[strings.TrimSuffix(base, "-")] = true, true, true, true
	}
}

// joint: the character may join a path to something else, or be the path's own.
func joint(r rune) bool { return strings.ContainsRune(":=,@%", r) }

// pieces returns the parts of a word that may be a path, from any joint to any other; ok is
// false if there are too many.
func pieces(word string) (list []string, ok bool) {
	const most = 8 // joints
	ends := []int{-1}
	for i, r := range word {
		if joint(r) {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(word))
	for i, from := range ends {
		for _, to := range ends[i+1:] {
			if from+1 < to {
				list = append(list, word[from+1:to])
			}
		}
	}
	return list, len(ends) <= most
}

// called reports whether a rule names a program, with these words.
func (l *look) called(name string, all map[string]bool) bool {
	mark := "\nc " + name + " "
	text := "\n" + string(l.index)
	for {
		at := strings.Index(text, mark)
		if at < 0 || name == "" {
			return false
		}
		text = text[at+len(mark):]
		seconds, _, _ := strings.Cut(text, "\n")
		if seconds == "*" {
			return true
		}
		for s := range strings.SplitSeq(strings.Trim(seconds, ":"), ":") {
			if all[s] {
				return true
			}
		}
	}
}

// paths checks what may be a path: one with a link in it, or a directory that contains what
// rules name, is left to the rules.
func (l *look) paths(text string) bool {
	var fields []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&'\"", r) }) {
		list, ok := pieces(word)
		if !ok {
			return false
		}
		fields = append(fields, list...)
	}
	const most = 5 // directories that a line names
	for _, f := range fields {
		for _, dir := range l.dirs {
			if info, err := os.Lstat(inside(dir, f)); err == nil && info.IsDir() && f != "." {
				l.dirs = append(l.dirs, inside(dir, f))
			}
		}
		if len(l.dirs) > most {
			return false
		}
	}
	for _, f := range fields {
		if len(f) > 1 && f[0] == '-' && f[1] != '-' { // a path may be joined to the flag
			if len(f) > 12 || strings.ContainsAny(f, "/.") {
				return false
			}
			for i := 2; i < len(f); i++ {
				if _, err := os.Lstat(inside(l.cwd, f[i:])); err == nil || l.reaches(f[i:]) {
					return false
				}
			}
		} else if l.reaches(f) {
			return false
		}
	}
	return true
}

func inside(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// reaches reports whether a path contains what rules name, or may lead there.
func (l *look) reaches(path string) bool {
	return slices.ContainsFunc(l.dirs, func(dir string) bool {
		full := inside(dir, path)
		return l.linked(dir, path) || slices.ContainsFunc(l.covered, func(s string) bool { return s == full || within(s, full) })
	})
}
