package command

import (
	"slices"
	"strings"
)

// maxStrange is how many words after a wrapper's flags may be their values.
const maxStrange = 6

// rest walks over the words after a wrapper as a command.
func (w *walker) rest(at int, c Command, in stream, join bool) {
	words := c.Words[c.Args.rest:]
	if len(words) == 0 {
		return
	}
	if join {
		w.shell(at, joined(words, " "))
		return
	}
	if !c.Args.spec().is("more") {
		w.within(at, func() {
			w.run(words, nil, in)
			for n := 1; n <= min(3*c.Args.strange, maxStrange, len(words)-1); n++ {
				if words[n].Text != "--" { // where the words before are values
					w.run(words[n:], nil, in)
				}
			}
		})
		return
	}
	more := !in.some || !in.text.Known
	words = w.fed(c, words, in)
	w.within(at, func() {
		first := len(w.line.Commands)
		w.run(words, nil, stream{})
		if more && first < len(w.line.Commands) {
			w.line.Commands[first].More = true
			w.moreText(first)
		}
	})
}

// fed inserts the words of the input where xargs does.
func (w *walker) fed(c Command, words []Word, in stream) []Word {
	if !in.some {
		return words
	}
	var list []Word
	if in.text.Known {
		for text := range strings.FieldsSeq(strings.ReplaceAll(in.text.Text, "\x00", " ")) {
			list = append(list, known(strings.Trim(text, `'"`)))
		}
	}
	at := slices.IndexFunc(c.Args.Flags, func(f Flag) bool { return f.Name == "-I" })
	if at < 0 {
		return append(slices.Clone(words), list...)
	}
	mark := c.Args.Flags[at].Value.Text
	if mark == "" {
		mark = "{}"
	}
	text := joined(list, " ")
	if !in.text.Known {
		text = unknownWord
	}
	out := slices.Clone(words)
	for i, word := range out {
		if before, after, ok := strings.Cut(word.Text, mark); ok && word.Known {
			out[i] = joined([]Word{known(before), text, known(after)}, "")
		}
	}
	return out
}

// moreText marks a shell or interpreter that gets its text from xargs: it runs what the line
// does not show.
func (w *walker) moreText(at int) {
	a := w.line.Commands[at].Args
	if len(a.specs) > 0 && len(a.Operands) == 0 && a.specs[0].stdin != "" {
		w.unknown(a.Program + " runs a text that is not in the line")
	}
}

// parallel walks over its words with each of those that follow :::, or of its input.
func (w *walker) parallel(at int, c Command, in stream) {
	words := c.Words[1:]
	if c.Args.rest > 0 {
		words = c.Words[c.Args.rest:]
	}
	var inputs []Word
	if i := slices.IndexFunc(words, func(v Word) bool { return strings.HasPrefix(v.Text, ":::") }); i >= 0 {
		words, inputs = words[:i], words[i+1:]
	} else if in.some && in.text.Known {
		for line := range strings.Lines(in.text.Text) {
			inputs = append(inputs, known(strings.TrimSpace(line)))
		}
	}
	if len(words) > 0 && words[0].Known && strings.HasPrefix(words[0].Text, "-") {
		words = nil
	}
	text := joined(words, " ")
	if len(inputs) == 0 {
		inputs = []Word{unknownWord}
	}
	for _, input := range inputs {
		before, after, ok := strings.Cut(text.all(), "{}")
		if !ok {
			before += " "
		}
		w.shell(at, joined([]Word{{Text: before, Known: text.Known, shell: before}, input, known(after)}, ""))
	}
}
