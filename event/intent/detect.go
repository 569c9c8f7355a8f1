package intent

import (
	"strings"
	"unicode/utf8"
)

// lettersWeigh is how many frequent words a language's own letters count as.
const lettersWeigh = 2

// otherLanguage guesses which language other than English a text is in, from its script, or
// its letters and frequent words; nil for none.
func otherLanguage(text string, words *wordSet) *language {
	foreign := strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf {
			return -1
		}
		return c
	}, text)
	switch {
	case strings.ContainsFunc(foreign, func(c rune) bool { return 0x3041 <= c && c <= 0x30fa }): // Hiragana, Katakana
		return &japanese
	case strings.ContainsFunc(foreign, func(c rune) bool { return 0x4e00 <= c && c <= 0x9fff }): // Han
		return &chinese
	}
	var best *language
	most := max(1, english.hits(foreign, words))
	for _, lang := range languages[1:] {
		if n := lang.hits(foreign, words); n > most || n == most && best == nil {
			best, most = lang, n
		}
	}
	return best
}

// hits counts the signs of lang: its frequent words and its letters.
func (lang *language) hits(foreign string, words *wordSet) int {
	n := 0
	for w := range lang.list("common") { // frequent words
		if words.hasAll(w) {
			n++
		}
	}
	for letters := range lang.list("letters") { // that it shares with few others
		if strings.ContainsAny(foreign, letters) {
			n += lettersWeigh
		}
	}
	return n
}
