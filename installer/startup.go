package installer

import (
	"cmp"
	"embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"beckon/event/plainfile"
	"beckon/event/run"
)

// The names of our lines: the program's directory on PATH, the segment of the prompt or of
// tmux's status line (Snippet), and completion.
const (
	PathLine       = "path"
	PromptLine     = "prompt"
	CompletionLine = "completion"
)

var startupTexts = map[string]string{
	"bash path": `case ":$PATH:" in *:@DIR@:*) ;; *) export PATH=@DIR@:"$PATH" ;; esac`,
	"zsh path":  `case ":$PATH:" in *:@DIR@:*) ;; *) export PATH=@DIR@:"$PATH" ;; esac`,
	"fish path": `contains -- @DIR@ $PATH; or set -gx PATH @DIR@ $PATH`,

	"bash prompt": `if [ -x @PROGRAM@ ]; then eval "$(@PROGRAM@ init bash)"; fi`,
	"zsh prompt":  `if [ -x @PROGRAM@ ]; then eval "$(@PROGRAM@ init zsh)"; fi`,
	"fish prompt": `test -x @PROGRAM@; and @PROGRAM@ init fish | source`,
	"tmux prompt": `if-shell "test -x @PROGRAM@" { run-shell "@PROGRAM@ init tmux | tmux source-file -" }`,

	"bash completion": `if [ -x @PROGRAM@ ]; then source <(@PROGRAM@ init bash --completion); fi`,
	"zsh completion": `if [ -x @PROGRAM@ ] && (( $+functions[compdef] )); then ` +
		`source <(@PROGRAM@ init zsh --completion); fi`,
	"fish completion": `test -x @PROGRAM@; and @PROGRAM@ init fish --completion | source`,
}

// Line returns the line of that name in a start-up file of bash, zsh, fish or tmux. program is the absolute
// path of beckon; without it the line does nothing. The error is about a path that the shell cannot quote.
func (t Target) Line(shell, name, program string) (Part, error) {
	text, err := fill(shell, startupTexts[shell+" "+name],
		map[string]string{"@PROGRAM@": program, "@DIR@": filepath.Dir(program)})
	return t.line(name, text), err
}

func (t Target) line(name, text string) Part {
	t.shared = true
	edit := func(old []byte, on bool) ([]byte, error) { return editStartup(old, name, text, on), nil }
	return Part{Target: t, edit: edit, owns: func(text []byte) bool {
		_, lines, _ := findBlock(string(text))
		return lines != ""
	}}
}

// fill replaces names of paths, and others in pairs with what they mean, in a text for a shell.
func fill(shell, text string, paths map[string]string, others ...string) (string, error) {
	for name, path := range paths {
		word, err := quoteFor(shell, slashed(path))
		if err != nil {
			return "", err
		}
		others = append(others, name, word)
	}
	return strings.NewReplacer(others...).Replace(text), nil
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
		if !plainfile.Exists(own) && plainfile.Exists(xdg) {
			return xdg
		}
		return own
	}
	return ""
}

// Our lines are one block between two comments, after everything else in the file.
const (
	blockBegin = "# >>> beckon setup >>>"
	blockEnd   = "# <<< beckon setup <<<"
)

// ourBlock matches a file with our block; a begin mark without an end mark is the user's.
const ourBlock = `(?s)^(.*\n|)` + blockBegin + `\r?\n(|.*?\n)` + blockEnd + `(?:\r?\n(.*))?$`

// findBlock returns the lines of our block, each below a comment with its name, and the text around it.
func findBlock(text string) (before, lines, after string) {
	if m := regexp.MustCompile(ourBlock).FindStringSubmatch(text); m != nil {
		return m[1], m[2], m[3]
	}
	return text, "", ""
}

// lineIn returns the block's line of that name with its comment, "" without one.
func lineIn(lines, name string) string {
	return regexp.MustCompile(`(?m)^# ` + name + `\r?\n.*\n`).FindString(lines)
}

// editStartup returns old with the line in the block, in place of one of that name, or without it.
// The text around the block keeps its bytes; without a line the block goes.
func editStartup(old []byte, name, text string, on bool) []byte {
	before, lines, after := findBlock(string(old))
	was, now := lineIn(lines, name), ""
	if on {
		now = "# " + name + "\n" + text + "\n"
	}
	if was == "" {
		lines += now
	} else {
		lines = strings.Replace(lines, was, now, 1)
	}
	if isBlank([]byte(lines)) {
		return append(old[:0:0], before+after...) // nil without a file
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return []byte(before + blockBegin + "\n" + lines + blockEnd + "\n" + after)
}

// InStartup reports whether the start-up file at path has our line of that name, and whether the user's
// own part of it has one of the words. A file that cannot be read has neither.
func InStartup(path, name string, words ...string) (ours, theirs bool) {
	was, _ := readSettings(path)
	before, lines, after := findBlock(string(was.data))
	return lineIn(lines, name) != "",
		slices.ContainsFunc(words, func(w string) bool { return strings.Contains(before+after, w) })
}

//go:embed snippets
var snippets embed.FS

// SnippetOptions are the options of a snippet.
type SnippetOptions struct {
	Program string // absolute path of beckon
	Line    string // of beckon-hook; empty if there is none
	Next    string // tmux: the key after the prefix that goes to the next session
	Popup   string // tmux: the key after the prefix that opens the popup
}

// Snippet returns what bash, zsh, fish, tmux or starship must read to show what needs the user.
// Reading it twice has the same effect as once. The error is about an unknown shell, or a path
// that it cannot quote.
func Snippet(shell string, o SnippetOptions) (string, error) {
	text, err := snippets.ReadFile("snippets/beckon." + shell)
	if err != nil {
		return "", fmt.Errorf("shell %q: not one of bash, zsh, fish, tmux, starship", shell)
	}
	for _, key := range []string{o.Next, o.Popup} { // such as b, C-b, M-Up or F5
		if shell == "tmux" && !regexp.MustCompile(`^[0-9A-Za-z-]+$`).MatchString(key) {
			return "", fmt.Errorf("key %q: not the name of a tmux key", key)
		}
	}
	return fill(shell, string(text), map[string]string{"@PROGRAM@": o.Program, "@LINE@": cmp.Or(o.Line, o.Program)},
		"@NEXT@", o.Next, "@POPUP@", o.Popup)
}

// quoteFor makes a path one word in the places where a snippet has it.
func quoteFor(shell, path string) (string, error) {
	if run.Quote(path) == path && !strings.Contains(path, "%") {
		return path, nil
	}
	if strings.ContainsAny(path, "\n\r\x00") {
		return "", badProgram(path, "holds a line end", "")
	}
	switch shell {
	case "bash", "zsh":
		return run.Quote(path), nil
	case "fish":
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(path) + "'", nil
	case "starship": // a shell word within a TOML string
		return strings.Trim(strconv.Quote(run.Quote(path)), `"`), nil
	}
	// tmux parses the path as its own string, as a format and as a shell word.
	if strings.ContainsAny(path, `"'\$#%{}~;`+"`") {
		return "", badProgram(path, "holds a character that tmux cannot be given safely",
			"put beckon in a directory with a plain name")
	}
	return "'" + path + "'", nil
}
