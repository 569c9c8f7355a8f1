package shell

import (
	"slices"
	"strconv"
	"strings"
)

// maxGiven is the longest input of which xargs takes its words, in bytes.
const maxGiven = 4096

// run notes a command, reads what is a line among its words and input, and returns its output.
func (r *reader) run(c Command) string {
	name := Base(c.Words[0])
	if name == "xargs" && c.Input != Hole && len(c.Input) < maxGiven {
		r.given(&c)
	}
	for _, p := range c.Programs() {
		if from, ok := r.wrote[r.file(c.Words[p.At])]; ok {
			c.Feeds = append(c.Feeds, from) // it runs what another has written
		}
	}
	at := r.emit(c)
	r.downloads(name, c.Words, at)
	carry := r.carry
	r.carry = at
	defer func() { r.carry = carry }()
	for i, p := range c.Programs() {
		text, written := r.files[r.file(c.Words[p.At])]
		if written && (i == 0 || In(shells, name)) {
			r.nested(text, stream{}) // a script that the line has written
		} else if written && In(languages, name) {
			r.code(text, at)
		}
	}
	r.effect(name, &c)
	for _, n := range nestedIn(&c) {
		if n.code {
			r.code(n.text, at)
			continue
		}
		saved := r.state
		r.args, r.loose, r.remote = n.args, n.loose || r.loose && !n.sure, r.remote || n.far
		in := stream{text: c.Input, fed: c.Fed, feeds: c.Feeds}
		if n.input {
			in = stream{}
		}
		r.nested(n.text, in)
		r.args, r.loose, r.remote = saved.args, saved.loose, saved.remote
	}
	return r.output(name, &c)
}

// given gives xargs the words that it takes from its input.
func (r *reader) given(c *Command) {
	for i, w := range c.Words {
		sign, ok := strings.CutPrefix(w, "-I")
		if ok && sign == "" && i+1 < len(c.Words) {
			sign = c.Words[i+1]
		}
		if w == "-i" {
			ok, sign = true, "{}"
		}
		if !ok || sign == "" {
			continue
		}
		for j := i + 2; j < len(c.Words); j++ {
			if c.Words[j] == sign {
				c.Words[j] = strings.TrimSpace(c.Input)
			}
		}
	}
	for _, w := range strings.Fields(c.Input) {
		c.Words, c.Globs = append(c.Words, w), append(c.Globs, false)
	}
}

// downloads notes the file that a command fetches.
func (r *reader) downloads(name string, words []string, at int) {
	if name != "curl" && name != "wget" {
		return
	}
	for i, w := range words[:len(words)-1] {
		if In("-o -O --output --output-document", w) || IsFlag(w) && w[1] != '-' && w[len(w)-1] == 'o' {
			r.wrote[r.file(words[i+1])] = at
		}
	}
	if last := words[len(words)-1]; strings.Contains(last, "://") { // -O, and wget without a flag
		r.wrote[r.file(last[strings.LastIndexByte(last, '/')+1:])] = at
	}
}

// effect follows what a builtin changes for the rest of the line.
func (r *reader) effect(name string, c *Command) {
	switch name {
	case "cd", "pushd", "Set-Location":
		for _, w := range c.Words[1:] {
			if strings.HasPrefix(w, "-") {
				continue
			}
			if r.dir = r.file(w); strings.HasPrefix(w, "~") {
				r.dir = w
			}
			return
		}
	case "mv", "cp":
		if from, to := r.file(c.Words[max(len(c.Words)-2, 0)]), r.file(c.Words[len(c.Words)-1]); len(c.Words) > 2 {
			if text, written := r.files[from]; written {
				r.files[to] = text
			}
			if at, written := r.wrote[from]; written {
				r.wrote[to] = at
			}
		}
	case "unset":
		for _, w := range c.Words[1:] {
			delete(r.vars, w)
			delete(r.from, w)
		}
	case "read", "mapfile", "readarray":
		r.reads(c)
	}
}

// reads lets variables have what `read` finds in its input.
func (r *reader) reads(c *Command) {
	var names []string
	for i, w := range c.Words[1:] {
		if !IsFlag(w) && !(i > 0 && In("-d -n -N -p -t -u -i", c.Words[i])) {
			names = append(names, w)
		}
	}
	line, _, _ := strings.Cut(c.Input, "\n")
	values := strings.Fields(line)
	for i, name := range names {
		r.vars[name] = []string{Hole}
		if !strings.Contains(line, Hole) && i < len(values) {
			r.vars[name] = values[i : i+1]
			if i == len(names)-1 {
				r.vars[name] = []string{strings.Join(values[i:], " ")}
			}
		}
		r.from[name] = c.Feeds
	}
}

// output returns what a command prints, as far as that is text of the line.
func (r *reader) output(name string, c *Command) string {
	args := c.Words[1:]
	switch name {
	case "echo":
		return echoed(args)
	case "printf":
		if len(args) > 0 {
			return printed(args[0], args[1:])
		}
	case "tee":
		for _, a := range args {
			r.files[r.file(a)] = c.Input
		}
		return c.Input
	case "cat":
		if len(args) == 0 {
			return c.Input
		}
		var all strings.Builder
		for _, a := range args {
			text, written := r.files[r.file(a)]
			if a == "-" {
				text, written = c.Input, c.Fed
			}
			if !written {
				text = Hole
			}
			if r.spend(len(text)) {
				all.WriteString(text)
			}
		}
		return all.String()
	case "mktemp":
		return "/tmp/tmp.x"
	case "pwd":
		return "."
	case "which", "command":
		if len(args) > 0 {
			return args[len(args)-1]
		}
	case "git":
		if slices.Equal(args, []string{"rev-parse", "--show-toplevel"}) {
			return "."
		}
	case ":", "true", "test", "[":
		return ""
	}
	return Hole
}

func echoed(args []string) string {
	escapes := len(args) > 0 && args[0] == "-e"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		args = args[1:]
	}
	text := strings.Join(args, " ") + "\n"
	if escapes {
		quoted := `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(text) + `"`
		if plain, err := strconv.Unquote(quoted); err == nil {
			return plain
		}
	}
	return text
}

func printed(format string, args []string) string {
	text := strings.NewReplacer(`\n`, "\n", `\t`, "\t", "%%", "%").Replace(format)
	for _, a := range args {
		if at := strings.IndexByte(text, '%'); at >= 0 && at+1 < len(text) {
			text = text[:at] + a + text[at+2:]
		} else {
			text += a + "\n"
		}
	}
	return text
}
