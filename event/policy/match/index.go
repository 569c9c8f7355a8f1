package match

import (
	"regexp/syntax"
	"slices"
	"strings"

	"beckon/event/policy/quiet"
)

// Indexed is a rule for Index, and whether it decides when it is not sure.
type Indexed struct {
	Rule   Rule
	Unsure bool
}

// Index describes what a call must contain for one of the rules to be sure that it covers it.
// home is the user's home directory; without it no ~ can be resolved.
func Index(rules []Indexed, home string) quiet.Index {
	x := indexing{lines: map[string]bool{}, seconds: map[string][]string{}, loud: map[string]bool{}, looked: map[string]bool{}, call: &Call{Home: home}}
	for _, r := range rules {
		c := r.Rule.Compile()
		for _, tool := range quiet.Tools {
			if !x.tool(c, tool) || r.Unsure && (c.takes(tool) || tool == "Bash") {
				x.loud[tool] = true
			}
		}
	}
	var out []string
	for _, tool := range quiet.Tools {
		switch {
		case x.loud[tool]:
		case tool == "Bash":
			out = append(out, "b "+tool)
		case x.looked[tool]:
			out = append(out, "f "+tool)
		default:
			out = append(out, "q "+tool)
		}
	}
	for name, seconds := range x.seconds {
		text := ":" + strings.Join(seconds, ":") + ":"
		if slices.Contains(seconds, "") {
			text = "*"
		}
		out = append(out, "c "+name+" "+text)
	}
	for line := range x.lines {
		out = append(out, line)
	}
	slices.Sort(out)
	return quiet.Index(strings.Join(out, "\n") + "\n")
}

// indexing is the state of Index.
type indexing struct {
	lines   map[string]bool
	seconds map[string][]string // by program: one of these words must follow
	loud    map[string]bool     // tools for which every call needs the rules
	looked  map[string]bool     // tools whose files are checked
	call    *Call
}

// tool adds what a rule needs of a tool's call; ok is false if that cannot be indexed.
func (x *indexing) tool(c *Compiled, tool string) (ok bool) {
	takes := c.takes(tool)
	switch {
	case tool == "Bash":
		return !takes && len(c.rule.Paths) == 0 || x.shell(c)
	case !takes || c.conds.ofCommands():
		return true
	case len(c.rule.Paths) == 0 || !slices.Contains([]string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit"}, tool):
		return false
	}
	x.looked[tool] = true
	return x.paths(c.rule.Paths)
}

func (x *indexing) shell(c *Compiled) bool {
	switch {
	case len(c.conds.Commands) > 0:
		return !slices.ContainsFunc(c.conds.Commands, func(text string) bool { return !x.command(text) })
	case len(c.conds.Regex) > 0:
		return !slices.ContainsFunc(c.conds.Regex, func(text string) bool { return !notPlain(text) })
	}
	return len(c.rule.Paths) > 0 && x.paths(c.rule.Paths)
}

// command adds the program of an entry, and the word after it if that is plain; for a pipe the
// first program and the last.
func (x *indexing) command(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	after := ""
	if list := strings.Fields(text); len(list) > 1 && list[1][0] != '-' && !strings.ContainsAny(list[1], "*?[/\\\"'|") {
		after, _, _ = strings.Cut(list[1], ":")
	}
	if first, rest, piped := strings.Cut(text, "|"); piped {
		text, after = strings.TrimSpace(first), ""
		if name := head(rest[strings.LastIndexByte(rest, '|')+1:]); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
			after = name
		}
	}
	name, _, _ := strings.Cut(text, " ")
	if begin, _, wild := strings.Cut(name, "*"); wild && bare(begin) && begin != "" {
		x.lines["w "+begin] = true
		return true
	}
	name = head(text)
	if !bare(name) || name == "" {
		return false
	}
	if !bare(after) {
		after = ""
	}
	x.seconds[name] = append(x.seconds[name], after)
	return true
}

// bare: a shell's word, and one that quiet takes for a word.
func bare(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.+-") == ""
}

// paths adds the names that patterns need.
func (x *indexing) paths(patterns []string) bool {
	for _, text := range patterns {
		if strings.HasPrefix(text, "~") && x.call.Home == "" {
			return false
		}
		for _, g := range x.call.globsOf(text, true) {
			inProject := !g.anyDir && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") && !strings.HasPrefix(text, "**/")
			line := needed(g)
			if inProject || line == "" || strings.ContainsAny(g.pattern, "\n\t") {
				return false
			}
			x.lines[line] = true
			if dir := strings.TrimSuffix(g.fixed, "/"); dir != "" && !g.anyDir {
				start := dir
				if !strings.ContainsAny(g.pattern, wildcards) {
					start = g.pattern
				}
				x.lines["d "+start+"\t"+Follow(start)] = true
			}
		}
	}
	return true
}

// needed returns the index's line for what is in every path that matches a pattern: the longer
// of a whole name and a piece of the last.
func needed(g glob) string {
	name, text := "p ", "s "
	if !g.anyDir && strings.Trim(g.fixed, "/") != "" {
		name, text = "n ", "t "
	}
	parts := strings.Split(strings.ToLower(g.pattern), "/")
	piece, whole := "", ""
	if last := parts[len(parts)-1]; strings.ContainsAny(last, wildcards) && !strings.ContainsAny(last, "[{\\") {
		for run := range strings.FieldsFuncSeq(last, func(r rune) bool { return r == '*' || r == '?' }) {
			if len(run) > len(piece) {
				piece = run
			}
		}
	}
	for _, part := range slices.Backward(parts) {
		if part != "" && !strings.ContainsAny(part, wildcards) {
			whole = part
			break
		}
	}
	switch {
	case len(piece) > 1 && len(piece) >= len(whole):
		return text + piece
	case whole != "" && !bare(whole):
		return text + whole
	case whole != "":
		return name + whole
	}
	return ""
}

// notPlain reports whether every match of an expression has a character that no plain line
// has: ">" may be in one, as in 2>&1.
func notPlain(text string) bool {
	re, err := syntax.Parse(text, syntax.Perl)
	return err != nil || slices.ContainsFunc(required(re), func(r rune) bool { return strings.ContainsRune("()[]<*?!#`", r) })
}

// required returns characters that are in every match of an expression.
func required(re *syntax.Regexp) (all []rune) {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			all = append(all, required(sub)...)
		}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	}
	return all
}
