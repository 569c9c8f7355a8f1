package intent

import (
	"strings"
	"unicode/utf8"
)

// lettersWeigh is how many frequent words a language's own letters count as.
const lettersWeigh = 2

// maxForeign is how many bytes of letters outside ASCII are examined.
const maxForeign = 512

// otherLanguage guesses which language other than English the sentences are in, from their
// letters and frequent words; nil for none.
func otherLanguage(all []sentence, words *wordSet) *language {
	foreign := foreignLetters(all)
	if other := byScript(foreign); other != nil {
		return other
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

// foreignLetters returns the letters outside ASCII, without what is between them.
func foreignLetters(all []sentence) string {
	var b []byte
	for i := range all {
		s := all[i].text
		for j := 0; j < len(s) && len(b) < maxForeign; j++ {
			if s[j] >= utf8.RuneSelf {
				b = append(b, s[j])
			}
		}
	}
	return string(b)
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
		if foreign != "" && strings.ContainsAny(foreign, letters) {
			n += lettersWeigh
		}
	}
	return n
}

// byScript returns the language of the letters' script, or nil.
func byScript(letters string) *language {
	han := false
	for _, c := range letters {
		switch {
		case 0x3041 <= c && c <= 0x30fa: // Hiragana, Katakana
			return &japanese
		case 0x4e00 <= c && c <= 0x9fff: // Han
			han = true
		}
	}
	if han {
		return &chinese
	}
	return nil
}
