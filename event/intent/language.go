package intent

import (
	_ "embed" // the tables
	"strings"
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

// The languages.
var (
	english  = language{code: "en", table: &englishTable}
	japanese = language{code: "ja", dense: true, table: &japaneseTable}
	chinese  = language{code: "zh", dense: true, table: &chineseTable}
)

// languages are all languages with tables. The first is always consulted, since agents mix it
// into the others.
var languages = [...]*language{
	&english,
	{code: "de", table: &germanTable},
	{code: "fr", table: &frenchTable},
	{code: "es", table: &spanishTable},
	{code: "pt", table: &portugueseTable},
	&japanese,
	&chinese,
}

// list ranges over the words of the list of that name.
func (lang *language) list(name string) func(yield func(string) bool) {
	_, rest, _ := strings.Cut(*lang.table, "\n"+name+": ")
	list, _, _ := strings.Cut(rest, "\n\n")
	return wordsOf(list)
}

// phrases ranges over the phrases of all families. A process that classifies one message needs
// each of them once, so it makes no lists of them.
func (lang *language) phrases(yield func(family, string) bool) {
	for list := range strings.SplitSeq(*lang.table, "\n\n") {
		name, list, _ := strings.Cut(list, ": ")
		f, ok := familyOf(name)
		if !ok {
			continue
		}
		for p := range wordsOf(list) {
			if !yield(f, p) {
				return
			}
		}
	}
}

// wordsOf ranges over the words of a list.
func wordsOf(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for list != "" {
			var word string
			word, list, _ = strings.Cut(list, ",")
			if !yield(strings.TrimSpace(word)) {
				return
			}
		}
	}
}
