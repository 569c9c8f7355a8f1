package intent

import (
	_ "embed" // the tables
	"slices"
	"strings"
	"unicode/utf8"
)

// language is a language, and its table: lists of words and phrases, each after its name and
// with an empty line before it.
//
// Phrases are in lower case, in the form that reading.read gives sentences: words divided by
// single spaces, without punctuation; "_" stands for code, a quotation or an address. A phrase
// may begin with "^" (start of the sentence, or of a part of it after a colon, semicolon or
// dash), end with "$" (end of the sentence) and hold " * " (any words).
type language struct {
	code  string
	dense bool // written without spaces: phrases are found inside words
	table *string
}

var (
	//go:embed english.txt
	englishTable string
	//go:embed german.txt
	germanTable string
	//go:embed french.txt
	frenchTable string
	//go:embed spanish.txt
	spanishTable string
	//go:embed portuguese.txt
	portugueseTable string
	//go:embed japanese.txt
	japaneseTable string
	//go:embed chinese.txt
	chineseTable string
)

// languages are all languages with tables. English is always consulted, since agents mix it into
// the others; the last two are recognized by their script.
var languages = [...]language{
	{code: "en", table: &englishTable},
	{code: "de", table: &germanTable},
	{code: "fr", table: &frenchTable},
	{code: "es", table: &spanishTable},
	{code: "pt", table: &portugueseTable},
	{code: "ja", dense: true, table: &japaneseTable},
	{code: "zh", dense: true, table: &chineseTable},
}

var english, japanese, chinese = &languages[0], &languages[5], &languages[6]

// tags is a set of families: groups of phrases with one meaning.
type tags uint64

const (
	asking      tags = 1 << iota // asks for an answer even without a question mark, unless the sentence closes politely
	insisting                    // asks for an answer whatever else the sentence says
	continuing                   // asks whether to go on with the work
	addressing                   // turns to the reader: a question with it is meant as one
	naming                       // addresses the reader beyond doubt
	waiting                      // says that the agent waits for something
	offering                     // offers more work
	preferring                   // names a wish that the reader may have: after finished work it asks nothing
	closing                      // ends the conversation politely
	opining                      // asks for an opinion: only politeness about finished work
	handing                      // says how to use, check or finish the result
	pleading                     // asks for an action: help while work is stuck, a hand-over when it is done
	blocking                     // says that something stands in the way now
	blockedOnce                  // says so in the past: a solution may have been found since
	finishing                    // reports work done
	going                        // announces what the agent does next
	hinging                      // begins a conditional consequence
	lacking                      // says that something is unfinished or fails
	summing                      // introduces a summary of changes
	answering                    // begins a sentence that answers the question before it
	stating                      // begins one that describes: no answer to what the reader has to decide
	reasoning                    // begins a sentence that gives the reason for the question before it
	musing                       // begins a question that people mostly ask themselves: a why, a how
	wondering                    // begins one that they ask themselves as often as the reader: a what, a who
	optional                     // names one of several ways
	listing                      // introduces a list of questions that want an answer
	made                         // introduces a list of questions that are themselves the result
	quoting                      // says whose question it was
	granting                     // says by whose leave: for work done, one that was given
	affirming                    // is a bare affirmation, as a whole prompt
)

// names are the names of the families in the languages' tables.
var names = [...]string{
	"asking", "insisting", "continuing", "addressing", "naming", "waiting", "offering", "preferring", "closing",
	"opining", "handing", "pleading", "blocking", "blockedOnce", "finishing", "going", "hinging", "lacking", "summing",
	"answering", "stating", "reasoning", "musing", "wondering", "optional", "listing", "made", "quoting", "granting",
	"affirming",
}

// has reports whether one of some families is in t.
func (t tags) has(some tags) bool { return t&some != 0 }

// list ranges over the words of the list of that name.
func (lang *language) list(name string) func(yield func(string) bool) {
	_, rest, _ := strings.Cut(*lang.table, "\n"+name+": ")
	list, _, _ := strings.Cut(rest, "\n\n")
	return wordsOf(list)
}

// phrases ranges over the phrases of all families. A process that classifies one message needs
// each of them once, so it makes no lists of them.
func (lang *language) phrases(yield func(tags, string) bool) {
	for list := range strings.SplitSeq(*lang.table, "\n\n") {
		name, list, _ := strings.Cut(list, ": ")
		i := slices.Index(names[:], name)
		if i < 0 {
			continue
		}
		for p := range wordsOf(list) {
			if !yield(1<<i, p) {
				return
			}
		}
	}
}

// wordsOf ranges over the words of a list.
func wordsOf(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word, more := "", list != ""; more; {
			if word, list, more = strings.Cut(list, ","); !yield(strings.TrimSpace(word)) {
				return
			}
		}
	}
}

// tag adds to the sentences the families of lang that they belong to. words has their words.
func (lang *language) tag(all []sentence, words *wordSet) {
	for f, p := range lang.phrases {
		if f == affirming || !lang.dense && !words.hasAll(p) {
			continue
		}
		for i := range all {
			if s := &all[i]; !s.tags.has(f) && finds(s.text, p, lang.dense) {
				s.tags |= f
			}
		}
	}
	list := func(name string) []string { return slices.Collect(lang.list(name)) }
	v := &verbs{
		list("done"), list("results"), list("lead"), list("doer"), list("passive"), list("negations"),
		list("ing"), list("notIng"), list("finite"), list("past"), list("busy"),
	}
	for i := range all {
		s := &all[i]
		if v.didWork(s.text) {
			s.tags |= finishing
		}
		if v.isWorking(s.text) {
			s.tags |= going
		}
	}
}

// wordSet is a set of words that may contain more than was added: it saves searching for
// phrases that cannot be there.
type wordSet [128]uint64

// words calls f with the place of each word of a sentence or phrase until f is false, and reports
// whether it never was.
func (w *wordSet) words(s string, f func(bits *uint64, bit uint64) bool) bool {
	const start, prime = 2166136261, 16777619 // FNV-1a
	hash := uint32(start)
	for i := range len(s) + 1 {
		switch {
		case i == len(s) || s[i] == ' ':
			h := hash ^ hash>>15
			if hash != start && !f(&w[h/64%uint32(len(w))], 1<<(h%64)) {
				return false
			}
			hash = start
		case s[i] != '^' && s[i] != '$' && s[i] != '*':
			hash = (hash ^ uint32(s[i])) * prime
		}
	}
	return true
}

func (w *wordSet) add(s string) {
	w.words(s, func(bits *uint64, bit uint64) bool { *bits |= bit; return true })
}

// hasAll reports whether every word of the phrase p may be in w.
func (w *wordSet) hasAll(p string) bool {
	return w.words(p, func(bits *uint64, bit uint64) bool { return *bits&bit != 0 })
}

// finds reports whether the sentence s contains phrase p (see language).
func finds(s, p string, dense bool) bool {
	first, rest, gap := strings.Cut(p, " * ")
	at := index(s, first, dense)
	return at >= 0 && (!gap || finds(s[at:], rest, dense))
}

// index returns the end of the first occurrence of p in s on word boundaries, or -1.
func index(s, p string, dense bool) int {
	p, atStart := strings.CutPrefix(p, "^")
	p, atEnd := strings.CutSuffix(p, "$")
	for from := 0; from+len(p) <= len(s); from++ {
		i := strings.Index(s[from:], p)
		if i < 0 {
			return -1
		}
		from += i
		end := from + len(p)
		starts := from == 0 || !atEnd && from >= 2 && s[from-2] == partMark
		if (dense || bounded(s, from, end)) && (!atStart || starts) && (!atEnd || end == len(s)) {
			return end
		}
	}
	return -1
}

// bounded reports whether s[i:end] consists of whole words.
func bounded(s string, i, end int) bool {
	return (i == 0 || s[i-1] == ' ') && (end == len(s) || s[end] == ' ')
}

// verbs are the words of a language that say what was done and what is being done.
type verbs struct {
	// done and results are past participles of what agents do. One of them at the start of a
	// sentence, after only words of lead, or right after one of doer anywhere, is the agent's
	// work; one of results also after one of passive: "is fixed" is work done, "is created"
	// may be how the program works. negations before a verb deny that it was done.
	done, results, lead, doer, passive, negations []string
	// ing ends a verb in progress ("Updating the docs"), unless the sentence starts with one
	// of notIng or has a verb of its own: one of finite or a word that ends in past. After one
	// of busy ("I'm", "still") it counts anywhere.
	ing, notIng, finite, past, busy []string
}

func endsIn(word string, endings []string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}

// isWorking reports whether s describes present work: "Updating the docs now", "I'm looking
// into it", "the tests are still running".
func (v *verbs) isWorking(s string) bool {
	const minIng = 4 // the longest word that ends like such a verb and is none ("king")
	before, start, finite := "", false, false
	for word := range strings.SplitSeq(s, " ") {
		ing := len(word) > minIng && endsIn(word, v.ing) && !slices.Contains(v.notIng, word)
		if before == "" {
			start = ing
		} else if ing && slices.Contains(v.busy, before) {
			return true
		} else {
			finite = finite || slices.Contains(v.finite, word) || endsIn(word, v.past)
		}
		before = word
	}
	return start && !finite
}

// didWork reports whether s reports work done with one of the language's
// verbs: "I've added", "is fixed", or the bare verb at the start.
func (v *verbs) didWork(s string) bool {
	before, start := "", true
	for word := range strings.SplitSeq(s, " ") {
		result, own := slices.Contains(v.results, word), start || slices.Contains(v.doer, before)
		switch {
		case word == partWord:
			start = true
			continue
		case slices.Contains(v.negations, word):
			return false
		case own && (result || slices.Contains(v.done, word)), result && slices.Contains(v.passive, before):
			return true
		}
		leads := slices.Contains(v.lead, word)
		start = start && leads
		if !leads || slices.Contains(v.doer, word) {
			before = word
		}
	}
	return false
}

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
		return japanese
	case strings.ContainsFunc(foreign, func(c rune) bool { return 0x4e00 <= c && c <= 0x9fff }): // Han
		return chinese
	}
	var best *language
	most := max(1, english.hits(foreign, words))
	for i := range languages[1:] {
		lang := &languages[1+i]
		if n := lang.hits(foreign, words); n > most || n == most && best == nil {
			best, most = lang, n
		}
	}
	return best
}

// hits counts the signs of lang: its frequent words, and twice the letters that it shares with
// few others.
func (lang *language) hits(foreign string, words *wordSet) (n int) {
	for w := range lang.list("common") {
		if words.hasAll(w) {
			n++
		}
	}
	for letters := range lang.list("letters") {
		if strings.ContainsAny(foreign, letters) {
			n += 2
		}
	}
	return n
}
