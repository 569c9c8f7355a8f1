// Package nearest finds the word that was probably meant by one that is not
// known, for the hint beside an error. It is pure; it knows no language.
package nearest

import (
	"strconv"
	"strings"
)

// maxEdits is how many edits a slip may take, at most one for each two bytes; what is
// further away is another word.
const maxEdits = 2

// Word returns the first of words that takes the fewest single-byte edits to
// make from name, in any letter case; empty when each takes too many.
func Word(name string, words []string) string {
	best, least := "", min(maxEdits, len(name)/2)+1
	for _, w := range words {
		if d := distance(strings.ToLower(name), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// DidYouMean returns advice for a word that is not among words, empty when none is
// near.
func DidYouMean(name string, words []string) string {
	if word := Word(name, words); word != "" {
		return "did you mean " + strconv.Quote(word) + "?"
	}
	return ""
}

// distance is the Levenshtein distance of a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
