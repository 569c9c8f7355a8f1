package jsonc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

// FuzzStandardize: what hujson takes is taken and gives the same bytes, what
// it refuses is refused.
func FuzzStandardize(f *testing.F) {
	for _, s := range []string{
		`{"color": "never"}`, "// first\n{\"a\": [1, 2, ], /* b */ \"c\": {},}\n", `{,}`, `[,]`, `[1,,]`, `{"a":,}`, `{"a",}`,
		`"a // no comment, /* none */ ,]"`, `"\"// still text"`, "[1] // without an end", "[1] // with one\n", "/* open", "/",
		"[1,/*a*/]", "[1/**/2]", "tr/**/ue", "[1, // x\n\n]", "{\"a\":1,\r\n}", "// \u2028\n1", "/* \u2028 */1", "// \xff\n1", "\ufeff{}", "",
		" ", "1,", ",", "[1,}", `{"\u0061":1}`, "[\"\xff\"]", "1 2", "-", "01", "1e5", `"\x"`, "[[[],],]", "nul", "/**/", "/*/ 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := hujson.Parse(bytes.Clone(in))
		got := bytes.Clone(in)
		if ok := Standardize(got); ok != (err == nil) {
			t.Fatalf("Standardize(%q) = %v, hujson says %v", in, ok, err)
		}
		if err != nil {
			return
		}
		v.Standardize()
		if want := v.Pack(); !bytes.Equal(got, want) {
			t.Fatalf("Standardize(%q) = %q, hujson gives %q", in, got, want)
		}
	})
}

func TestGet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := Get(path, "a"); err != nil || len(v) != 1 || v[0].Exists() {
		t.Errorf("no file: %v, %v", v, err)
	}
	write(" \n")
	if v, err := Get(path, "a"); err != nil || v[0].Exists() {
		t.Errorf("blank file: %v, %v", v, err)
	}
	write("// mine\n{\"list\": [\"x\", \"y\",], \"\\u0061.b\": \"first\", \"a.b\": \"second\", \"in\": {\"a\": 1},}\n")
	v, err := Get(path, "a.b", "list", "a", "list")
	if err != nil {
		t.Fatal(err)
	}
	if v[0].String() != "first" || len(v[1].Array()) != 2 || v[2].Exists() || v[3].Raw != v[1].Raw {
		t.Errorf("Get = %v", v)
	}
	for text, want := range map[string]error{
		`{"a": 1`: ErrSyntax, `["a"]`: ErrObject, `"a"`: ErrObject, strings.Repeat(" ", MaxFile+1): ErrSize,
	} {
		write(text)
		if v, err := Get(path, "a"); !errors.Is(err, want) || v[0].Exists() {
			t.Errorf("Get of %.20q: %v, %v; want %v", text, v, err, want)
		}
	}
	if _, err := Get(filepath.Dir(path), "a"); !errors.Is(err, ErrSize) {
		t.Errorf("Get of a directory: %v", err)
	}
}
