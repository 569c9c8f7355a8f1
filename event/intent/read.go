package intent

import (
	"bytes"
	"strings"

	"beckon/event"
)

// kind is the kind of block around a sentence.
type kind uint8

const (
	prose kind = iota
	heading
	item
	table
)

const (
	// maxSentences is how many sentences are compared with the tables, from the end; a message
	// of only question marks has thousands.
	maxSentences = 64
	// softWrap is the length in bytes from which a line counts as wrapped by an editor, so
	// that its sentence goes on in the next.
	softWrap = 60
)

// sentence is one sentence of a message, in the form phrases are written in.
type sentence struct {
	text     string
	kind     kind
	asks     bool // ends in a question mark
	aside    bool // has a question in brackets, or a question mark that may belong to an address
	boxed    bool // starts in brackets
	par      int  // number of its paragraph
	from, to int  // where it stands in reading.src
	lo, hi   int  // where it stands in reading.norm
	tags     tags
}

// reading is a message being parsed.
type reading struct {
	src    string // the window
	norm   []byte
	all    []sentence
	marked int // sentences before the last marker line, -1 without one
	any    bool
	waits  bool // work of the agent's own runs in the background

	par     int
	kind    kind
	open    bool // a sentence is being read
	depth   int  // open brackets
	now     sentence
	fence   string // the open code fence, "" outside of one
	blank   bool   // the line before was blank
	listed  bool   // a list item is being continued
	literal bool   // inside an indented code block
}

// read splits text into sentences.
func (r *reading) read(text string) {
	r.src = window(text)
	r.marked, r.blank = -1, true
	if inCode(r.src) {
		r.fence = "```"
	}
	from := 0
	for line := range strings.SplitSeq(r.src, "\n") {
		r.line(from, from+len(line))
		from += len(line) + 1
	}
	r.endSentence(len(r.src), false)
	r.tag()
}

// window returns the last Window bytes of text, from the start of a line or, in a very long
// line, of a word.
func window(text string) string {
	if len(text) <= Window {
		return text
	}
	text = event.CutTail(text, Window)
	for _, sep := range []string{"\n", " "} {
		if i := strings.Index(text, sep); i >= 0 && i < Window/2 {
			return text[i+1:]
		}
	}
	return text
}

// inCode reports whether s begins inside a code block: it has an odd number of fences, and the
// first one is plain and right below a line that does not introduce it.
func inCode(s string) bool {
	closes, fences, before := false, 0, ""
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		if f, plain := fenceOf(line); f != "" {
			if fences++; fences == 1 {
				closes = plain && before != "" && !strings.HasSuffix(before, ":")
			}
		}
		before = line
	}
	return closes && fences%2 == 1
}

// fenceOf returns the fence that a trimmed line starts with, "" for none; plain means without an
// info string.
func fenceOf(line string) (f string, plain bool) {
	rest := strings.TrimLeft(line, "`")
	if rest == line {
		rest = strings.TrimLeft(line, "~")
	}
	n := len(line) - len(rest)
	if n < 3 || strings.Contains(rest, "`") {
		return "", false
	}
	return line[:n], rest == ""
}

// run returns how often the byte at s[i] is repeated from there.
func run(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

// line reads the line src[from:to].
func (r *reading) line(from, to int) {
	from, to, indent := trim(r.src, from, to)
	line := r.src[from:to]
	r.any = r.any || line != ""
	switch f, plain := fenceOf(line); {
	case f != "" && (r.fence == "" || plain && strings.HasPrefix(f, r.fence)):
		r.endParagraph(from)
		r.blank = false
		if r.fence != "" {
			f = ""
		}
		r.fence = f
	case r.fence != "":
	case line == "":
		r.endParagraph(from)
	case indent >= 4 && !r.listed && (r.blank || r.literal):
		r.literal, r.blank = true, false
	case isMarker(line):
		r.endParagraph(from)
		r.marked = len(r.all)
	case line[0] == '>':
		r.endParagraph(from)
	default:
		r.text(from, to, indent)
	}
}

func (r *reading) endParagraph(at int) {
	r.endSentence(at, false)
	r.par++
	r.blank, r.literal = true, false
}

// trim returns the bounds of src[from:to] without surrounding space, and its indentation in
// columns.
func trim(src string, from, to int) (int, int, int) {
	line := strings.TrimLeft(src[from:to], " \t")
	lead := src[from : to-len(line)]
	from += len(lead)
	return from, from + len(strings.TrimRight(line, " \t\r")), len(lead) + 3*strings.Count(lead, "\t")
}

// isMarker reports whether a line is the marker that an agent can be asked to end its work
// with.
func isMarker(line string) bool {
	what, rest, ok := strings.Cut(strings.TrimLeft(line, "-*#=_ "), " COMPLETE")
	return ok && (what == "TASK" || what == "COMMAND") &&
		(rest == "" || strings.IndexByte(" -:*", rest[0]) >= 0 || strings.HasPrefix(rest, "—"))
}

// text reads a line of the agent's own words.
func (r *reading) text(from, to, indent int) {
	k, skip, unchecked := r.blockOf(r.src[from:to], indent)
	if k != r.kind || skip > 0 || k == heading || k == table {
		r.endSentence(from, false)
		if k != r.kind {
			r.par++
		}
		r.kind = k
	}
	if unchecked {
		r.now.tags |= lacking
	}
	r.listed = k == item
	r.literal, r.blank = false, false
	r.inline(from+skip, to)
	if k == heading || to-from < softWrap {
		r.endSentence(to, false)
	}
}

// blockOf returns the kind of a line, the length of its list marker, and
// whether that is an empty check box.
func (r *reading) blockOf(line string, indent int) (k kind, skip int, unchecked bool) {
	if n, open := bullet(line); n > 0 {
		return item, n, open
	}
	switch {
	case line[0] == '|':
		return table, 0, false
	case isHeading(line):
		return heading, 0, false
	case r.listed && (!r.blank || indent >= 2):
		return item, 0, false
	}
	return prose, 0, false
}

// isHeading reports whether a line is a heading: marked as one, or all bold
// and no question.
func isHeading(line string) bool {
	if line[0] == '#' {
		n := run(line, 0)
		return n <= 6 && n < len(line) && line[n] == ' '
	}
	if !strings.HasPrefix(line, "**") {
		return false
	}
	line = strings.TrimSuffix(line, ":")
	bold, ok := strings.CutSuffix(line[2:], "**")
	return ok && !strings.Contains(bold, "**") && !strings.HasSuffix(bold, "?") && !strings.HasSuffix(bold, "？")
}

// bullet returns the length of the list marker that line starts with ("-", "1.", "a)"), 0
// without one; open is an empty check box.
func bullet(line string) (n int, open bool) {
	plain, bold := strings.CutPrefix(line, "**")
	mark, rest, ok := strings.Cut(plain, " ")
	name := strings.TrimSuffix(strings.TrimSuffix(mark, "."), ")")
	number := name != "" && len(name) <= 3 && strings.Trim(name, "0123456789") == ""
	letter := len(name) == 1 && wordByte(name[0])
	dash := mark == "•" || !bold && (mark == "-" || mark == "*" || mark == "+")
	if !ok || !dash && (len(mark) != len(name)+1 || !number && !letter) {
		return 0, false
	}
	n = len(line) - len(rest)
	if box := rest[:min(len(rest), 4)]; box == "[ ] " || box == "[x] " || box == "[X] " {
		return n + 4, box == "[ ] "
	}
	return n, false
}

// endSentence ends the sentence being read at src[at].
func (r *reading) endSentence(at int, asks bool) {
	hi := r.now.lo + len(bytes.TrimRight(r.norm[r.now.lo:], " |"))
	if r.open && hi > r.now.lo {
		r.now.hi, r.now.to = hi, at
		r.now.kind, r.now.par, r.now.asks = r.kind, r.par, asks
		r.all = append(r.all, r.now)
	}
	r.open = false
	r.now = sentence{}
}

// tag gives the last sentences their text and families; earlier ones are
// dropped.
func (r *reading) tag() {
	if drop := len(r.all) - maxSentences; drop > 0 {
		r.all = r.all[drop:]
		if r.marked >= 0 {
			r.marked = max(0, r.marked-drop)
		}
	}
	norm := string(r.norm)
	var words wordSet
	for i := range r.all {
		s := &r.all[i]
		s.text = norm[s.lo:s.hi]
		words.add(s.text)
	}
	english.tag(r.all, &words)
	if other := otherLanguage(norm, &words); other != nil {
		other.tag(r.all, &words)
	}
}
