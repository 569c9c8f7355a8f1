package intent

import (
	"slices"
	"strings"
)

const (
	tailLength = 16 // sentences from the end that may contain the question that a person has to answer
	endLength  = 5  // sentences from the end that say what comes next
	lateProse  = 3  // sentences that may follow a request without question mark

	// A sentence of so few words, or bytes in languages without spaces, after a question is only
	// an addition: "Thanks!", "(y/n)", an address.
	shortWords, shortBytes = 3, 30
)

// decide returns the rule that matches the message and, for a question, the sentence that
// asks; -1 without one.
func (r *reading) decide() (rule string, at int) {
	if !r.any {
		return "empty", -1
	}
	if rule, at := r.asked(); at >= 0 {
		return rule, at
	}
	if r.marked >= 0 {
		return "marker", -1
	}
	if rule, at := r.halted(); at >= 0 {
		return rule, at
	}
	return r.over(), -1
}

// asked looks for the question that is open at the end, from the end.
func (r *reading) asked() (rule string, at int) {
	first := max(r.tail(tailLength), r.marked)
	for i := len(r.all) - 1; i >= first; i-- {
		if rule := r.evaluate(i); rule != "" {
			return rule, r.firstOfList(i)
		}
	}
	return "", -1
}

// tail returns where the last n sentences begin; a list or table counts as
// part of the sentence that introduces it.
func (r *reading) tail(n int) int {
	i := len(r.all)
	for i > 0 && n > 0 {
		i--
		if r.all[i].kind == prose || r.all[i].kind == heading {
			n--
		}
	}
	return i
}

// evaluate returns the rule by which sentence i is an open question, "" for none.
func (r *reading) evaluate(i int) string {
	s := &r.all[i]
	switch {
	case s.kind == table || s.tags.has(quoting):
		return ""
	case !s.asks && !(s.aside && s.tags.has(addressing)):
		return r.evaluatePhrase(i)
	case s.kind == item:
		return r.evaluateItem(i)
	}
	return r.evaluateMark(i)
}

// evaluateMark judges a sentence that ends in a question mark.
func (r *reading) evaluateMark(i int) string {
	s := &r.all[i]
	last := r.proseAfter(i) == 0
	switch {
	case s.tags.has(closing) && !s.tags.has(insisting) && !r.hasOptions(i):
		return ""
	case s.kind == heading && i+1 < len(r.all):
		return ""
	case (!last || r.replied(i)) && r.selfAnswered(i):
		return ""
	case s.tags.has(continuing):
		return "asks-to-continue"
	case last:
		return "asks-last"
	}
	return "asks-before"
}

// hasOptions reports whether there are options around the question i.
func (r *reading) hasOptions(i int) bool {
	if i+1 < len(r.all) && r.all[i+1].kind == item {
		return true
	}
	return r.tagsIn(i-tailLength/2, i).has(optional)
}

// replied reports whether a few words right after the question i answer it.
func (r *reading) replied(i int) bool {
	if i+1 == len(r.all) {
		return false
	}
	s := &r.all[i+1]
	answers := s.tags.has(answering) || r.all[i].tags.has(musing)
	return answers && s.kind == prose && s.par == r.all[i].par && !s.boxed && !s.tags.has(asking) && !s.tags.has(closing)
}

// selfAnswered reports whether the text after the question i answers it.
func (r *reading) selfAnswered(i int) bool {
	next := &r.all[i+1]
	if next.tags.has(reasoning) {
		return false
	}
	t := r.all[i].tags
	decides := t.has(addressing) && !t.has(musing) && !t.has(wondering)
	answered := next.par == r.all[i].par && (next.tags.has(answering) || next.tags.has(stating) && !decides)
	switch {
	case t.has(addressing):
		return answered
	case t.has(musing):
		return true
	case t.has(wondering):
		return next.par == r.all[i].par || r.all[i].short() || r.proseAfter(i) > lateProse
	case r.waits:
		return true // what still runs will tell
	}
	return answered || r.all[i].short() && next.par == r.all[i].par || r.proseAfter(i) > lateProse
}

// worked reports whether work was reported done up to sentence i.
func (r *reading) worked(i int) bool {
	return r.marked >= 0 || r.tagsIn(0, i).has(finishing)
}

// evaluateItem judges a question in a list: what introduces the list counts.
func (r *reading) evaluateItem(i int) string {
	s := &r.all[i]
	intro := r.introOf(i)
	if intro >= 0 {
		t := r.all[intro].tags
		switch {
		case t.has(made | quoting):
			return ""
		case t.has(listing | insisting | asking):
			return "asks-in-list"
		case t.has(finishing):
			return ""
		}
	}
	if r.proseAfter(i) == 0 && (s.tags.has(addressing) || i+1 == len(r.all)) {
		return "asks-in-list"
	}
	return ""
}

// introOf returns the sentence that introduces the list around i, or -1.
func (r *reading) introOf(i int) int {
	for i >= 0 && r.all[i].kind == item {
		i--
	}
	return i
}

// firstOfList returns the first question of the list around i.
func (r *reading) firstOfList(i int) int {
	for j := r.introOf(i) + 1; j < i; j++ {
		if r.all[j].asks {
			return j
		}
	}
	return i
}

// evaluatePhrase judges a sentence without question mark.
func (r *reading) evaluatePhrase(i int) string {
	s := &r.all[i]
	if !s.tags.has(insisting) && (!s.tags.has(asking) || s.tags.has(closing) || s.kind != prose) {
		return ""
	}
	if s.tags.has(granting) && s.tags.has(finishing) && !s.tags.has(going) {
		return "" // the approval was given
	}
	if r.worked(i+1) &&
		(s.tags.has(preferring) || (s.tags.has(opining) || s.tags.has(handing)) && !s.tags.has(insisting)) {
		return ""
	}
	if r.waits && s.tags.has(waiting) && !s.tags.has(naming) {
		return "" // for its own work
	}
	if s.kind == heading && i+1 < len(r.all) || r.proseAfter(i) > lateProse {
		return ""
	}
	if slices.ContainsFunc(r.all[i+1:], resumes) {
		return ""
	}
	return "asks-by-phrase"
}

// resumes reports whether a sentence, after a request, shows that the agent did not wait for
// the answer.
func resumes(s sentence) bool {
	return s.tags.has(finishing) || s.tags.has(going) && s.kind == prose && !s.tags.has(hinging)
}

// proseAfter returns how many sentences of running text follow sentence i, without polite,
// very short and bracketed ones.
func (r *reading) proseAfter(i int) int {
	n := 0
	for j := i + 1; j < len(r.all); j++ {
		s := &r.all[j]
		if s.kind == prose && !s.boxed && !s.tags.has(closing) && !s.short() {
			n++
		}
	}
	return n
}

// short reports whether a sentence is only an addition to the one before it.
func (s *sentence) short() bool {
	return len(s.text) < shortBytes && strings.Count(s.text, " ") < shortWords
}

// halted looks for unfinished work: the end says what comes next, what stands in the way or
// what is missing, and nothing after it reports success.
func (r *reading) halted() (rule string, at int) {
	first := r.tail(endLength)
	for i := len(r.all) - 1; i >= first; i-- {
		s := &r.all[i]
		switch {
		case s.tags.has(going) && !s.tags.has(asking) && !s.tags.has(closing):
			return "going-on", i
		case s.tags.has(blocking):
			return "blocked", i
		case s.tags.has(lacking):
			return "unfinished", i
		case (s.tags.has(blockedOnce) || s.tags.has(pleading) && !s.tags.has(handing|quoting)) && !r.worked(len(r.all)):
			return "blocked", i
		case s.tags.has(finishing):
			return "", -1
		}
	}
	return "", -1
}

// over distinguishes the ways in which finished work is reported.
func (r *reading) over() string {
	all, end := r.tagsIn(0, len(r.all)), r.tagsIn(r.tail(endLength), len(r.all))
	worked := all.has(finishing | summing)
	closed := end.has(closing) || end.has(opining) && worked
	handed := end.has(handing) || end.has(pleading) && worked
	switch {
	case closed && worked:
		return "done-closes"
	case handed && worked:
		return "done-hands-over"
	case closed:
		return "closes"
	case handed:
		return "hands-over"
	case end.has(offering) && all.has(finishing):
		return "offers"
	case all.has(summing):
		return "summary"
	case all.has(finishing):
		return "done"
	}
	return "states"
}

// tagsIn returns the families of the sentences from the first-th up to another. A list more
// often says what was done than what to do.
func (r *reading) tagsIn(first, to int) (t tags) {
	for _, s := range r.all[max(0, first):to] {
		if s.kind == item {
			s.tags &^= handing | pleading
		}
		t |= s.tags
	}
	return t
}
