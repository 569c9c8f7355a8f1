package installer

import (
	"os"
	"slices"
)

// List returns words in a list at the top of a JSON file; an empty list goes.
func (t Target) List(name string, words []string) Part {
	edit := func(old []byte, on bool) ([]byte, error) {
		d, err := parseTree(old)
		if err != nil {
			return nil, err
		}
		has := d.list(name)
		want := slices.DeleteFunc(slices.Clone(has), func(s string) bool { return !on && slices.Contains(words, s) })
		for _, w := range words {
			if on && !slices.Contains(want, w) {
				want = append(want, w)
			}
		}
		switch at, list := indexOf(&d.file, name); {
		case len(want) == len(has):
			return old, nil
		case list == nil:
			put(&d.file, name, want, 0)
		case list.Value.Kind() != '[':
			return nil, d.problem(list.StartOffset, name+": not a list", "correct it")
		case len(want) == 0:
			cut(&d.file, at)
		default:
			list.Value = valueOf(want).Value
		}
		now := d.bytes()
		if len(want) == 0 && isNothing(now) && comments(d.file.BeforeExtra, d.file.AfterExtra) == nil {
			return nil, nil // no file says the same
		}
		return now, nil
	}
	_, before := t.Listed(name)
	return Part{Target: t, edit: edit, owns: func(text []byte) bool {
		return slices.ContainsFunc(listed(text, name), func(s string) bool { return !slices.Contains(before, s) })
	}}
}

// Listed returns the words in a list at the top of a JSON file, and those that were there before the
// first edit of ours. A file that cannot be read has none.
func (t Target) Listed(name string) (now, before []string) {
	was, _ := readSettings(t.Path)
	now = listed(was.data, name)
	k := keptFor(t.Keep, was.file)
	if _, recorded := k.load(); !recorded {
		return now, now
	}
	old, _ := os.ReadFile(k.backup) // none if we made the file
	return now, listed(old, name)
}

func listed(text []byte, name string) []string {
	d, err := parseTree(text)
	if err != nil {
		return nil
	}
	return d.list(name)
}

// list returns the strings of a list at the top, nil without one.
func (d *document) list(name string) (list []string) {
	v := member(&d.file, name)
	if v == nil || v.Value.Kind() != '[' {
		return nil
	}
	all, _ := items(v)
	for _, m := range all {
		list = append(list, stringValue(*m.value))
	}
	return list
}
