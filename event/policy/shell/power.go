package shell

import (
	"regexp"
	"strings"
	"sync"
)

// powerSyntax finds comments, quoted texts, variables, words and signs of PowerShell.
var powerSyntax = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)<#.*?#>|(?:^|\\s)#[^\n]*|'[^']*'|\"(?:[^\"$`]|`.|\\$[^(\"])*\"|`.|" +
		"\\$\\{[^}]*\\}|\\$[\\w:]+|[A-Za-z]+|[^\\w\\s]")
})

var powerVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}|\$[\w:]*`) })

const shellVariable = "$${_}"

// ReadPower reads a line of PowerShell as that of a shell that has its words, quotes and separators.
// The rest of the language stays unknown. A quoted text that has commands in it counts as unquoted.
func ReadPower(text string) *Line {
	r := newReader(text)
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
		case strings.Contains("\u2013\u2014\u2015", t):
			return "-"
		case t == `"` && inText:
			r.line.Sets = true
			return " "
		case t == `"` || t == "'":
			r.strange("a quote does not close")
			return " "
		case strings.Contains("\u2018\u2019\u201c\u201d", t):
			r.strange("it has typographic quotes, which PowerShell takes for its own")
			return " "
		case first >= 0x80:
			return t
		}
		return `\` + t // a word is never one of the shell's syntax
	})
	r.text(shell, stream{})
	return r.line
}
