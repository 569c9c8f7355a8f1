package installer

import "slices"

// Word returns the operation that puts a word into the list of that name at the top of a JSON file,
// or takes it out. added are the words that were put in by it, which are taken out in the end.
func Word(list, word string, on bool, added []string) Op {
	in := func(text []byte, words ...string) bool {
		d, err := readWords(text)
		return err == nil && slices.ContainsFunc(d.words(list),
			func(m item) bool { return slices.Contains(words, stringValue(*m.value)) })
	}
	edit := func(old []byte) ([]byte, []string, error) {
		if on == in(old, word) {
			return old, nil, nil
		}
		d, err := readWords(old)
		if err != nil {
			return nil, nil, err
		}
		if on {
			err = d.addWord(list, word)
		} else {
			err = d.dropWord(list, word)
		}
		mark, _ := cutBOM(old)
		return slices.Concat(mark, d.text), nil, err
	}
	return Op{edit: edit, owns: func(text []byte) bool { return in(text, added...) }}
}

// List returns the operation that makes a list at the top of a JSON file value, or removes it if value
// is nil. ours are the values that it has put there.
func List(name string, value []string, ours ...[]string) Op {
	in := func(text []byte) (list []string) {
		if d, err := readWords(text); err == nil {
			for _, m := range d.words(name) {
				list = append(list, stringValue(*m.value))
			}
		}
		return list
	}
	edit := func(old []byte) ([]byte, []string, error) {
		d, err := readWords(old)
		if err != nil {
			return nil, nil, err
		}
		top, _ := items(&d.file)
		at := slices.IndexFunc(top, func(m item) bool { return m.name == name })
		switch {
		case at < 0 && value == nil, at >= 0 && slices.Equal(in(old), value) && value != nil:
			return old, nil, nil
		case at < 0:
			err = d.put(d.layout(), &d.file, name, value, 0)
		case value == nil:
			err = d.cut(&d.file, at)
		default:
			v := top[at].value
			err = d.splice(v.StartOffset, v.EndOffset, d.layout().text(value, 1))
		}
		if value == nil && isNothing(d.text) && len(comments(d.file.BeforeExtra, d.file.AfterExtra)) == 0 {
			return nil, nil, err // no file says the same
		}
		mark, _ := cutBOM(old)
		return slices.Concat(mark, d.text), nil, err
	}
	return Op{edit: edit, owns: func(text []byte) bool {
		list := in(text)
		return list != nil && slices.ContainsFunc(ours, func(of []string) bool { return slices.Equal(of, list) })
	}}
}

func readWords(text []byte) (*document, error) {
	_, text = cutBOM(text)
	if isBlank(text) {
		text = []byte("{}\n")
	}
	return parseTree(text)
}

// words returns the elements of the list.
func (d *document) words(list string) []item {
	if v := member(&d.file, list); v != nil && v.Value.Kind() == '[' {
		all, _ := items(v)
		return all
	}
	return nil
}

func (d *document) addWord(list, word string) error {
	l := d.layout()
	v := member(&d.file, list)
	switch {
	case v == nil:
		return d.put(l, &d.file, list, []string{word}, 0)
	case v.Value.Kind() != '[':
		return problemAt(d.text, v.StartOffset, list, "not a list", "correct it")
	}
	if l.newline != "" && !slices.Contains(d.text[v.StartOffset:v.EndOffset], '\n') {
		l = layout{spaced: true} // the list stands on one line
	}
	return d.put(l, v, "", word, 1)
}

// dropWord takes a word out, and the list when it was the last one.
func (d *document) dropWord(list, word string) error {
	top, _ := items(&d.file)
	at := slices.IndexFunc(top, func(m item) bool { return m.name == list })
	words, _ := items(top[at].value)
	i := slices.IndexFunc(words, func(m item) bool { return stringValue(*m.value) == word })
	return d.cutPath([]place{{&d.file, at}, {top[at].value, i}})
}
