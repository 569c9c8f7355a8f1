package intent

import "strings"

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
		if (dense || bounded(s, i, end)) && (!atStart || i == 0 || i >= 2 && s[i-2] == partMark) &&
			(!atEnd || end == len(s)) {
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
	for f, p := range lang.phrases {
		if f == affirming || !lang.dense && !words.hasAll(p) {
			continue
		}
		for i := range all {
			if s := &all[i]; !s.tags.has(f) && finds(s.text, p, lang.dense) {
				s.tags |= 1 << f
			}
		}
	}
	v := lang.verbs()
	for i := range all {
		s := &all[i]
		if v.didWork(s.text) {
			s.tags |= 1 << finishing
		}
		if v.isWorking(s.text) {
			s.tags |= 1 << going
		}
	}
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
