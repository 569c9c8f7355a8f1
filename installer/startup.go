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

		"bash completion": `if [ -x @PROGRAM@ ]; then source <(@PROGRAM@ init bash --completion); fi`,
		"zsh completion":  `if [ -x @PROGRAM@ ] && (( $+functions[compdef] )); then source <(@PROGRAM@ init zsh --completion); fi`,
		"fish completion": `test -x @PROGRAM@; and @PROGRAM@ init fish --completion | source`,
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

// Our lines are one block between two comments, after everything else in the file. Earlier
// versions began it with longer comments, which say what else there is to undo: a line end that
// was missing, or the whole file.
const (
	blockBegin    = "# >>> beckon setup >>>"
	blockUnended  = "# >>> beckon setup; the line above had no end >>>"
	blockMadeFile = "# >>> beckon setup; it made this file >>>"
	blockEnd      = "# <<< beckon setup <<<"
)

// block is where our lines are in a file's text.
type block struct {
	before, after string // the rest of the file
	begin         string // the comment that opens it; empty without a block
	lines         []StartupLine
}

// findBlock splits text around our block, which ends at the first end mark; without an end
// mark there is no block.
func findBlock(text string) block {
	begin, start, at := "", 0, 0
	for line := range strings.Lines(text) {
		end := at + len(line)
		switch bare := strings.TrimRight(line, "\r\n"); {
		case bare == blockBegin || bare == blockUnended || bare == blockMadeFile:
			begin, start = bare, at
		case bare == blockEnd && begin != "":
			b := block{before: text[:start], after: text[end:], begin: begin}
			if begin == blockUnended && b.after == "" {
				b.before = strings.TrimSuffix(b.before, "\n")
			}
			name := "" // each line stands below its name
			for line := range strings.Lines(text[start+len(begin)+1 : at]) {
				line = strings.TrimRight(line, "\r\n")
				if n, ok := strings.CutPrefix(line, "# "); ok {
					name = n
				} else if line != "" {
					b.lines = append(b.lines, StartupLine{Name: name, Text: line})
				}
			}
			return b
		}
		at = end
	}
	return block{before: text}
}

// editStartup returns old with the line in the block, in place of one of that name; an empty
// Text removes it. The text around the block keeps its bytes; without a line the block goes.
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
	if len(b.lines) == 0 {
		if old == nil || b.before+b.after == "" && b.begin == blockMadeFile {
			return nil
		}
		return []byte(b.before + b.after)
	}
	var out strings.Builder
	out.WriteString(b.before)
	if b.before != "" && !strings.HasSuffix(b.before, "\n") {
		out.WriteByte('\n')
	}
	out.WriteString(cmp.Or(b.begin, blockBegin) + "\n")
	for _, l := range b.lines {
		out.WriteString("# " + l.Name + "\n" + l.Text + "\n")
	}
	out.WriteString(blockEnd + "\n" + b.after)
	return []byte(out.String())
}

// HasLine reports whether the start-up file at path has our line of that name. A file that cannot
// be read has none.
func HasLine(path, name string) bool {
	was, _ := readSettings(path)
	return slices.ContainsFunc(findBlock(string(was.data)).lines, func(l StartupLine) bool { return l.Name == name })
}

// Mentions reports whether the user's own part of the start-up file at path has the text.
func Mentions(path, text string) bool {
	was, _ := readSettings(path)
	b := findBlock(string(was.data))
	return strings.Contains(b.before+b.after, text)
}

// Put returns the operation that puts a line into a start-up file, or removes it if it has no
// Text.
func Put(line StartupLine) Op {
	edit := func(old []byte) ([]byte, []string, error) { return editStartup(old, line), nil, nil }
	return Op{edit: edit, shared: true, owns: func(text []byte) bool { return len(findBlock(string(text)).lines) > 0 }}
}
