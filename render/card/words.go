package card

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

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
		case r == utf8.RuneError && invalid(s[i:]):
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

func invalid(s string) bool {
	_, n := utf8.DecodeRuneInString(s)
	return n == 1
}

// unseen reports whether r is invisible, or looks like something else.
func unseen(r rune) bool {
	switch {
	case r == '\u200d' || r == '\ufe0f': // they join pictures
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == '\u180e', r == '\u2800': // fillers, variants, a blank
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || r != ' ' && unicode.Is(unicode.Zs, r) || !unicode.IsGraphic(r)
}

// Suggestion describes a permission update: what "always" would allow.
func Suggestion(update []byte) string {
	v := gjson.ParseBytes(update)
	where := place(v.Get("destination").String())
	switch kind := v.Get("type").String(); kind {
	case "addRules", "replaceRules", "removeRules":
		var rules []string
		for _, r := range v.Get("rules").Array() {
			rule := r.Get("toolName").String()
			if content := r.Get("ruleContent").String(); content != "" {
				rule += "(" + content + ")"
			}
			rules = append(rules, rule)
		}
		verb := map[string]string{"addRules": "always ", "replaceRules": "from now on only ", "removeRules": "no longer "}[kind]
		return verb + v.Get("behavior").String() + " " + strings.Join(rules, ", ") + where
	case "setMode":
		if mode := v.Get("mode").String(); mode == "acceptEdits" {
			return "accept all edits" + where
		} else if mode == "bypassPermissions" {
			return "ask for NOTHING any more" + where
		}
		return "permission mode " + v.Get("mode").String() + where
	case "addDirectories", "removeDirectories":
		var dirs []string
		for _, d := range v.Get("directories").Array() {
			dirs = append(dirs, d.String())
		}
		verb := "work in "
		if kind == "removeDirectories" {
			verb = "no longer work in "
		}
		return verb + strings.Join(dirs, ", ") + where
	}
	return string(update)
}

// place describes where a permission update is stored.
func place(destination string) string {
	switch destination {
	case "session":
		return ", in this session"
	case "localSettings":
		return ", in this project, for you"
	case "projectSettings":
		return ", in this project, for everybody"
	case "userSettings":
		return ", everywhere"
	case "":
		return ""
	}
	return ", in " + destination
}
