// Package command parses a shell command line and says which simple commands it runs, with
// which words, and which files they read or write.
//
// It finds commands everywhere: in lists and pipes, conditions and loops, functions and
// substitutions, and among the words of a program that runs another (sudo, xargs, find -exec,
// ssh, docker exec). What programs do with their words is data, in programs.txt.
//
// It guarantees: no panic, and time and memory bounded by the length of the text, whoever
// wrote it; a word that the line does not determine is unknown, never guessed. It does not
// read files: the content of a script or an alias that is not on the line itself stays
// unknown.
package command

import "strings"

// Dialect is the language of a line.
type Dialect uint8

// The dialects. A line that is not valid Bash is tried as Zsh and as the Korn shell's, because
// the tool called Bash runs the user's shell.
const (
	Bash Dialect = iota
	// PowerShell is only split into words, quotes and separators.
	PowerShell
)

// Line is a parsed command line.
type Line struct {
	Text    string
	Dialect Dialect
	// Commands are the simple commands in their order; one that another carries follows it. A
	// command whose words may have several values (a loop's variable) is repeated for each.
	Commands []Command
	// Code are program texts that the line gives to interpreters.
	Code []Code
	// Unknown says what the line may run besides Commands, one reason each, without
	// repetition: "the rest is not shell syntax (line 1)", "bash reads commands from its
	// input". Empty if Commands are all.
	Unknown []string
	// Sets: the line sets variables or defines functions, which may change the commands that
	// follow.
	Sets bool
	// Mistake is the error if the line is not valid shell syntax; else "".
	Mistake string
}

// Command is one simple command: a program and its words.
type Command struct {
	// Words are the program and its arguments, without quotes, with the values of variables
	// that the line sets; never empty.
	Words []Word
	// More: unknown words may follow (xargs).
	More bool
	// Sets are the variables set for this command alone, NAME=value.
	Sets []Word
	// By is the index in Line.Commands of the command that carries this one
	// (sudo, bash -c), or -1.
	By int
	// Plain: the command is directly in a list or pipe of the line: not in a substitution, not
	// carried, and without a redirection that writes a file.
	Plain bool
	// From and To bound the commands, Commands[From:To], whose output is this
	// one's input or part of its words: the rest of the pipe before it,
	// <(...), $(...).
	From, To int
	// Files are what it reads and writes: redirections, and operands of programs that are
	// known for it.
	Files []File
	// Args is the command parsed by its program's own syntax.
	Args Args

	// Remote: it runs on another machine or in a container, so its files are not this
	// machine's (ssh, docker exec).
	Remote bool
}

// Word is one word of a command.
type Word struct {
	// Text is the word's value. If it is not Known, it is the known beginning: "--output=" of
	// --output=$X.
	Text  string
	Known bool
	// Glob: Text contains an unquoted *, ? or [, which the names of files may replace.
	Glob bool

	// shell is the whole word if it is not Known, with hole for the unknown parts.
	shell string
}

// hole is a variable whose value is never known.
const hole = "${_}"

// Could reports whether the word may be the text.
func (w Word) Could(text string) bool {
	if w.Known {
		return w.Text == text
	}
	return Wild(strings.ReplaceAll(w.shell, hole, "*"), text)
}

// End returns the known end of the word: "/.env" of $DIR/.env.
func (w Word) End() string {
	if w.Known {
		return w.Text
	}
	at := strings.LastIndex(w.shell, hole)
	if at < 0 {
		return ""
	}
	return w.shell[at+len(hole):]
}

// Wild matches a text against a pattern in which * stands for anything.
func Wild(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == text
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], next
	}
}

// Joined returns the command's words joined with blanks, as a shell runs it.
func (c Command) Joined() string { return joined(c.Words, " ").all() }

// all returns the word's text, with holes for unknown parts.
func (w Word) all() string {
	if w.Known {
		return w.Text
	}
	return w.shell
}

// behind returns the rest of the word behind its first n bytes, which are known.
func (w Word) behind(n int) Word {
	if w.Known {
		return known(w.Text[n:])
	}
	return Word{Text: w.Text[n:], shell: w.shell[n:]}
}

func known(text string) Word { return Word{Text: text, Known: true} }

// Access is what a command does with a file.
type Access uint8

// Kinds of access; a file that is edited has both.
const (
	Read Access = 1 << iota
	Write
)

// File is a file that a command reads or writes.
type File struct {
	// Path is as written, with ~ for the home directory.
	Path   Word
	Access Access
	// Dir is the directory that the path is relative to, as set by `cd` on the line: "" for
	// where the line starts. It is not Known after a cd to an unknown directory.
	Dir Word
	// All: a directory with everything below it (rm -r, cp -r, tar).
	All bool
	// Stored: what git has stored of the file. The word may also be a revision: only git can
	// tell.
	Stored bool
	// Root: the path is relative to the root of the git repository that contains Dir.
	Root bool
}

// Code is a program text that an interpreter is given: python -c TEXT.
type Code struct {
	Language string // the interpreter: "python", "node"
	Text     string
	By       int // the index of the interpreter's command
}

// Args are a command's words by their meaning.
type Args struct {
	// Program is the name that runs, without directories and .exe.
	Program string
	// Table: the program is known, so that Flags, Sub and Operands are as the
	// program itself sees them. Else every word that begins with - is a flag of
	// which it is not known whether it takes the next word.
	Table bool
	// Sub are the subcommands in their place: stash push.
	Sub []string
	// Flags in their order, each with the first of its names in the table. One without a name
	// is a word of which only the beginning is known, in its value: -r$X.
	Flags []Flag
	// Operands are the words that are neither subcommands nor flags.
	Operands []Word
	// Unsure: a word before the last subcommand is not known, so that the
	// command may be any.
	Unsure bool
	// Loose is for a program that is not known, one for each operand: how many
	// flags stand between the last operand and it, any of which may have taken
	// it as its value.
	Loose []int

	specs   []*spec // the program's and its subcommands', the innermost last
	strange int     // flags that are not in the table; each may take a word
	rest    int     // where the words of the command that it carries begin; 0 without one
}

// Flag is one flag of a command.
type Flag struct {
	// Name is canonical: "-r" of rm stands for -R and --recursive, too.
	Name string
	// Value is set when the flag took one, joined or as the next word.
	Value Word
	// Harmless: the program's table says that no value of the flag makes the
	// program run another, write where it did not, or reach somewhere else.
	Harmless bool

	kind    string
	command []Word // of find -exec
}
