package installer

import "slices"

// List returns the operation that makes a list at the top of a JSON file value, or removes it if value
// is empty. What is not in before is ours.
func List(name string, value, before []string) Op {
	edit := func(old []byte) ([]byte, error) {
		d, err := parseTree(old)
		if err != nil {
			return nil, err
		}
		top := d.members()
		at := slices.IndexFunc(top, func(m item) bool { return m.name == name })
		switch {
		case at < 0 && len(value) == 0, len(value) > 0 && slices.Equal(d.list(name), value):
			return old, nil
		case at < 0:
			put(&d.file, name, value, 0)
		case len(value) == 0:
			cut(&d.file, at)
		case top[at].value.Value.Kind() != '[':
			return nil, d.problem(top[at].value.StartOffset, name+": not a list", "correct it")
		default:
			top[at].value.Value = valueOf(value).Value
		}
		now := d.bytes()
		if len(value) == 0 && isNothing(now) && comments(d.file.BeforeExtra, d.file.AfterExtra) == nil {
			return nil, nil // no file says the same
		}
		return now, nil
	}
	return Op{edit: edit, owns: func(text []byte) bool {
		d, err := parseTree(text)
		return err == nil && slices.ContainsFunc(d.list(name), func(s string) bool { return !slices.Contains(before, s) })
	}}
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
