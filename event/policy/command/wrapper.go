package command

import (
	"cmp"
	"iter"
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
	w.within(at, func() {
		first := len(w.line.Commands)
		for list := range fed(c.Args, words, in) {
			if w.spent() {
				return
			}
			w.run(list, nil, stream{})
		}
		if more && first < len(w.line.Commands) {
			w.line.Commands[first].More = true
			w.moreText(first)
		}
	})
}

// fed yields the words of each command that xargs runs: with those of the input behind them,
// or with -I in their place.
func fed(a Args, words []Word, in stream) iter.Seq[[]Word] {
	return func(yield func([]Word) bool) {
		at := slices.IndexFunc(a.Flags, func(f Flag) bool { return f.Name == "-I" || f.Name == "-i" })
		switch {
		case !in.some:
			yield(words)
			return
		case at < 0:
			yield(slices.Concat(words, items(a, in, false)))
			return
		}
		mark := cmp.Or(a.Flags[at].Value.Text, "{}")
		for _, item := range items(a, in, true) {
			if !yield(inserted(words, mark, item)) {
				return
			}
		}
	}
}

// inserted returns words with an item in place of the mark.
func inserted(words []Word, mark string, item Word) []Word {
	out := slices.Clone(words)
	for i, word := range out {
		if before, after, ok := strings.Cut(word.Text, mark); ok && word.Known {
			out[i] = joined([]Word{known(before), item, known(after)}, "")
		}
	}
	return out
}

// items returns the words that xargs reads from its input: whole lines if they are inserted.
func items(a Args, in stream, inserts bool) (list []Word) {
	if !in.text.Known {
		if inserts {
			return []Word{unknownWord}
		}
		return nil
	}
	text, end := in.text.Text, ""
	if inserts {
		end = "\n"
	}
	for _, f := range a.Flags {
		switch f.Name {
		case "-0":
			end = "\x00"
		case "-d":
			end = unescape(f.Value.Text)
		}
	}
	if end == "" || end == "\n" && inserts {
		return xargWords(text, inserts)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, end), end) {
		list = append(list, known(part))
	}
	return list
}

// xargWords returns the words of a text, or its lines, as xargs reads them: quotes and
// backslashes keep blanks.
func xargWords(text string, lines bool) (list []Word) {
	var word strings.Builder
	var quote byte
	open := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote == 0 && c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			open = true
		case quote == 0 && (c == '\n' || !lines && (c == ' ' || c == '\t' || c == 0)):
			if open {
				list = append(list, known(word.String()))
			}
			word.Reset()
			open = false
		case open || c != ' ' && c != '\t':
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		list = append(list, known(word.String()))
	}
	return list
}

// moreText marks a shell, interpreter or wrapper that gets its text from xargs: it runs what the
// line does not show.
func (w *walker) moreText(at int) {
	a := w.line.Commands[at].Args
	if len(a.Operands) == 0 && a.rest == 0 && a.Carries() {
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
