package intent

import (
	"slices"
	"strings"
)

// minIng is the length of the longest word that ends like such a verb and is none ("king").
const minIng = 4

// verbs are the words of a language that say what was done and what is being done.
type verbs struct {
	// done and results are past participles of what agents do. One of them at the start of a
	// sentence, after only words of lead, or right after one of doer anywhere, is the agent's
	// work; one of results also after one of passive: "is fixed" is work done, "is created"
	// may be how the program works.
	done, results, lead, doer, passive []string
	// negations before a verb deny that it was done.
	negations []string
	// ing ends a verb in progress ("Updating the docs"), unless the sentence starts with one
	// of notIng or has a verb of its own: one of finite or a word that ends in past. After one
	// of busy ("I'm", "still") it counts anywhere.
	ing, notIng, finite, past, busy []string
}

func (lang *language) verbs() *verbs {
	list := func(name string) []string { return slices.Collect(lang.list(name)) }
	return &verbs{
		done: list("done"), results: list("results"), lead: list("lead"), doer: list("doer"), passive: list("passive"),
		negations: list(
			"negations",
		), ing: list("ing"), notIng: list("notIng"), finite: list("finite"), past: list("past"), busy: list("busy"),
	}
}

// isWorking reports whether s describes present work: "Updating the docs now", "I'm looking
// into it", "the tests are still running".
func (v *verbs) isWorking(s string) bool {
	first, rest, _ := strings.Cut(s, " ")
	if v.isIng(first) && !v.hasVerb(rest) {
		return true
	}
	before := first
	for word := range strings.SplitSeq(rest, " ") {
		if slices.Contains(v.busy, before) && v.isIng(word) {
			return true
		}
		before = word
	}
	return false
}

func (v *verbs) isIng(word string) bool {
	return len(word) > minIng && endsIn(word, v.ing) && !slices.Contains(v.notIng, word)
}

// hasVerb reports whether one of the words of s is a finite verb.
func (v *verbs) hasVerb(s string) bool {
	for word := range strings.SplitSeq(s, " ") {
		if slices.Contains(v.finite, word) || endsIn(word, v.past) {
			return true
		}
	}
	return false
}

// didWork reports whether s reports work done with one of the language's
// verbs: "I've added", "is fixed", or the bare verb at the start.
func (v *verbs) didWork(s string) bool {
	before, start := "", true
	for word := range strings.SplitSeq(s, " ") {
		switch {
		case word == partWord:
			start = true
			continue
		case slices.Contains(v.negations, word):
			return false
		case (start || slices.Contains(v.doer, before)) && (slices.Contains(v.done, word) || slices.Contains(v.results, word)):
			return true
		case slices.Contains(v.passive, before) && slices.Contains(v.results, word):
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

func endsIn(word string, endings []string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}
