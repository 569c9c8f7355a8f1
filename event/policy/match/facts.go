package match

import (
	"strings"

	"beckon/event/policy/command"

	"github.com/tidwall/gjson"
)

// facts are what a call does, computed once for all rules.
type facts struct {
	line *command.Line // nil if the call is not a command line
	// programs are the indexes of each program's commands, by its name in small letters.
	programs map[string][]int
	// tokens are the places of a word in program texts.
	tokens   map[string][]place
	texts    [][]string // the words of each program text
	anything string     // why there may be commands that are not in line; "" if there are none
	files    []file     // of a tool that is not a shell
	owned    [][]file   // of each command
	// words are all words on the line, including the names of programs; nil if some are
	// unknown.
	words    map[string]bool
	followed int
}

// place is a word of a program text.
type place struct{ text, at int }

// shellCommand returns the command line of a tool that runs one.
func (c *Call) shellCommand() (string, bool) {
	if c.Tool != "Bash" && c.Tool != "PowerShell" && c.Tool != "Monitor" {
		return "", false
	}
	if c.facts != nil && c.facts.line != nil {
		return c.facts.line.Text, true
	}
	return gjson.GetBytes(c.Input, "command").String(), true
}

func (c *Call) known() *facts {
	if c.facts != nil {
		return c.facts
	}
	f := &facts{}
	c.facts = f
	text, shell := c.shellCommand()
	if !shell {
		f.files = c.toolFiles()
		return f
	}
	dialect := command.Bash
	if c.Tool == "PowerShell" {
		dialect = command.PowerShell
	}
	f.line = command.Parse(text, dialect)
	f.owned = make([][]file, len(f.line.Commands))
	f.index()
	return f
}

func (f *facts) index() {
	f.programs, f.tokens = map[string][]int{}, map[string][]place{}
	if len(f.line.Unknown) > 0 {
		f.anything = f.line.Unknown[0]
	}
	for i, c := range f.line.Commands {
		name := strings.ToLower(c.Args.Program)
		if name == "" && f.anything == "" {
			f.anything = "the program's name is not on the line"
		}
		f.programs[name] = append(f.programs[name], i)
		if base := command.Unversioned(name); base != name {
			f.programs[base] = append(f.programs[base], i)
		}
	}
	f.allWords()
	for _, code := range f.line.Code {
		words := tokens(code)
		for at, word := range words {
			name := strings.ToLower(command.Name(word))
			f.tokens[name] = append(f.tokens[name], place{len(f.texts), at})
		}
		f.texts = append(f.texts, words)
	}
}

func (f *facts) allWords() {
	if f.line.Dialect == command.PowerShell || len(f.line.Code) > 0 {
		return
	}
	words := map[string]bool{}
	for _, c := range f.line.Commands {
		name := strings.ToLower(c.Args.Program)
		words[name], words[command.Unversioned(name)] = true, true
		for _, w := range c.Words {
			if !w.Known || w.Glob || c.More {
				return
			}
			words[tidy(w.Text)] = true
		}
	}
	f.words = words
}

// maxCodeWords is how many words after a program's name in a program text count as its
// arguments.
const maxCodeWords = 16

// tokens returns the words of a program text that may form a command. In awk's, whose patterns
// are not quoted, they are those between quotes; in sed's, those after its command e.
func tokens(c command.Code) (words []string) {
	list := []string{c.Text}
	switch {
	case strings.HasSuffix(c.Language, "awk"):
		list = literals(c.Text)
	case strings.HasSuffix(c.Language, "sed"):
		list = nil
		for part := range strings.FieldsFuncSeq(c.Text, func(r rune) bool { return r == ';' || r == '\n' }) {
			if text, ok := strings.CutPrefix(strings.TrimLeft(part, "0123456789,$! "), "e "); ok {
				list = append(list, text)
			}
		}
	}
	for _, text := range list {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool {
			return r <= ' ' || strings.ContainsRune("\"'`()[]{},;|&<>\\!", r)
		})...)
	}
	return words
}

// literals returns the quoted texts of a program text.
func literals(text string) (list []string) {
	for {
		at := strings.IndexAny(text, "\"'`")
		if at < 0 {
			return list
		}
		quote := text[at]
		text = text[at+1:]
		end := strings.IndexByte(text, quote)
		if end < 0 {
			return list
		}
		list = append(list, text[:end])
		text = text[end+1:]
	}
}

// inCode returns the command that may be at a place of a program text.
func (f *facts) inCode(p place) command.Command {
	words := f.texts[p.text][p.at:]
	words = words[:min(len(words), maxCodeWords)]
	c := command.Command{By: -1}
	for _, w := range words {
		c.Words = append(c.Words, command.Word{Text: w, Known: true})
	}
	c.Args = command.Analyze(c.Words)
	return c
}

// children returns the commands that a command carries.
func children(line *command.Line, at int) (list []int) {
	for i := at + 1; i < len(line.Commands); i++ {
		if line.Commands[i].By == at {
			list = append(list, i)
		}
	}
	return list
}
