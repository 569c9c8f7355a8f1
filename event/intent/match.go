package intent

import "strings"

// maxIng is how many words may follow the verb of a sentence like "Updating
// the docs": a longer one has a verb further on that no list knows.
const maxIng = 9

// finds reports whether the sentence s holds phrase p (see language).
func finds(s, p string, dense bool) bool {
	first, rest, gap := strings.Cut(p, " * ")
	if !gap {
		return index(s, p, dense) >= 0
	}
	at := index(s, first, dense)
	if at < 0 {
		return false
	}
	return finds(s[at:], rest, dense)
}

// index returns the end of the first occurrence of p in s on word bounds, or
// -1.
func index(s, p string, dense bool) int {
	p, atStart := strings.CutPrefix(p, "^")
	p, atEnd := strings.CutSuffix(p, "$")
	if atStart && atEnd {
		if s == p {
			return len(s)
		}
		return -1
	}
	for from := 0; from+len(p) <= len(s); {
		i := strings.Index(s[from:], p)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(p)
		if (dense || bounded(s, i, end)) && (!atStart || startsPart(s, i)) && (!atEnd || end == len(s)) {
			return end
		}
		from = i + 1
	}
	return -1
}

// bounded reports whether s[i:end] is made of whole words.
func bounded(s string, i, end int) bool {
	return (i == 0 || s[i-1] == ' ') && (end == len(s) || s[end] == ' ')
}

// startsPart reports whether a part of the sentence starts at i.
func startsPart(s string, i int) bool {
	return i == 0 || i >= 2 && s[i-2] == partMark
}

// cutWord returns the first word of s and the rest.
func cutWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(s, " ")
	return word, rest
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// tag returns the families of lang that the sentence s belongs to.
func (lang *language) tag(s string) tags {
	var t tags
	for f := range affirming {
		for _, p := range lang.phrases[f] {
			if finds(s, p, lang.dense) {
				t |= 1 << f
				break
			}
		}
	}
	if !t.has(finishing) && lang.didWork(s) {
		t |= 1 << finishing
	}
	if !t.has(going) && lang.isWorking(s) {
		t |= 1 << going
	}
	return t
}

// isWorking reports whether s says what is being done just now: "Updating the
// docs now", "I'm looking into it", "the tests are still running".
func (lang *language) isWorking(s string) bool {
	if lang.ing == "" {
		return false
	}
	first, rest := cutWord(s)
	if lang.isIng(first) && strings.Count(rest, " ") < maxIng && !lang.hasVerb(rest) {
		return true
	}
	for before := first; rest != ""; {
		var word string
		word, rest = cutWord(rest)
		if contains(lang.busy, before) && lang.isIng(word) {
			return true
		}
		before = word
	}
	return false
}

func (lang *language) isIng(word string) bool {
	return len(word) > len(lang.ing)+2 && strings.HasSuffix(word, lang.ing) && !contains(lang.notIng, word)
}

// hasVerb reports whether one of the words of s is a finite verb.
func (lang *language) hasVerb(s string) bool {
	for s != "" {
		var word string
		word, s = cutWord(s)
		if contains(lang.finite, word) || strings.HasSuffix(word, lang.past) {
			return true
		}
	}
	return false
}

// didWork reports whether s reports work done with one of the language's
// verbs: "I've added", "is fixed", or the bare verb at the start.
func (lang *language) didWork(s string) bool {
	before, start := "", true
	for s != "" {
		var word string
		word, s = cutWord(s)
		if (start || contains(lang.passive, before)) && contains(lang.verbs, word) {
			return true
		}
		switch {
		case word == partWord:
			start = true
		case !contains(lang.lead, word):
			start = false
		}
		if !contains(lang.lead, word) || contains(lang.passive, word) {
			before = word
		}
	}
	return false
}
