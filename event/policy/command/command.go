// Package command reads a shell's command line and says which simple commands
// it runs, with which words, and which files they read or write.
//
// Commands are found wherever they stand: in lists and pipes, conditions and
// loops, functions and substitutions, and among the words of a program that
// runs another (sudo, xargs, find -exec, ssh, docker exec). What programs do
// with their words is data, in programs.txt.
//
// It guarantees: no panic, and time and memory bounded by the length of the text,
// whoever wrote it; a word that cannot be read off the line is unknown, never
// guessed. It does not read files: what a script or an alias holds that is not on
// the line itself stays unknown.
package command

import "strings"

// Dialect is the language of a line.
type Dialect uint8

// The dialects. A line that is no Bash is tried as Zsh and as the Korn shell's,
// for the tool that is called Bash runs the user's shell.
const (
	Bash Dialect = iota
	// PowerShell is read as words, quotes and separators, no further.
	PowerShell
)

// Line is a command line taken apart.
type Line struct {
	Text    string
	Dialect Dialect
	// Commands are the simple commands in the order in which they stand; one
	// that another carries follows it. A command whose words may have several
	// values (a loop's variable) is there once for each.
	Commands []Command
	// Code are program texts that interpreters are given on the line.
	Code []Code
	// Unknown says what the line may run beside Commands, one reason each,
	// without a repetition: "the rest is not shell syntax (line 1)", "bash reads
	// commands from its input". Empty when Commands are all.
	Unknown []string
	// Sets: the line sets variables or defines functions, which may make other
	// commands of those that follow.
	Sets bool
	// Mistake is what keeps the line from being a shell's; "" when it is one.
	Mistake string
}

// Command is one simple command: a program and its words.
type Command struct {
	// Words are the program and its arguments, without quotes, with the values
	// of variables that the line sets; never empty.
	Words []Word
	// More: unknown words may follow (xargs).
	More bool
	// Sets are the variables that are set for this command alone, NAME=value.
	Sets []Word
	// By is the index in Line.Commands of the command that carries this one
	// (sudo, bash -c), or -1.
	By int
	// Plain: the command stands as it is in a list or pipe of the line; not in
	// a substitution, not carried, and no redirection writes a file.
	Plain bool
	// From and To bound the commands, Commands[From:To], whose output is this
	// one's input or part of its words: the rest of the pipe before it,
	// <(...), $(...).
	From, To int
	// Files are what it reads and writes: redirections, and operands of
	// programs that are known for it.
	Files []File
	// Args is the command taken apart by its program's own syntax.
	Args Args

	// Remote: it runs somewhere else, so that its files are not this machine's
	// (ssh, docker exec).
	Remote bool
}

// Word is one word of a command.
type Word struct {
	// Text is the word's value. Where it is not Known it is what is known of
	// its beginning: "--output=" of --output=$X.
	Text  string
	Known bool
	// Glob: Text holds an unquoted *, ? or [, which files' names may replace.
	Glob bool

	// shell is the whole word where it is not Known: what is not known of it
	// stands there as hole.
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

// End is what is known of the word's end: "/.env" of $DIR/.env.
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

// Wild compares a text with a pattern whose * stands for anything.
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

// Joined is the command's words with blanks between them, as a shell runs it.
func (c Command) Joined() string { return joined(c.Words, " ").all() }

// all is the word's text, with holes for what is not known.
func (w Word) all() string {
	if w.Known {
		return w.Text
	}
	return w.shell
}

func known(text string) Word { return Word{Text: text, Known: true} }

// Access is what becomes of a file.
type Access uint8

// Kinds of access; a file that is edited has both.
const (
	Read Access = 1 << iota
	Write
)

// File is a file that a command reads or writes.
type File struct {
	// Path is as it is written, with ~ for the home directory.
	Path   Word
	Access Access
	// Dir is the directory that the path is relative to, as `cd` on the line
	// has it: "" for where the line starts. It is not Known after a cd to
	// somewhere unknown.
	Dir Word
	// All: a directory, with all that is below it (rm -r, cp -r, tar).
	All bool
}

// Code is the text of a program that an interpreter is given: python -c TEXT.
type Code struct {
	Language string // the interpreter: "python", "node"
	Text     string
	By       int // the index of the interpreter's command
}

// Args is a command's words by their meaning.
type Args struct {
	// Program is the name that runs, without directories and .exe.
	Program string
	// Table: the program is known, so that Flags, Sub and Operands are as the
	// program itself sees them. Else every word that begins with - is a flag of
	// which it is not known whether it takes the next word.
	Table bool
	// Sub are the subcommands in their place: stash push.
	Sub []string
	// Flags in their order, each with the first of its names in the table.
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
