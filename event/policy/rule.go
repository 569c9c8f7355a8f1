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
	// stands for both letters wherever they are given.
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
		(len(r.Commands) == 0 || r.commandFits(shellCommand(c.ToolName, c.ToolInput))) &&
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
	fits := func(path string) bool {
		return slices.ContainsFunc(r.Paths, func(pattern string) bool {
			g, err := newGlob(pattern, at.project, at.home)
			return err == nil && g.match(path)
		})
	}
	ways := resolved(p, at)
	if r.Decision == handler.Allow {
		return !slices.ContainsFunc(ways, func(w string) bool { return !fits(w) })
	}
	return slices.ContainsFunc(ways, fits)
}

func projectOf(c handler.Call) string {
	if c.ProjectDir != "" {
		return c.ProjectDir
	}
	return c.Cwd
}

func (r *Rule) commandFits(text string) bool {
	if text == "" {
		return false
	}
	line := readCommand(text)
	if r.Decision == handler.Allow {
		return !line.broken && !line.opaque && len(line.commands) > 0 &&
			!slices.ContainsFunc(line.commands, func(words []string) bool { return !r.wordsFit(words) })
	}
	return slices.ContainsFunc(line.commands, r.wordsFit) || line.broken && r.looksLike(text)
}

func (r *Rule) wordsFit(words []string) bool {
	if r.Decision != handler.Allow {
		words = bare(words)
	}
	return slices.ContainsFunc(r.Commands, func(want string) bool { return commandIs(words, strings.Fields(want)) })
}

// looksLike is for a line that cannot be taken apart: all words of a command
// are somewhere in it.
func (r *Rule) looksLike(text string) bool {
	return slices.ContainsFunc(r.Commands, func(want string) bool {
		return !slices.ContainsFunc(strings.Fields(want), func(w string) bool { return !strings.Contains(text, w) })
	})
}

// commandIs reports whether the command words[0] with its arguments is what
// want says.
func commandIs(words, want []string) bool {
	if len(words) == 0 || len(want) == 0 || program(words[0]) != want[0] {
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
		return a == want || len(want) > 1 && strings.TrimSuffix(a, "/") == strings.TrimSuffix(want, "/") ||
			strings.HasPrefix(want, "--") && strings.HasPrefix(a, want+"=")
	})
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
	text := string(c.ToolInput)
	if c.ToolInput == nil {
		text = gjson.GetBytes(c.Payload, "prompt").String()
	} else if s := shellCommand(c.ToolName, c.ToolInput); s != "" {
		text = s
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(r.Words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}
