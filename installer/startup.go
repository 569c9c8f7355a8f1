package installer

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A StartupLine is one line of ours in a file that a shell or tmux reads when it starts.
type StartupLine struct {
	Name string // identifies it, one word: path
	Text string // one line in the file's language
}

// The names of our lines: the program's directory on PATH, the segment of the prompt or of
// tmux's status line (Snippet), and completion.
const (
	PathLine       = "path"
	PromptLine     = "prompt"
	CompletionLine = "completion"
)

// NewStartupLine returns the line of that name for bash, zsh, fish or tmux. program is the
// absolute path of beckon; without it the line does nothing. The error is about a path that
// the shell cannot quote.
func NewStartupLine(shell, name, program string) (StartupLine, error) {
	word, err := quoteFor(shell, slashed(program))
	if err != nil {
		return StartupLine{}, err
	}
	dir, err := quoteFor(shell, slashed(filepath.Dir(program)))
	if err != nil {
		return StartupLine{}, err
	}
	text := map[string]string{
		"bash path": `case ":$PATH:" in *:@DIR@:*) ;; *) export PATH=@DIR@:"$PATH" ;; esac`,
		"zsh path":  `case ":$PATH:" in *:@DIR@:*) ;; *) export PATH=@DIR@:"$PATH" ;; esac`,
		"fish path": `contains -- @DIR@ $PATH; or set -gx PATH @DIR@ $PATH`,

		"bash prompt": `if [ -x @PROGRAM@ ]; then eval "$(@PROGRAM@ init bash)"; fi`,
		"zsh prompt":  `if [ -x @PROGRAM@ ]; then eval "$(@PROGRAM@ init zsh)"; fi`,
		"fish prompt": `test -x @PROGRAM@; and @PROGRAM@ init fish | source`,
		"tmux prompt": `if-shell "test -x @PROGRAM@" { run-shell "@PROGRAM@ init tmux | tmux source-file -" }`,

		"bash completion": `if [ -x @PROGRAM@ ]; then source <(@PROGRAM@ completion bash); fi`,
		"zsh completion":  `if [ -x @PROGRAM@ ] && (( $+functions[compdef] )); then source <(@PROGRAM@ completion zsh); fi`,
		"fish completion": `test -x @PROGRAM@; and @PROGRAM@ completion fish | source`,
	}[shell+" "+name]
	if text == "" {
		return StartupLine{}, fmt.Errorf("shell %q: it has no line called %s", shell, name)
	}
	return StartupLine{Name: name, Text: strings.NewReplacer("@PROGRAM@", word, "@DIR@", dir).Replace(text)}, nil
}

// StartupPath returns the file that the user's shell, or tmux, reads when it starts an
// interactive session; "" for an unknown one or without a home.
func StartupPath(shell, goos string, getenv func(string) string) string {
	home := getenv("HOME")
	if home == "" {
		return ""
	}
	config := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	switch shell {
	case "bash":
		if goos == "darwin" { // a terminal there starts a login shell, which reads only this file
			return filepath.Join(home, ".bash_profile")
		}
		return filepath.Join(home, ".bashrc")
	case "zsh":
		return filepath.Join(cmp.Or(getenv("ZDOTDIR"), home), ".zshrc")
	case "fish":
		return filepath.Join(config, "fish", "config.fish")
	case "tmux":
		own, xdg := filepath.Join(home, ".tmux.conf"), filepath.Join(config, "tmux", "tmux.conf")
		if _, err := os.Stat(own); err != nil {
			if _, err := os.Stat(xdg); err == nil {
				return xdg
			}
		}
		return own
	}
	return ""
}

// Our lines are one block between two comments, after everything else in the file.
//
// The comments around the block. The longer ones say what else remove has to undo: a line end
// that was missing, or the whole file.
const (
	blockBegin    = "# >>> beckon setup >>>"
	blockUnended  = "# >>> beckon setup; the line above had no end >>>"
	blockMadeFile = "# >>> beckon setup; it made this file >>>"
	blockEnd      = "# <<< beckon setup <<<"
)

// block is where our lines are in a file's text.
type block struct {
	before, after string // the rest of the file; before has no line end that we added
	begin         string // the comment that opens it; empty without a block
	lines         []StartupLine
}

// findBlock splits text around our block, which ends at the first end mark; without an end
// mark there is no block.
func findBlock(text string) block {
	b, start, at := block{}, -1, 0
	for line := range strings.Lines(text) {
		end := at + len(line)
		switch bare := strings.TrimRight(line, "\r\n"); {
		case bare == blockBegin || bare == blockUnended || bare == blockMadeFile:
			b, start = block{before: text[:at], begin: bare}, end
		case bare == blockEnd && start >= 0:
			if b.after = text[end:]; b.begin == blockUnended && b.after == "" {
				b.before = strings.TrimSuffix(b.before, "\n")
			}
			b.lines = startupLines(text[start:at])
			return b
		}
		at = end
	}
	return block{before: text}
}

// startupLines parses the inside of a block: each line stands below its name.
func startupLines(inside string) (lines []StartupLine) {
	name := ""
	for line := range strings.Lines(inside) {
		line = strings.TrimRight(line, "\r\n")
		if n, ok := strings.CutPrefix(line, "# "); ok {
			name = n
			continue
		}
		lines = append(lines, StartupLine{Name: name, Text: line})
	}
	return lines
}

// editStartup returns old with the line in the block, in place of one of that name; an empty
// Text removes it. old is nil without a file, and the result is nil if the file is to be
// removed. The text around the block keeps its bytes; without a line the block goes, and the
// file is what it was.
func editStartup(old []byte, line StartupLine) []byte {
	b := findBlock(string(old))
	same := func(l StartupLine) bool { return l.Name == line.Name }
	switch i := slices.IndexFunc(b.lines, same); {
	case line.Text == "":
		b.lines = slices.DeleteFunc(b.lines, same)
	case i >= 0:
		b.lines[i] = line
	default:
		b.lines = append(b.lines, line)
	}
	switch {
	case len(b.lines) == 0 && (old == nil || b.begin == blockMadeFile && b.before+b.after == ""):
		return nil
	case len(b.lines) == 0:
		return []byte(b.before + b.after)
	case b.begin != "":
	case old == nil:
		b.begin = blockMadeFile
	case b.before != "" && !strings.HasSuffix(b.before, "\n"):
		b.begin = blockUnended
	default:
		b.begin = blockBegin
	}
	var out strings.Builder
	out.WriteString(b.before)
	if b.before != "" && !strings.HasSuffix(b.before, "\n") {
		out.WriteByte('\n')
	}
	out.WriteString(b.begin + "\n")
	for _, l := range b.lines {
		out.WriteString("# " + l.Name + "\n" + l.Text + "\n")
	}
	out.WriteString(blockEnd + "\n" + b.after)
	return []byte(out.String())
}

// HasLine reports whether the start-up file at path has our line of that name. A file that cannot
// be read has none.
func HasLine(path, name string) bool {
	was, err := readSettings(path)
	return err == nil && slices.ContainsFunc(findBlock(string(was.data)).lines, func(l StartupLine) bool { return l.Name == name })
}

// Mentions reports whether the user's own part of the start-up file at path has the text.
func Mentions(path, text string) bool {
	was, err := readSettings(path)
	b := findBlock(string(was.data))
	return err == nil && strings.Contains(b.before+b.after, text)
}

// Put returns the operation that puts a line into a start-up file, or removes it if it has no
// Text. No record is kept: the comments around the block say what was there before.
func Put(line StartupLine) Op {
	return Op{plan: func(c *Change) error {
		c.New, c.shared = editStartup(c.Old, line), true
		return nil
	}}
}
