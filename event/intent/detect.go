package intent

import (
	"strings"
	"unicode"
)

// languages is every language there are words for; the first is always
// consulted, since agents mix it into the others.
var languages = [...]*language{&english, &german, &french, &spanish, &portuguese, &japanese, &chinese}

// detectWords is how many words, from the end, the language is guessed from.
const detectWords = 80

// languagesOf guesses the language of the sentences: English, and at most one
// other.
func languagesOf(all []sentence) (*language, *language) {
	if other := byScript(all); other != nil {
		return &english, other
	}
	var hits [len(languages)]int
	words := 0
	for i := len(all) - 1; i >= 0 && words < detectWords; i-- {
		for s := all[i].text; s != ""; words++ {
			var w string
			w, s = cutWord(s)
			for l, lang := range languages {
				if contains(lang.common, w) || strings.ContainsAny(w, lang.letters) {
					hits[l]++
				}
			}
		}
	}
	best := 1
	for l := 2; l < len(hits); l++ {
		if hits[l] > hits[best] {
			best = l
		}
	}
	if hits[best] == 0 || hits[best] < hits[0] {
		return &english, nil
	}
	return &english, languages[best]
}

// byScript returns the language of a message written without spaces, or nil.
func byScript(all []sentence) *language {
	han := false
	for i := range all {
		for _, c := range all[i].text {
			switch {
			case c < 0x3000:
			case unicode.In(c, unicode.Hiragana, unicode.Katakana):
				return languageByCode("ja")
			case unicode.Is(unicode.Han, c):
				han = true
			}
		}
	}
	if han {
		return languageByCode("zh")
	}
	return nil
}

func languageByCode(code string) *language {
	for _, lang := range languages {
		if lang.code == code {
			return lang
		}
	}
	return nil
}
