package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// partWord separates the parts of a sentence: a colon, semicolon or dash.
	partWord = "|"
	partMark = '|'
	// strange replaces what is not the agent's own words.
	strange = "_"
	// maxQuote is the longest quotation or inline code, in bytes: an unclosed apostrophe must
	// not swallow the text, nor cost a scan of it.
	maxQuote = 400
)

// inline reads src[i:end], the text of one line, into sentences.
func (r *reading) inline(i, end int) {
	if r.open {
		r.space()
	}
	r.depth = 0
	for i < end {
		c := r.src[i]
		switch {
		case c == '`':
			i = r.code(i, end)
		case c == '(' || c == '[':
			closer := ")]"[strings.IndexByte("([", c)]
			if strings.IndexByte(r.src[i:min(end, i+maxQuote)], closer) >= 0 {
				r.depth++
			}
			r.space()
			i++
		case c == ')' || c == ']':
			r.depth = max(0, r.depth-1)
			i = r.link(i, end)
		case (c == 'h' || c == 'w') && isURL(r.src[i:end]):
			i = r.address(i, end)
		case c == '.' || c == '!' || c == '?':
			i = r.stop(i, end)
		case c < utf8.RuneSelf:
			i = r.ascii(i, end)
		default:
			i = r.wide(i, end)
		}
	}
}

// ascii reads the letter, digit or mark at src[i].
func (r *reading) ascii(i, end int) int {
	c := r.src[i]
	switch {
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		r.put(c, i)
	case 'A' <= c && c <= 'Z':
		r.put(c+'a'-'A', i)
	case c == '"':
		return r.quotation(i, end, 1, `"`)
	case c == '\'':
		return r.apostrophe(i, end)
	case c == '_' && i > 0 && wordByte(r.src[i-1]) && i+1 < end && wordByte(r.src[i+1]):
		r.put(c, i)
	case c == '*' || c == '_' || c == '~' || c == '\\':
	case c == ';' || c == ':' && ended(r.src, i+1, end),
		c == '-' && strings.HasSuffix(r.src[:i], " ") && strings.HasPrefix(r.src[i+1:end], " "):
		r.part()
	default:
		r.space()
	}
	return i + 1
}

// wide reads the rune at src[i], which is not ASCII.
func (r *reading) wide(i, end int) int {
	c, n := utf8.DecodeRuneInString(r.src[i:end])
	switch c {
	case '“', '„', '«', '»', '「', '『':
		return r.quotation(i, end, n, "”“\"»«」』")
	case '‘', '‚':
		return r.quotation(i, end, n, "’‘")
	case '’':
		if r.open && i+n < end && wordByte(r.src[i+n]) {
			r.put('\'', i)
		}
	case '…':
		return r.stop(i, end)
	case '。', '！', '？', '．', '؟':
		r.endSentence(i+n, c == '？' || c == '؟')
	case '：', '；', '—', '–':
		r.part()
	default:
		if unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) {
			r.start(i)
			r.norm = utf8.AppendRune(r.norm, unicode.ToLower(c))
		} else {
			r.space()
		}
	}
	return i + n
}

// quotation skips the quotation that opens at src[i] with n bytes and ends
// with one of the closers; a mark that nothing closes is skipped alone.
func (r *reading) quotation(i, end, n int, closers string) int {
	from := i + n
	j := strings.IndexAny(r.src[from:min(end, from+maxQuote)], closers)
	if j < 0 {
		r.space()
		return from
	}
	r.word(strange, i)
	_, size := utf8.DecodeRuneInString(r.src[from+j:])
	return from + j + size
}

// apostrophe reads a single quote: inside a word, or around a quotation.
func (r *reading) apostrophe(i, end int) int {
	if i > 0 && (wordByte(r.src[i-1]) || r.src[i-1] >= utf8.RuneSelf) {
		if i+1 < end && wordByte(r.src[i+1]) {
			r.put('\'', i)
		}
		return i + 1
	}
	for j := i + 1; j < min(end, i+1+maxQuote); j++ {
		if r.src[j] == '\'' && (j+1 == end || !wordByte(r.src[j+1])) {
			r.word(strange, i)
			return j + 1
		}
	}
	return i + 1
}

// answers are what readers are told to type, in the languages' words for yes and no.
var answers = [...]string{
	"yes", "y", "no", "n", "y/n", "yes/no", "ok", "go", "continue", "ja", "j", "oui", "o", "sí", "si", "s", "sim",
	"はい", "是", "好",
}

// spoken returns the word for inline code: "yes" for each of answers.
func spoken(code string) string {
	if slices.ContainsFunc(answers[:], func(a string) bool { return strings.EqualFold(code, a) }) {
		return "yes"
	}
	return strange
}

// code skips inline code.
func (r *reading) code(i, end int) int {
	n := run(r.src[:end], i)
	for j := i + n; j < min(end, i+n+maxQuote); j++ {
		if r.src[j] != '`' {
			continue
		}
		m := run(r.src[:end], j)
		if m == n {
			r.word(spoken(r.src[i+n:j]), i)
			return j + m
		}
		j += m - 1
	}
	return i + n
}

// link skips the address of a Markdown link whose text ends at src[i].
func (r *reading) link(i, end int) int {
	r.space()
	if r.src[i] == ']' && i+1 < end && r.src[i+1] == '(' {
		if j := strings.IndexByte(r.src[i:min(end, i+maxQuote)], ')'); j >= 0 {
			return i + j + 1
		}
	}
	return i + 1
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "www.")
}

// address skips a URL, but not the punctuation after it. A question mark may belong to either:
// it makes a question only of what sounds like one.
func (r *reading) address(i, end int) int {
	r.word(strange, i)
	url := r.src[i:end]
	if j := strings.IndexAny(url, " \t<>\"'`)]}|"); j >= 0 {
		url = url[:j]
	}
	return i + len(strings.TrimRight(url, ".,;:!*_"))
}

// stop reads the full stops, exclamation and question marks at src[i], which
// end a sentence when space or the end of the line follows them.
func (r *reading) stop(i, end int) int {
	marks := r.src[i : end-len(strings.TrimLeft(r.src[i:end], ".!?…"))]
	at, asks := i+len(marks), strings.Contains(marks, "?")
	j := end - len(strings.TrimLeft(r.src[at:end], "*_~"))
	dot := at == i+1 && r.src[i] == '.'
	switch {
	case r.depth == 0 && ended(r.src, j, end) && !(dot && j < end && r.abbreviated()):
		r.endSentence(at, asks)
	case dot && r.open && !ended(r.src, j, end):
		r.put('.', i)
	default:
		r.now.aside = r.now.aside || asks && r.open && r.depth > 0
		r.space()
	}
	return j
}

// ended reports whether a word ends before src[i].
func ended(src string, i, end int) bool {
	return i >= end || strings.IndexByte(" \t)]|", src[i]) >= 0
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// abbreviated reports whether the word before a full stop is an abbreviation.
func (r *reading) abbreviated() bool {
	word := string(r.norm[r.now.lo:])
	switch word[strings.LastIndexByte(word, ' ')+1:] {
	case "e.g", "i.e", "eg", "ie", "etc", "vs", "approx", "cf", "z.b", "d.h", "bzw", "p.ej", "ex":
		return true
	}
	return false
}

// start begins a sentence at src[at] unless one is being read.
func (r *reading) start(at int) {
	if !r.open {
		r.open = true
		r.now.from, r.now.lo = at, len(r.norm)
		r.now.boxed = r.depth > 0
	}
}

// put adds a byte to the word being read.
func (r *reading) put(c byte, at int) {
	r.start(at)
	r.norm = append(r.norm, c)
}

// space ends the word being read.
func (r *reading) space() {
	if r.open && len(r.norm) > r.now.lo && r.norm[len(r.norm)-1] != ' ' {
		r.norm = append(r.norm, ' ')
	}
}

// word adds a whole word.
func (r *reading) word(w string, at int) {
	r.start(at)
	r.space()
	r.norm = append(r.norm, w...)
	r.norm = append(r.norm, ' ')
}

// part ends a part of the sentence.
func (r *reading) part() {
	if r.open && len(r.norm) > r.now.lo {
		r.word(partWord, 0)
	}
}
