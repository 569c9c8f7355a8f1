package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := Values(path, "a"); err != nil || len(v) != 1 || v[0].Exists() {
		t.Errorf("no file: %v, %v", v, err)
	}
	write(" \n")
	if v, err := Values(path, "a"); err != nil || v[0].Exists() {
		t.Errorf("blank file: %v, %v", v, err)
	}
	write("// mine\n{\"list\": [\"x\", \"y\",], \"\\u0061.b\": \"first\", \"a.b\": \"second\", \"in\": {\"a\": 1},}\n")
	v, err := Values(path, "a.b", "list", "a", "list")
	if err != nil {
		t.Fatal(err)
	}
	if v[0].String() != "first" || len(v[1].Array()) != 2 || v[2].Exists() || v[3].Raw != v[1].Raw {
		t.Errorf("Values = %v", v)
	}
	for text, want := range map[string]error{
		`{"a": 1`: ErrSyntax, `["a"]`: ErrObject, `"a"`: ErrObject, strings.Repeat(" ", MaxFile+1): ErrSize,
	} {
		write(text)
		if v, err := Values(path, "a"); !errors.Is(err, want) || v[0].Exists() {
			t.Errorf("Values of %.20q: %v, %v; want %v", text, v, err, want)
		}
	}
	if _, err := Values(filepath.Dir(path), "a"); !errors.Is(err, ErrSize) {
		t.Errorf("Values of a directory: %v", err)
	}
}
