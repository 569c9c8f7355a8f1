package main

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	caseRef     = regexp.MustCompile(`\bCASE (\d+)`)
	contractRef = regexp.MustCompile(`\bCONTRACT\.md (\d+)`)
	// What a clone of the repository does not have.
	elsewhere = regexp.MustCompile(`\b([Rr]ows? [A-H]\d+|[Ss]eeds? 00\d|issue \d+|CASES (part|sections?)|[Ss]ection \d+\.\d+|(DESIGN|CLIENT|AUDIT|ANSWER|MISSION|STYLE|FIELD|FLEET|MODS)\.md)\b`)
	pathRef   = regexp.MustCompile(`(?:^|[^\w/.~$@-])((?:cmd|event|state|render|installer|testdata)/[\w/-]*\w)`)
	testRef   = regexp.MustCompile("`(Test\\w+)(?:/(\\d+))?`")
)

// TestReferences: what a comment names is in the repository: files and packages, the numbered
// situations of state/CASES.md, the sections of event/CONTRACT.md, and the tests that CASES.md
// names.
func TestReferences(t *testing.T) {
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	cases, contract := read("state/CASES.md"), read("event/CONTRACT.md")
	tests := ""
	eachFile(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			tests += text
		}
		for comment := range comments(text) {
			if m := elsewhere.FindString(comment); m != "" {
				t.Errorf("%s: a comment cites %q, which is not in the repository: say the reason", path, m)
			}
			for _, m := range caseRef.FindAllStringSubmatch(comment, -1) {
				if !strings.Contains(cases, "\n"+m[1]+". **") {
					t.Errorf("%s: no CASE %s in state/CASES.md", path, m[1])
				}
			}
			for _, m := range pathRef.FindAllStringSubmatch(comment, -1) {
				here, _ := filepath.Glob("../../" + m[1] + "*") // a file, a directory, or a name that a package declares
				beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), m[1]) + "*")
				if len(here)+len(beside) == 0 {
					t.Errorf("%s: there is no %s", path, m[1])
				}
			}
			for _, m := range contractRef.FindAllStringSubmatch(comment, -1) {
				if !strings.Contains(contract, "\n## "+m[1]+" ") {
					t.Errorf("%s: no section %s in event/CONTRACT.md", path, m[1])
				}
			}
		}
	})
	for _, m := range testRef.FindAllStringSubmatch(cases, -1) {
		if !strings.Contains(tests, "func "+m[1]+"(") {
			t.Errorf("state/CASES.md: no test %s", m[1])
		}
		if m[2] != "" && !strings.Contains(tests, "{\""+m[2]+" ") {
			t.Errorf("state/CASES.md: no story of %s/%s", m[1], m[2])
		}
	}
}

// comments yields the comments of a Go file, each as one line.
func comments(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		block := ""
		for line := range strings.Lines(text + "\nend") {
			code, comment, ok := strings.Cut(strings.TrimSpace(line), "//")
			if block += comment; ok && code == "" {
				continue
			}
			if block != "" && !yield(block) {
				return
			}
			block = ""
		}
	}
}

// eachFile calls f with the path and the text of each file of the repository that has the
// suffix.
func eachFile(t *testing.T, suffix string, f func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		b, err := os.ReadFile(path)
		f(path, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
