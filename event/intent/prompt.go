package intent

import "strings"

// maxAffirmation is the longest prompt, in bytes, that can be a bare affirmation; the client's
// plan dialog sends the longest.
const maxAffirmation = 80

// affirms reports whether a prompt is only approval: one or more of the languages'
// affirmations.
func affirms(text string) bool {
	if len(text) > maxAffirmation {
		return false
	}
	var r reading
	r.src, r.marked = text, -1
	r.inline(0, len(text))
	r.endSentence(len(text), false)
	for i := range r.all {
		s := &r.all[i]
		if s.asks || !affirmsAll(string(r.norm[s.lo:s.hi])) {
			return false
		}
	}
	return len(r.all) > 0
}

// affirmsAll reports whether s is made of affirmations only.
func affirmsAll(s string) bool {
	for s != "" {
		n := affirmation(s)
		if n == 0 {
			return false
		}
		s = strings.TrimLeft(s[n:], " ")
	}
	return true
}

// affirmation returns the length of the longest affirmation s starts with.
func affirmation(s string) int {
	best := 0
	for _, lang := range languages {
		for p := range lang.list(names[affirming]) {
			if len(p) > best && strings.HasPrefix(s, p) && (lang.dense || bounded(s, 0, len(p))) {
				best = len(p)
			}
		}
	}
	return best
}
