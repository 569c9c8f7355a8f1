package shell

import (
	"slices"
	"strings"
)

// nested is a text among the words of a command, or its input, that is a line or a program.
type nested struct {
	text  string
	code  bool // of a program
	loose bool // it may be neither
	sure  bool // it is a line, even if the carrier's text may be none
	input bool // it is the command's input
	far   bool // it runs on another machine
	args  []string
}

// carriesText are textual programs of which some flags have lines.
const carriesText = "git ssh tar rsync sort wget zip"

// nestedIn returns what is a line or a program among the words of a command, and its input.
func nestedIn(c *Command) (out []nested) {
	for _, p := range c.Programs() {
		if p.Weak {
			continue
		}
		head, rest := p.Name, c.Words[p.At+1:]
		switch {
		case In(shells, head):
			out = append(out, ofShell(c, rest)...)
		case In(languages, head):
			out = append(out, ofLanguage(c, head, rest)...)
		case head == "ssh":
			out = append(out, ofSSH(c, rest)...)
		case head == "eval" || head == "iex" || head == "Invoke-Expression":
			out = append(out, nested{text: strings.Join(rest, " ")})
		case head == "git":
			out = append(out, ofGit(rest)...)
		case In(liners, head):
			out = append(out, ofLiner(c, head, rest)...)
		}
		special := In(textual, head) || In(shells, head) || In(liners, head) || In(languages, head) || head == "eval"
		if !special || In(carriesText, head) {
			out = append(out, marked(c, p, rest)...)
		}
	}
	return out
}

func ofShell(c *Command, rest []string) []nested {
	at := slices.IndexFunc(rest, IsCommandFlag)
	if at >= 0 && at+1 < len(rest) && !slices.Contains(rest[:at], "--") {
		n := nested{text: rest[at+1], sure: true}
		if rest[at+1] == "--" && at+2 < len(rest) {
			n.text, rest = rest[at+2], rest[1:]
		}
		if at+3 <= len(rest) {
			n.args = rest[at+3:]
		}
		return []nested{n}
	}
	first := slices.IndexFunc(rest, func(w string) bool { return !IsFlag(w) && w != "-" })
	switch {
	case c.Fed && (first < 0 || slices.Contains(rest, "-s") || rest[first] == "/dev/stdin"):
		return []nested{{text: c.Input, input: true}}
	case first >= 0 && strings.HasPrefix(rest[first], "/dev/fd/"):
		return []nested{{text: "cat " + rest[first] + " | sh"}}
	}
	return nil
}

func ofLanguage(c *Command, head string, rest []string) []nested {
	if head == "awk" || head == "gawk" {
		return []nested{{text: strings.Join(rest, "\n"), code: true}}
	}
	if at := slices.IndexFunc(rest, isCodeFlag); at >= 0 && at+1 < len(rest) {
		return []nested{{text: rest[at+1], code: true}}
	}
	if c.Fed && !slices.ContainsFunc(rest, func(w string) bool { return !IsFlag(w) && !In("- run /dev/stdin", w) }) {
		return []nested{{text: c.Input, code: true}}
	}
	return nil
}

func ofSSH(c *Command, rest []string) []nested {
	host := operand(rest, sshValues)
	if host+1 < len(rest) {
		return []nested{{text: strings.Join(rest[host+1:], " "), far: true}}
	}
	if c.Fed {
		return []nested{{text: c.Input, input: true, far: true}}
	}
	return nil
}

func ofGit(rest []string) (out []nested) {
	for i, w := range rest {
		name, value, ok := strings.Cut(w, "=")
		before := func(n int) string {
			if i < n {
				return ""
			}
			return rest[i-n]
		}
		switch {
		case strings.HasPrefix(w, "!"):
			out = append(out, nested{text: w[1:]})
		case ok && strings.HasPrefix(name, "alias.") && strings.HasPrefix(value, "!"):
			out = append(out, nested{text: value[1:]})
		case ok && strings.HasPrefix(name, "alias."):
			out = append(out, nested{text: "git " + value})
		case !strings.Contains(w, " "):
		case In("-x --exec foreach", before(1)), strings.HasSuffix(before(1), "-filter"), before(2) == "foreach":
			out = append(out, nested{text: w})
		}
	}
	return out
}

func ofLiner(c *Command, head string, rest []string) (out []nested) {
	if c.Fed && In("su at batch parallel", head) {
		out = append(out, nested{text: c.Input, input: true})
	}
	data := slices.Contains(rest, ":::") && rest[0] != ":::"
	for _, w := range rest {
		if w == ":::" && data {
			break
		}
		if _, value, ok := strings.Cut(w, "="); ok && IsFlag(w) {
			w = value
		}
		if strings.ContainsAny(w, " \n;|&") && !IsAssignment(w) {
			out = append(out, nested{text: w})
		}
	}
	return out
}

// marked returns the values of flags and words behind which a command stands: --exec 'rm -rf x'.
func marked(c *Command, p Place, rest []string) (out []nested) {
	all := c.Programs()
	for i, w := range rest {
		other := slices.IndexFunc(all, func(q Place) bool { return q.At == p.At+1+i })
		if other >= 0 && !all[0].Weak && (In(textual, all[other].Name) || In(shells, all[other].Name) || In(languages, all[other].Name)) {
			break
		}
		before := ""
		if i > 0 {
			before = rest[i-1]
		}
		if IsText(before) {
			continue
		}
		name, value, assigned := strings.Cut(w, "=")
		if assigned = assigned && !strings.Contains(name, " "); assigned {
			if IsText(name) || name == "user.name" {
				continue
			}
			w = value
		}
		if strings.Contains(w, " ") && (Marks(before) || assigned && Marks(name)) {
			out = append(out, nested{text: w, loose: true})
		}
	}
	return out
}

// Marks reports whether a word says that a command stands behind it.
func Marks(word string) bool {
	if In("run exec shell foreach -c -C -e -x -I -exec --", word) {
		return true
	}
	word = strings.ToLower(word)
	if strings.HasPrefix(word, "core.") || strings.HasSuffix(word, "command") {
		return true
	}
	if !strings.HasPrefix(word, "-") {
		return false
	}
	for _, end := range []string{"exec", "cmd", "run", "program", "pre", "pager", "shell", "pack", "eval"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

// code notes a program's text, and reads the lines among its texts if it starts programs at all.
func (r *reader) code(text string, by int) {
	r.line.Code = append(r.line.Code, Code{text, by})
	if !startsPrograms(text) {
		return
	}
	for _, one := range Literals(text) {
		r.nested(one, stream{})
	}
}

func startsPrograms(text string) bool {
	text = strings.ToLower(text)
	for _, sign := range []string{"system", "exec", "spawn", "popen", "subprocess", "check_", "shell", "`", " sh ", "'sh'", `"sh"`, "run("} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// Literals returns the quoted texts in a program's text, and those of a list joined with blanks.
func Literals(text string) (out []string) {
	list, end := "", -1
	for at := 0; at < len(text); at++ {
		quote := text[at]
		if quote != '"' && quote != '\'' && quote != '`' {
			continue
		}
		stop := closing(text, at)
		if stop < 0 {
			continue
		}
		one := text[at+1 : stop]
		out = append(out, one)
		if end >= 0 && isComma(text[end:at]) {
			list += " " + one
			out = append(out, list)
		} else {
			list = one
		}
		end, at = stop+1, stop
	}
	return out
}

// closing returns the index of the quote that ends the text at an opening one, or -1.
func closing(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return i
		case c == '\n' && quote != '`':
			return -1
		case c == '\\' && quote != '`':
			i++
		}
	}
	return -1
}

// isComma reports whether what stands between two texts makes them items of one list.
func isComma(between string) bool {
	between = strings.TrimSpace(between)
	return between == "," || strings.TrimSuffix(between, "[") != between && strings.TrimSpace(strings.TrimSuffix(between, "[")) == ","
}
