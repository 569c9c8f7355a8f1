package intent

import (
	"slices"
	"strings"
)

// maxIng is how many words may follow the verb of a sentence like "Updating the docs": a
// longer one has a further verb that no list contains.
const maxIng = 9

// finds reports whether the sentence s contains phrase p (see language).
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

// index returns the end of the first occurrence of p in s on word boundaries, or -1.
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
		if (dense || bounded(s, i, end)) && (!atStart || i == 0 || i >= 2 && s[i-2] == partMark) && (!atEnd || end == len(s)) {
			return end
		}
		from = i + 1
	}
	return -1
}

// bounded reports whether s[i:end] consists of whole words.
func bounded(s string, i, end int) bool {
	return (i == 0 || s[i-1] == ' ') && (end == len(s) || s[end] == ' ')
}

// tag adds to the sentences the families of lang that they belong to. words contains at least
// their words.
func (lang *language) tag(all []sentence, words *wordSet) {
	for f := range affirming {
		for _, p := range lang.phrases[f] {
			if !lang.dense && !words.hasAll(p) {
				continue
			}
			for i := range all {
				if s := &all[i]; !s.tags.has(f) && finds(s.text, p, lang.dense) {
					s.tags |= 1 << f
				}
			}
		}
	}
	for i := range all {
		s := &all[i]
		if lang.didWork(s.text) {
			s.tags |= 1 << finishing
		}
		if lang.isWorking(s.text) {
			s.tags |= 1 << going
		}
	}
}

// isWorking reports whether s describes present work: "Updating the docs now", "I'm looking
// into it", "the tests are still running".
func (lang *language) isWorking(s string) bool {
	if lang.ing == "" {
		return false
	}
	first, rest, _ := strings.Cut(s, " ")
	if lang.isIng(first) && strings.Count(rest, " ") < maxIng && !lang.hasVerb(rest) {
		return true
	}
	before := first
	for word := range strings.SplitSeq(rest, " ") {
		if slices.Contains(lang.busy, before) && lang.isIng(word) {
			return true
		}
		before = word
	}
	return false
}

func (lang *language) isIng(word string) bool {
	return len(word) > len(lang.ing)+1 && strings.HasSuffix(word, lang.ing) && !slices.Contains(lang.notIng, word)
}

// hasVerb reports whether one of the words of s is a finite verb.
func (lang *language) hasVerb(s string) bool {
	for word := range strings.SplitSeq(s, " ") {
		if slices.Contains(lang.finite, word) || strings.HasSuffix(word, lang.past) {
			return true
		}
	}
	return false
}

// didWork reports whether s reports work done with one of the language's
// verbs: "I've added", "is fixed", or the bare verb at the start.
func (lang *language) didWork(s string) bool {
	before, start := "", true
	for word := range strings.SplitSeq(s, " ") {
		switch {
		case word == partWord:
			start = true
			continue
		case slices.Contains(lang.negations, word):
			return false
		case (start || slices.Contains(lang.doer, before)) && (slices.Contains(lang.verbs, word) || slices.Contains(lang.results, word)):
			return true
		case slices.Contains(lang.passive, before) && slices.Contains(lang.results, word):
			return true
		}
		leads := slices.Contains(lang.lead, word)
		start = start && leads
		if !leads || slices.Contains(lang.doer, word) {
			before = word
		}
	}
	return false
}

// wordSet is a set of words that may contain more than was added: it saves searching for
// phrases that cannot be there.
type wordSet [128]uint64

const (
	hashStart = 2166136261 // FNV-1a
	hashPrime = 16777619
)

func (w *wordSet) add(hash uint32) {
	hash ^= hash >> 15
	w[hash/64%uint32(len(w))] |= 1 << (hash % 64)
}

func (w *wordSet) has(hash uint32) bool {
	hash ^= hash >> 15
	return w[hash/64%uint32(len(w))]&(1<<(hash%64)) != 0
}

// addAll adds the words of a sentence.
func (w *wordSet) addAll(s string) {
	hash := uint32(hashStart)
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			w.add(hash)
			hash = hashStart
			continue
		}
		hash = (hash ^ uint32(s[i])) * hashPrime
	}
	w.add(hash)
}

// hasAll reports whether every word of the phrase p may be in w.
func (w *wordSet) hasAll(p string) bool {
	hash := uint32(hashStart)
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '^', '$', '*':
		case ' ':
			if hash != hashStart && !w.has(hash) {
				return false
			}
			hash = hashStart
		default:
			hash = (hash ^ uint32(p[i])) * hashPrime
		}
	}
	return hash == hashStart || w.has(hash)
}
