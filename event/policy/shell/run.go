package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxGiven is the longest input of which xargs takes its words, in bytes.
const maxGiven = 4096

// sources are the endings of interpreters' scripts.
const sources = ".py .js .mjs .cjs .ts .mts .rb .pl .php .lua .go"

// run notes a command, reads what is a line among its words and input, and returns its output.
func (r *reader) run(c Command) string {
	name := Base(c.Words[0])
	if name == "xargs" && c.Input != Hole && len(c.Input) < maxGiven {
		given(&c)
	}
	if In(Shells, name) {
		c.Words = append(c.Words, c.Reads...) // bash < script
	}
	programs := c.Programs()
	at := r.emit(c)
	for i, p := range programs {
		word := c.Words[p.At]
		f, ok := r.files[r.file(word)]
		script := i > 0 && In(Shells, name) || strings.Contains(word, "/")
		if script && !ok && !strings.HasPrefix(word, "/") {
			f.feeds = r.unpacked
		}
		if c.Feeds = append(c.Feeds, f.feeds...); !p.Weak {
			c.Writers = append(c.Writers, f.feeds...)
		}
		r.line.Commands[at].Feeds, r.line.Commands[at].Writers = c.Feeds, c.Writers
		switch source := In(sources, path.Ext(p.Name)); {
		case !ok || p.Weak || f.text == Hole:
		case source, i > 0 && In(Languages, programs[i-1].Name):
			r.code(f.text, at)
		default:
			r.nested(f.text, stream{})
		}
	}
	r.effect(name, &c, at)
	for _, n := range nestedIn(&c) {
		if n.code {
			r.code(n.text, at)
			continue
		}
		saved := r.state
		r.plain, r.args, r.loose, r.remote = false, n.args, n.loose || r.loose && !n.sure, r.remote || n.remote
		var in stream
		if !n.input {
			in = stream{text: c.Input, fed: c.Fed, feeds: c.Feeds}
		}
		r.text(n.text, in)
		r.state = saved
	}
	return r.output(name, &c)
}

// given gives xargs the words that it takes from its input.
func given(c *Command) {
	for i, w := range c.Words {
		if In("{} %", w) && c.Words[i-1] != "-I" {
			c.Words[i] = strings.TrimSpace(c.Input)
		}
	}
	words := strings.Fields(c.Input)
	c.Words, c.Globs = append(c.Words, words...), append(c.Globs, make([]bool, len(words))...)
}

// effect follows what a builtin changes for the rest of the line.
func (r *reader) effect(name string, c *Command, at int) {
	args := c.Words[1:]
	switch name {
	case "cd", "pushd", "Set-Location":
		if i := operand(args, ""); i < len(args) {
			r.dir = r.file(args[i])
		}
	case "mv", "cp":
		if len(args) > 1 {
			if f := r.files[r.file(args[len(args)-2])]; f.fed {
				r.files[r.file(args[len(args)-1])] = f
			}
		}
	case "tar", "bsdtar", "unzip":
		r.unpacked = append(r.unpacked, c.Feeds...)
		for _, a := range args {
			r.unpacked = append(r.unpacked, r.files[r.file(a)].feeds...)
		}
	case "tee":
		for _, a := range args {
			r.write(a, c.Input, at)
		}
	case "curl", "wget": // any word may be a file that it fetches
		for _, w := range args {
			if _, value, ok := strings.Cut(w, "="); ok && IsFlag(w) { // --output=x
				w = value
			}
			if strings.Contains(w, "://") { // -O, and wget without a flag
				w = path.Base(w)
			}
			if r.file(w) != "." {
				r.write(w, Hole, at)
			}
		}
	case "read", "mapfile", "readarray":
		line, _, _ := strings.Cut(c.Input, "\n")
		if line == "" || strings.Contains(line, Hole) {
			line = Hole
		}
		for _, name := range args { // each has the whole line; flags are no names
			r.vars[name] = value{words: []string{line}, feeds: c.Feeds}
		}
	}
}

// output returns what a command prints, as far as that is text of the line.
func (r *reader) output(name string, c *Command) string {
	args := c.Words[1:]
	switch name {
	case "echo":
		for len(args) > 0 && IsFlag(args[0]) && strings.Trim(args[0][1:], "neE") == "" {
			args = args[1:]
		}
		return unescaped(strings.Join(args, " ") + "\n")
	case "printf":
		if len(args) > 0 {
			return printed(args[0], args[1:])
		}
	case "tee":
		return c.Input
	case "cat":
		if len(args) == 0 {
			return c.Input
		}
		var all strings.Builder
		for _, a := range args {
			f := r.files[r.file(a)]
			switch {
			case a == "-":
				f.text = c.Input
			case !f.fed:
				f.text = Hole
			}
			if r.spend(len(f.text)) {
				all.WriteString(f.text)
			}
		}
		return all.String()
	case "mktemp":
		return "/tmp/tmp.x"
	case "pwd":
		return "."
	}
	return Hole
}

func printed(format string, args []string) string {
	text := unescaped(format)
	for _, a := range args {
		if at := strings.IndexByte(text, '%'); at >= 0 && at+1 < len(text) {
			text = text[:at] + a + text[at+2:]
		} else {
			text += a + "\n"
		}
	}
	return text
}

// startSigns are those of a program's text that starts others.
var startSigns = []string{
	"system", "exec", "spawn", "popen", "subprocess", "check_", "shell", "`", " sh ", "'sh'", `"sh"`, "run(", "%x(", "qx(",
}

// code notes a program's text, and reads the lines among its texts if it starts programs at all.
func (r *reader) code(text string, by int) {
	r.line.Code = append(r.line.Code, Code{text, by})
	small := strings.ToLower(text)
	if slices.ContainsFunc(startSigns, func(sign string) bool { return strings.Contains(small, sign) }) {
		for _, one := range Literals(text) {
			r.nested(one, stream{})
		}
	}
}

var literal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\\n]|\\(?s:.))*"|'(?:[^'\\\n]|\\(?s:.))*'|(?:%|\bq)x\([^)]*\)|` + "`[^`]*`")
})

// Literals returns the quoted texts in a program's text, and those of a list joined with blanks.
func Literals(text string) (out []string) {
	list, end := "", 0
	for _, at := range literal().FindAllStringIndex(text, -1) {
		one := text[at[0] : at[1]-1]
		one = one[strings.IndexAny(one, "\"'`(")+1:]
		out = append(out, one)
		between := strings.Join(strings.Fields(text[end:at[0]]), "")
		if len(out) > 1 && strings.HasPrefix(between, ",") && !strings.ContainsAny(between, ")];:=") {
			list += strings.Repeat(" $_", strings.Count(between, ",")-1) + " " + one // between commas are variables
			out = append(out, list)
		} else {
			list = one
		}
		end = at[1]
	}
	return out
}
