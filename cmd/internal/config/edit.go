package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/atomicfile"
	"beckon/event/plainfile"

	"github.com/tailscale/hujson"
)

// Set sets the key name to the list value in the file at path, or removes the key if value is
// nil, and reports whether that changed anything. Every other byte stays, comments too; a file
// that Load rejects is rejected and not touched.
func Set(path, name string, value []string) (changed bool, err error) {
	c, err := Plan(path, name, value)
	if err != nil || (c.Old == nil) == (c.New == nil) && bytes.Equal(c.Old, c.New) {
		return false, err
	}
	if c.New == nil {
		err = os.Remove(c.File)
	} else {
		err = atomicfile.Write(c.File, c.New, c.mode, true)
	}
	if err != nil {
		return false, fmt.Errorf("writing configuration: %w", err)
	}
	return true, nil
}

// change is what Set would do to a file.
type change struct {
	File     string // the real file, links resolved
	Old, New []byte // nil: there is no file, or it is to be removed

	mode fs.FileMode
}

// Plan returns what Set would do, with the same errors. It writes nothing.
func Plan(path, name string, value []string) (c change, err error) {
	if _, _, err := Load(path); err != nil {
		return c, err
	}
	if c.File, c.mode, c.Old, err = current(path); err != nil {
		return c, fmt.Errorf("reading configuration: %w", err)
	}
	text, err := with(string(c.Old), name, value)
	if c.New = []byte(text); value == nil && strings.Join(strings.Fields(text), "") == "{}" {
		c.New = nil // no file says the same
	}
	return c, err
}

// current reads the file that path leads to; a missing one is empty.
func current(path string) (file string, mode fs.FileMode, data []byte, err error) {
	file, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil, nil
	}
	if err != nil {
		return "", 0, nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", 0, nil, err
	}
	data, err = plainfile.ReadFile(file)
	return file, info.Mode().Perm(), data, err
}

// with returns text with the member name set to value, or without it if value is nil.
func with(text, name string, value []string) (string, error) {
	empty := strings.TrimSpace(text) == ""
	if empty {
		text = "{}"
	}
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return "", err
	}
	members := v.Value.(*hujson.Object).Members // Load has checked that it is an object
	named := func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name }
	i := slices.IndexFunc(members, named)
	switch {
	case value == nil && i < 0:
		return text, nil
	case value == nil:
		return without(text, members, i), nil
	}
	list, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	written := strings.ReplaceAll(string(list), `","`, `", "`)
	switch {
	case empty:
		return fmt.Sprintf("{\n  %q: %s\n}\n", name, written), nil
	case i >= 0:
		at := members[i].Value
		return text[:at.StartOffset] + written + text[at.EndOffset:], nil
	}
	return appended(text, v, fmt.Sprintf("%q: %s", name, written)), nil
}

// without returns text without the i-th member, its comma and, if nothing else is on it, its
// line.
func without(text string, members []hujson.ObjectMember, i int) string {
	from, to := members[i].Name.StartOffset, members[i].Value.EndOffset
	comma := -1 // the comma to remove: the one after it, else the one before
	if i+1 < len(members) || members[i].Value.AfterExtra != nil {
		comma = to + len(members[i].Value.AfterExtra)
	} else if i > 0 {
		comma = members[i-1].Value.EndOffset + len(members[i-1].Value.AfterExtra)
	}
	head, tail := text[:from], text[to:]
	switch {
	case comma >= to:
		tail = text[to:comma] + text[comma+1:]
	case comma >= 0:
		head = text[:comma] + text[comma+1:from]
	}
	line := strings.LastIndexByte(head, '\n') + 1
	rest, ok := strings.CutPrefix(strings.TrimLeft(tail, " \t\r"), "\n")
	if ok && line > 0 && strings.TrimSpace(head[line:]) == "" {
		return head[:line] + rest
	}
	return strings.TrimRight(head, " \t") + tail
}

// appended adds a member after the last one, with the same indentation. A comment that follows
// the last value on its line stays with it.
func appended(text string, v hujson.Value, member string) string {
	object, end := v.Value.(*hujson.Object), v.EndOffset-1
	after, comma, indent := v.StartOffset+1, "", "  "
	if n := len(object.Members); n > 0 {
		last := object.Members[n-1]
		if after = last.Value.EndOffset; last.Value.AfterExtra == nil {
			comma = ","
		}
		line := text[:last.Name.StartOffset]
		line = line[strings.LastIndexByte(line, '\n')+1:]
		indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	}
	rest := text[after:end]
	if !strings.Contains(rest, "\n") {
		if len(object.Members) > 0 {
			member = " " + member
		}
		return text[:after] + comma + strings.TrimRight(rest, " \t") + member + text[end:]
	}
	body := strings.TrimRight(rest, " \t")
	return text[:after] + comma + body + indent + member + "\n" + rest[len(body):] + text[end:]
}
