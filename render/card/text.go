package card

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/tidwall/gjson"
)

// Line1 returns a text on one line, with everything invisible spelled out: control and format
// characters (including those that turn the writing direction), spaces without width, bytes
// that are not text. A tab stays a gap.
func Line1(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case ' ' <= r && r <= '~': // first, because unseen is slow
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)): // no character
			fmt.Fprintf(&b, "‹0x%02X›", s[i])
		case r == '\t':
			b.WriteString("    ")
		case r == '\n':
			b.WriteString("⏎")
		case r == '\r':
			b.WriteString("‹CR›")
		case unseen(r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unseen reports whether r is invisible, or looks like something else.
func unseen(r rune) bool {
	switch {
	case r == '\u200d' || r == '\ufe0f': // they join pictures
		return false
	case r == '\u180e' || r == '\u2800': // blanks
		return true
	}
	return !unicode.IsGraphic(r) || r != ' ' && unicode.Is(unicode.Zs, r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) // fillers, variants
}

// updates say what a permission update does, by its type, and which member lists it.
var updates = map[string]struct{ verb, list string }{
	"addRules": {"always ", "rules"}, "replaceRules": {"from now on only ", "rules"},
	"removeRules":    {"no longer ", "rules"},
	"addDirectories": {"work in ", "directories"}, "removeDirectories": {"no longer work in ", "directories"},
	"setMode": {"", "mode"},
}

// modes say what a permission mode means; for others the name does.
var modes = map[string]string{"acceptEdits": "accept all edits", "bypassPermissions": "ask for NOTHING any more"}

// places say where a permission update is stored.
var places = map[string]string{
	"": "", "session": ", in this session", "localSettings": ", in this project, for you",
	"projectSettings": ", in this project, for everybody", "userSettings": ", everywhere",
}

// Suggestion describes a permission update: what "always" would allow.
func Suggestion(update []byte) string {
	v := gjson.ParseBytes(update)
	is, known := updates[v.Get("type").String()]
	if !known {
		return string(update)
	}
	where, known := places[v.Get("destination").String()]
	if !known {
		where = ", in " + v.Get("destination").String()
	}
	var what []string
	for _, x := range v.Get(is.list).Array() {
		text := cmp.Or(x.Get("toolName").String(), x.String())
		if content := x.Get("ruleContent").String(); content != "" {
			text += "(" + content + ")"
		}
		if is.list == "mode" {
			text = cmp.Or(modes[text], "permission mode "+text)
		}
		what = append(what, text)
	}
	if behavior := v.Get("behavior").String(); behavior != "" {
		is.verb += behavior + " "
	}
	return is.verb + strings.Join(what, ", ") + where
}

// rowWidth is how many characters a notification shows in a row.
const rowWidth = 40

// Where says where the request would happen, and who asks.
func (c *Card) Where() string {
	where := c.Dir
	if c.Branch != "" {
		where += " (" + c.Branch + ")"
	}
	if c.Host != "" {
		where += " on " + c.Host
	}
	if c.Agent != "" {
		where += ", asked by its subagent " + c.Agent
	}
	return where
}

// Brief returns a card as text for a notification of that many rows, and whether it shows the whole
// card: otherwise the text has a "…", or says why not.
func (c *Card) Brief(rows int) (text string, whole bool) {
	lines := []string{c.Title}
	for _, l := range c.Lines {
		lines = append(lines, l.Text)
	}
	where := "in " + c.Where()
	rows -= rowsOf(where)
	whole = c.Whole
	var b strings.Builder
	for _, l := range lines {
		if rows -= rowsOf(l); rows < 0 {
			whole = false
			b.WriteString("…\n")
			break
		}
		b.WriteString(l + "\n")
	}
	if !c.Whole {
		b.WriteString("(" + Line1(c.Why) + ")\n")
	}
	return b.String() + where, whole
}

// rowsOf returns the most rows that a line takes, broken at its spaces.
func rowsOf(line string) (rows int) {
	rows, left := 1, rowWidth
	for word := range strings.SplitAfterSeq(line, " ") {
		n := ansi.StringWidth(word)
		if n > left && left < rowWidth {
			rows, left = rows+1, rowWidth
		}
		rows, left = rows+max(0, n-1)/rowWidth, left-n
		if n > rowWidth {
			left = rowWidth - (n-1)%rowWidth - 1
		}
	}
	return rows
}
