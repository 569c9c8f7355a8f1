package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/atomicfile"

	"github.com/tailscale/hujson"
)

// Set gives the key name the list value in the file at path and reports whether
// that changed anything. Every other byte stays, comments too; a file that Load
// refuses is refused and not touched.
func Set(path, name string, value []string) (changed bool, err error) {
	if _, _, err := Load(path); err != nil {
		return false, err
	}
	file, mode, old, err := current(path)
	if err != nil {
		return false, fmt.Errorf("reading configuration: %w", err)
	}
	text, err := with(string(old), name, value)
	if err != nil || text == string(old) {
		return false, err
	}
	if err := atomicfile.Write(file, []byte(text), mode, true); err != nil {
		return false, fmt.Errorf("writing configuration: %w", err)
	}
	return true, nil
}

// current reads the file that path leads to; one that is not there is empty.
func current(path string) (file string, mode fs.FileMode, data []byte, err error) {
	file, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil, os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return "", 0, nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", 0, nil, err
	}
	data, err = os.ReadFile(file)
	return file, info.Mode().Perm(), data, err
}

// with returns text with the member name set to value.
func with(text, name string, value []string) (string, error) {
	list, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	written := strings.ReplaceAll(string(list), `","`, `", "`)
	if strings.TrimSpace(text) == "" {
		return fmt.Sprintf("{\n  %q: %s\n}\n", name, written), nil
	}
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return "", err
	}
	members := v.Value.(*hujson.Object).Members // Load has seen that it is one
	i := slices.IndexFunc(members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
	if i >= 0 {
		at := members[i].Value
		return text[:at.StartOffset] + written + text[at.EndOffset:], nil
	}
	return appended(text, v, fmt.Sprintf("%q: %s", name, written)), nil
}

// appended adds a member behind the last one, as far in as that is. What
// follows the last value stays with it: a comment on its line is about it.
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
