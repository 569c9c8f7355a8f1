package policy

import (
	"context"
	"slices"
	"strings"

	"beckon/event/policy/handler"

	"github.com/tidwall/gjson"
)

// Rule is a handler that is built in: it compares the call with what it was
// given and starts no process. All of the conditions that are set must hold,
// of each list one entry; a rule without conditions always holds.
type Rule struct {
	Decision handler.Decision // Deny, Ask or Allow
	Reason   string
	// Tools is a matcher on the tool's name, beside the group's.
	Tools Matcher
	// Paths are globs on the file a tool works on: absolute, ~/..., or relative
	// to the project. Links are followed.
	Paths []string
	// Commands are commands of a shell tool, each by its words: the program's
	// name and words that must be among its arguments, in any order; "-rf"
	// stands for both letters wherever they are given. An Allow is stricter
	// (approves).
	Commands []string
	// Words are texts that must be in the prompt or in the tool's input.
	Words []string

	home string
}

// Run decides about c. A deny or ask holds when anything of the call fits it;
// an allow holds when all of it does and nothing is hidden from it.
func (r *Rule) Run(_ context.Context, c handler.Call) handler.Outcome {
	if !r.holds(c) {
		return handler.Outcome{}
	}
	return handler.Outcome{Decision: r.Decision, Reason: r.Reason}
}

func (r *Rule) holds(c handler.Call) bool {
	if !r.Tools.All() && !r.Tools.Match(c.ToolName) {
		return false
	}
	return (len(r.Paths) == 0 || r.pathFits(c)) &&
		(len(r.Commands) == 0 || r.commandFits(c.ToolName, shellCommand(c.ToolName, c.ToolInput))) &&
		(len(r.Words) == 0 || r.wordFits(c))
}

// toolPath is the file that a tool works on (CONTRACT 1.12).
func toolPath(input []byte) string {
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		if p := gjson.GetBytes(input, name); p.Type == gjson.String && p.Str != "" {
			return p.Str
		}
	}
	return ""
}

// shellCommand is the command line of a tool that runs one.
func shellCommand(tool string, input []byte) string {
	if tool != "Bash" && tool != "PowerShell" && tool != "Monitor" {
		return ""
	}
	return gjson.GetBytes(input, "command").String()
}

func (r *Rule) pathFits(c handler.Call) bool {
	p := toolPath(c.ToolInput)
	if p == "" {
		return false
	}
	at := place{project: projectOf(c), cwd: c.Cwd, home: r.home}
	ways := resolved(p, at)
	if r.Decision == handler.Allow {
		return !slices.ContainsFunc(ways, func(w string) bool {
			return !slices.ContainsFunc(r.Paths, func(pattern string) bool {
				g, err := newGlob(pattern, at.project, at.home)
				return err == nil && g.match(w)
			})
		})
	}
	return slices.ContainsFunc(r.Paths, func(pattern string) bool {
		return slices.ContainsFunc(ways, globs(pattern, at.project, at.home).match)
	})
}

func projectOf(c handler.Call) string {
	if c.ProjectDir != "" {
		return c.ProjectDir
	}
	return c.Cwd
}

func (r *Rule) commandFits(tool, text string) bool {
	if text == "" {
		return false
	}
	line := readShell(tool, text)
	if r.Decision == handler.Allow {
		return line.plain() && !slices.ContainsFunc(line.commands, func(words []string) bool { return !r.approves(words) })
	}
	return slices.ContainsFunc(line.commands, func(words []string) bool { return r.refuses(words, line.power) }) || (line.broken || line.fed) && r.looksLike(text)
}

// readShell takes the command of a tool apart.
func readShell(tool, text string) commandLine {
	if tool == "PowerShell" {
		return readPowerShell(text)
	}
	return readCommand(text)
}

// plain reports whether a line says all that happens.
func (c commandLine) plain() bool {
	return !c.broken && !c.opaque && !c.fed && len(c.commands) > 0
}

// refuses reports whether a rule that refuses or asks is for a command, or for
// one that it runs. PowerShell's words are the same in any letter case.
func (r *Rule) refuses(words []string, power bool) bool {
	commands, ok := carried(words)
	if !ok {
		return r.looksLike(strings.Join(words, " "))
	}
	if power {
		for i := range commands {
			commands[i] = lowered(commands[i])
		}
	}
	return slices.ContainsFunc(r.Commands, func(text string) bool {
		want := strings.Fields(text)
		if power {
			want = lowered(want)
		}
		return slices.ContainsFunc(commands, func(words []string) bool { return commandIs(words, want) })
	})
}

func lowered(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// approves reports whether a rule that approves is for a command. It is
// stricter than refuses: the program is named as in the rule, not another one
// of that name somewhere else, and the words that are no flags follow it in
// their order, since "git log" is not to approve "git push origin log". Of a
// program that runs another the rule has to name both.
func (r *Rule) approves(words []string) bool {
	commands, ok := carried(words)
	return ok && slices.ContainsFunc(r.Commands, func(text string) bool {
		want := strings.Fields(text)
		if len(want) == 0 || words[0] != want[0] {
			return false
		}
		args := words[1:]
		for _, w := range want[1:] {
			if strings.HasPrefix(w, "-") {
				continue
			}
			for len(args) > 0 && named(args[0], want) {
				args = args[1:]
			}
			if len(args) == 0 || !sameWord(args[0], w) {
				return false
			}
			args = args[1:]
		}
		return commandIs(words, want) && !slices.ContainsFunc(commands, func(c []string) bool { return !slices.Contains(want, c[0]) })
	})
}

// named reports whether a flag is among those of a rule, maybe in another
// order of its letters.
func named(flag string, want []string) bool {
	letters, short := shortFlag(flag)
	return slices.ContainsFunc(want, func(w string) bool {
		known, ok := shortFlag(w)
		return strings.HasPrefix(w, "-") && w == flag || short && ok && strings.Trim(letters, known) == ""
	})
}

// looksLike is for a line that cannot be taken apart: all words of a command
// are somewhere in it.
func (r *Rule) looksLike(text string) bool {
	return slices.ContainsFunc(r.Commands, func(want string) bool {
		return !slices.ContainsFunc(strings.Fields(want), func(w string) bool { return !strings.Contains(text, w) })
	})
}

// commandIs reports whether the command words[0] with its arguments is what
// want says. Letter case is none of the program's on systems whose files have
// none.
func commandIs(words, want []string) bool {
	if len(words) == 0 || len(want) == 0 || words[0] != want[0] && !strings.EqualFold(program(words[0]), program(want[0])) {
		return false
	}
	return !slices.ContainsFunc(want[1:], func(w string) bool { return !hasArgument(words[1:], w) })
}

// hasArgument reports whether want is among the arguments. Letters of a short
// flag may stand alone or together, and a trailing slash makes no other path.
func hasArgument(args []string, want string) bool {
	if letters, ok := shortFlag(want); ok {
		for _, l := range letters {
			if !slices.ContainsFunc(args, func(a string) bool {
				given, ok := shortFlag(a)
				return ok && strings.ContainsRune(given, l)
			}) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(args, func(a string) bool {
		return sameWord(a, want) || strings.HasPrefix(want, "--") && strings.HasPrefix(a, want+"=")
	})
}

// sameWord compares an argument; a trailing slash makes no other path.
func sameWord(a, want string) bool {
	return a == want || len(want) > 1 && strings.TrimSuffix(a, "/") == strings.TrimSuffix(want, "/")
}

func shortFlag(word string) (letters string, ok bool) {
	if len(word) < 2 || word[0] != '-' || word[1] == '-' {
		return "", false
	}
	for _, r := range word[1:] {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", false
		}
	}
	return word[1:], true
}

func (r *Rule) wordFits(c handler.Call) bool {
	text := string(c.ToolInput) + "\n" + unquoted(gjson.ParseBytes(c.ToolInput), 0)
	if c.ToolInput == nil {
		text = gjson.GetBytes(c.Payload, "prompt").String()
	} else if s := shellCommand(c.ToolName, c.ToolInput); s != "" {
		text = s
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(r.Words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// unquoted are the texts in a value, as JSON means them: a quote or a new line
// is written otherwise there.
func unquoted(v gjson.Result, depth int) string {
	const deep = 32 // of what no tool's input has so many levels
	switch {
	case v.Type == gjson.String:
		return v.Str + "\n"
	case !v.IsObject() && !v.IsArray() || depth == deep:
		return ""
	}
	var all strings.Builder
	v.ForEach(func(_, item gjson.Result) bool {
		all.WriteString(unquoted(item, depth+1))
		return true
	})
	return all.String()
}
