package installer

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed snippets
var snippets embed.FS

// shells are the arguments of Snippet.
var shells = []string{"bash", "zsh", "fish", "tmux", "starship"}

// SnippetOptions are the options of a snippet.
type SnippetOptions struct {
	Program string // absolute path of beckon
	Line    string // of beckon-hook; empty if there is none
	Color   bool
	Next    string // tmux: the key after the prefix that goes to the next session
	Popup   string // tmux: the key after the prefix that opens the popup
}

// The colour of the segment, in each shell's notation: bold red on and off.
var snippetColors = map[string][2]string{
	"bash":     {`\[\e[1;31m\]`, `\[\e[0m\]`},
	"zsh":      {"%B%F{red}", "%f%b"},
	"fish":     {"\x1b[1;31m", "\x1b[0m"},
	"tmux":     {"#[fg=red bold]", "#[default]"},
	"starship": {"bold red", ""},
}

// Snippet returns what a shell, tmux or starship must read to show what needs the user.
// Reading it twice has the same effect as once. The error is about an unknown shell, or a path
// that it cannot quote.
func Snippet(shell string, o SnippetOptions) (string, error) {
	if !slices.Contains(shells, shell) {
		return "", fmt.Errorf("shell %q: not one of %s", shell, strings.Join(shells, ", "))
	}
	program, err := quoteFor(shell, slashed(o.Program))
	if err != nil {
		return "", err
	}
	line, err := quoteFor(shell, slashed(cmp.Or(o.Line, o.Program)))
	if err != nil {
		return "", err
	}
	for _, key := range []string{o.Next, o.Popup} {
		if shell == "tmux" && !tmuxKey().MatchString(key) {
			return "", fmt.Errorf("key %q: not the name of a tmux key", key)
		}
	}
	text, err := snippets.ReadFile("snippets/beckon." + shell)
	if err != nil {
		return "", err
	}
	color := snippetColors[shell]
	if !o.Color {
		color = [2]string{}
	}
	return strings.NewReplacer("@PROGRAM@", program, "@LINE@", line,
		"@ON@", color[0], "@OFF@", color[1], "@STYLE@", color[0],
		"@NEXT@", o.Next, "@POPUP@", o.Popup).Replace(string(text)), nil
}

// quoteFor makes a path one word in the places where a snippet has it.
func quoteFor(shell, path string) (string, error) {
	if safeWord().MatchString(path) && !strings.ContainsAny(path, "%") {
		return path, nil
	}
	if strings.ContainsAny(path, "\n\r\x00") {
		return "", &pathError{path, "holds a line end", ""}
	}
	switch shell {
	case "bash", "zsh":
		return quote(path), nil
	case "fish":
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(path) + "'", nil
	case "starship": // a shell word within a TOML string
		return strings.Trim(strconv.Quote(quote(path)), `"`), nil
	}
	// tmux parses the path as its own string, as a format and as a shell word.
	if strings.ContainsAny(path, `"'\$#%{}~;`+"`") {
		return "", &pathError{path, "holds a character that tmux cannot be given safely",
			"put beckon in a directory with a plain name"}
	}
	return "'" + path + "'", nil
}

// tmuxKey matches the name of a key such as b, C-b, M-Up or F5.
var tmuxKey = lazily(`^[0-9A-Za-z-]+$`)
