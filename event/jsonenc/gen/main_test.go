package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables are those of the structs as they are now.
func TestCurrent(t *testing.T) {
	directive := regexp.MustCompile(`(?m)^//go:generate go run beckon/event/jsonenc/gen (.+)$`)
	for _, dir := range []string{"../..", "../../../state"} {
		code, err := os.ReadFile(filepath.Join(dir, "codec.go"))
		if err != nil {
			t.Fatal(err)
		}
		roots := directive.FindSubmatch(code)
		if roots == nil {
			t.Fatalf("%s/codec.go has no go:generate line", dir)
		}
		want, err := generate(dir, strings.Fields(string(roots[1])))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, file)); !bytes.Equal(got, want) {
			t.Errorf("%s/%s is not what go generate ./... makes of the structs", dir, file)
		}
	}
}
