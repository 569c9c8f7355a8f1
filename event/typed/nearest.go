package typed

import (
	"strconv"
	"strings"
)

// maxEdits is how many edits a typing mistake may take, at most one for each two bytes; more
// make another word.
const maxEdits = 2

// Nearest returns the first of words that takes the fewest single-byte edits to make from name,
// ignoring letter case; "" if all take too many.
func Nearest(name string, words []string) string {
	best, least := "", min(maxEdits, len(name)/2)+1
	for _, w := range words {
		if d := distance(strings.ToLower(name), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// DidYouMean returns advice for a word that is not among words, "" if none is near.
func DidYouMean(name string, words []string) string {
	if word := Nearest(name, words); word != "" {
		return "did you mean " + strconv.Quote(word) + "?"
	}
	return ""
}

// distance returns the Levenshtein distance of a and b.
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
