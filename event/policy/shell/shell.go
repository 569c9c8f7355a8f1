// Package shell finds the commands that a command line runs, at any depth: in lists, pipes, loops, functions
// and substitutions, in texts for a shell, eval or ssh, and in an interpreter's program that starts others.
//
// It follows what the line itself determines (variables, directories, files that it writes and then runs) and puts
// Hole for the rest. A text that is built to be misread will be.
package shell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Hole stands for a part of a word that the line does not determine.
const Hole = "\x00"

// Command is one simple command, wherever in the line it stands.
type Command struct {
	Words         []string // with Hole where they are unknown
	Globs         []bool   // the words that the shell replaces with the names of files
	Env           []string // the variables that are set for it, NAME=value
	Plain         bool     // it stands directly in a list or pipe of the line
	Dir           string   // the directory it runs in; empty for that of the line
	Input         string   // what it reads, with Hole where that is unknown
	Fed           bool     // it reads from a pipe or a redirection
	Feeds         []int    // the commands whose output it reads, or has among its words; see Line.Sources
	Writers       []int    // the commands that wrote the file it runs
	Reads, Writes []string // the files of its redirections
	Unknown       []string // the variables among its words whose values are not on the line
	Remote        bool     // it runs on another machine
	Loose         bool     // its text may be none that runs: only its first word is a program

	places []Place
}

// Code is the text of a program for an interpreter.
type Code struct {
	Text string
	By   int // the command that runs it
}

// Line is what a command line runs.
type Line struct {
	Text     string
	Commands []Command
	Code     []Code
	Strange  string // what could not be read; empty if nothing
	Sets     bool   // it sets variables or functions
}

// Read reads a line of a POSIX shell, Bash or Zsh.
func Read(text string) *Line {
	r := newReader(text)
	r.text(text, stream{})
	return r.line
}

// Sources returns the commands whose output a command has, directly or through others.
func (l *Line) Sources(at int) []int {
	all := slices.Clone(l.Commands[at].Feeds)
	seen := make(map[int]bool, len(all))
	out := all[:0]
	for ; len(all) > 0; all = all[1:] {
		if i := all[0]; !seen[i] {
			seen[i] = true
			out, all = append(out, i), append(all, l.Commands[i].Feeds...)
		}
	}
	return out
}

// Programs returns the places among the words where a program may stand.
func (c *Command) Programs() []Place {
	if c.places == nil {
		c.places = places(c.Words, 0, nil)
	}
	return c.places
}

// In reports whether a word is in a list, whose words stand between single blanks.
func In(list, word string) bool {
	for from := 0; word != ""; {
		at := strings.Index(list[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || list[at-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = end
	}
	return false
}

// IsFlag reports whether a word begins as a flag does.
func IsFlag(word string) bool { return len(word) > 1 && word[0] == '-' && word != "--" }

// Alphanumeric are the letters and digits.
const Alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// IsAssignment reports whether a word is NAME=value.
func IsAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, Alphanumeric+"_") == ""
}

// Base returns a program's name without directories, version and extension.
func Base(word string) string {
	if strings.Contains(word, "://") {
		return word
	}
	word = strings.TrimSuffix(word, "/")
	path := !strings.Contains(word, " ") || strings.HasSuffix(word, ".exe")
	if at := strings.LastIndexAny(word, `/\#`); path && at >= 0 {
		word = word[at+1:]
	}
	if at := strings.IndexAny(word, "@:"); at > 0 && isVersion(word[at+1:]) {
		word = word[:at]
	}
	if name := strings.TrimRight(word, "0123456789."); name != word && In("python pip php ruby node", name) {
		word = name
	}
	word = strings.TrimSuffix(strings.TrimSuffix(word, ".exe"), "-cli")
	if name, cut := strings.CutPrefix(word, "g"); cut && In(gnu, name) {
		return name
	}
	return word
}

// gnu are programs that some systems call with a g before their name.
const gnu = "awk cp env find grep make mv rm sed stdbuf tar time timeout xargs"

// isVersion reports whether what follows the sign in name@5 or name:1.9 is a version.
func isVersion(text string) bool {
	tag, _, _ := strings.Cut(text, "-")
	text = strings.TrimLeft(text, "^~v")
	number := text != "" && text[0] >= '0' && text[0] <= '9'
	return number || In("latest next canary beta light stable lts alpine slim", tag)
}

// powerSyntax finds comments, quoted texts, variables, words and signs of PowerShell.
var powerSyntax = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)<#.*?#>|(?:^|\\s)#[^\n]*|'[^']*'|\"(?:[^\"$`]|`.|\\$[^(\"])*\"|`.|" +
		"\\$\\{[^}]*\\}|\\$[\\w:]+|[A-Za-z]+|[^\\w\\s]")
})

var powerVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}|\$[\w:]*`) })

// powerSigns are typographic signs that PowerShell takes for its own.
var powerSigns = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`,
	"\u2013", "-", "\u2014", "-", "\u2015", "-")

const shellVariable = "$${_}"

// ReadPower reads a line of PowerShell as that of a shell that has its words, quotes and separators.
// The rest of the language stays unknown. A quoted text that has commands in it counts as unquoted.
func ReadPower(text string) *Line {
	r := newReader(text)
	text = powerSigns.Replace(text)
	inText := strings.Contains(text, "$(")
	shell := powerSyntax().ReplaceAllStringFunc(text, func(t string) string {
		switch first := t[0]; {
		case strings.HasPrefix(t, "<#"), len(t) > 1 && strings.HasPrefix(strings.TrimSpace(t), "#"):
			return ""
		case len(t) > 1 && first == '\'', strings.Contains(".:-/%+=*?@^~", t):
			return t
		case len(t) > 1 && first == '"':
			t = powerVariable().ReplaceAllString(t[1:len(t)-1], shellVariable)
			return `"` + strings.NewReplacer("`\"", `\"`, `""`, `\"`, "``", "\\`", "`", "", `\`, `\\`).Replace(t) + `"`
		case first == '`':
			return `\` + t[1:]
		case first == '$':
			return powerVariable().ReplaceAllString(t, shellVariable)
		case strings.Contains("(){};|&", t):
			return "\n"
		case t == ">":
			return "|Out-File "
		case t == "," || strings.TrimSpace(t) == "":
			return " "
		case t == `"` && inText:
			r.line.Sets = true
			return " "
		case t == `"` || t == "'":
			r.strange("a quote does not close")
			return " "
		case first >= 0x80:
			return t
		}
		return `\` + t // a word is never one of the shell's syntax
	})
	r.text(shell, stream{})
	return r.line
}
