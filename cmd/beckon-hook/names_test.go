package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plainer maps unusual words to those that the standard library and other programs use. They
// are banned as a part of a name.
var plainer = map[string]string{
	"tale": "replay", "bring": "load", "believe": "commit", "relieve": "evict", "ousted": "displaced", "unspeak": "clear",
	"speak": "covers", "speaks": "covers", "spoke": "answered", "tell": "notify, report", "tells": "notify, report",
	"firing": "invocation", "holder": "locked", "desk": "limiter", "ticket": "token", "door": "token", "lone": "unmatched",
	"edge": "alert", "judge": "evaluate", "trouble": "problem", "unburner": "takeBack",
	"teller": "notifier", "telling": "revealing", "told": "notified, found", "thecase": "caseOf",
}

var namePart = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// TestNames: declared names have no banned word.
func TestNames(t *testing.T) {
	eachFile(t, ".go", func(path, text string) {
		path, _ = filepath.Rel("../..", path)
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		check := func(names ...*ast.Ident) {
			for _, name := range names {
				for _, part := range append(namePart.FindAllString(name.Name, -1), name.Name) {
					if plain := plainer[strings.ToLower(part)]; plain != "" {
						t.Errorf("%s: %s: a plainer word: %s", files.Position(name.Pos()), name.Name, plain)
						break
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				check(n.Name)
			case *ast.TypeSpec:
				check(n.Name)
			case *ast.ValueSpec:
				check(n.Names...)
			case *ast.Field:
				check(n.Names...)
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					for _, e := range n.Lhs {
						if name, ok := e.(*ast.Ident); ok {
							check(name)
						}
					}
				}
			}
			return true
		})
	})
}

// named reports whether the architecture has a line for a directory, or names it among the words
// of the nearest directory above that has one.
func named(architecture, dir string) bool {
	for above := dir; above != "."; above = path.Dir(above) {
		entry := regexp.MustCompile(`(?m)^//\t` + regexp.QuoteMeta(above) + ` {2,}.*\n(?://\t {4,}.*\n)*`).FindString(architecture)
		if entry != "" {
			return above == dir || regexp.MustCompile(`\b`+regexp.QuoteMeta(path.Base(dir))+`\b`).MatchString(entry)
		}
	}
	return false
}

// TestPackages: the first sentence of every package says what it is for, and the architecture
// names the directory of each, and no others.
func TestPackages(t *testing.T) {
	architecture, err := os.ReadFile("../beckon/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented, used := map[string]bool{}, map[string]bool{}
	eachFile(t, ".go", func(path, text string) {
		dir, _ := filepath.Rel("../..", filepath.Dir(path))
		if dir = filepath.ToSlash(dir); strings.HasSuffix(path, "_test.go") && !used[dir] || strings.Contains(dir, "testdata/") {
			return
		}
		used[dir] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || strings.HasPrefix(file.Doc.Text(), "Package "+file.Name.Name+" ") ||
			strings.HasPrefix(file.Doc.Text(), "Command "+filepath.Base(dir)+" ")
	})
	for dir := range used {
		if !documented[dir] {
			t.Errorf("%s: no package comment says what it is for", dir)
		}
		if !named(string(architecture), dir) {
			t.Errorf("%s: cmd/beckon/doc.go does not name it", dir)
		}
	}
	for _, file := range regexp.MustCompile(`[a-z-]+(?:/[a-z_-]+)+(?:\.go)?`).FindAllString(string(architecture), -1) {
		if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
			t.Errorf("cmd/beckon/doc.go names what is not there: %v", err)
		}
	}
}

// odd are phrases that a reader has to read twice, each with plain words for the same.
var odd = map[string]string{
	`heard of`:               "has reported, has run",
	`as bad as none`:         "say what happens instead",
	`nobody who may`:         "cannot verify the sender",
	`ha(s|ve) a say`:         "applies",
	`; so it is\b`:           "as, like",
	`has not what`:           "lacks",
	`seen to have`:           "sent, did",
	`is to see`:              "can view",
	`what there is of`:       "name it",
	`the status line, too;`:  "also",
	`an offer to the user`:   "a request",
	`counts? as good as`:     "say what happens",
	`whatever else is there`: "say what",
}

// TestPlainPhrases: code, README and manual have no odd phrase.
func TestPlainPhrases(t *testing.T) {
	check := func(path, text string) {
		if path, _ = filepath.Rel("../..", path); strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return
		}
		for phrase, plain := range odd {
			if at := regexp.MustCompile(`(?i)` + phrase).FindStringIndex(text); at != nil {
				t.Errorf("%s:%d: %q: plainer: %s", path, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], plain)
			}
		}
	}
	eachFile(t, ".go", check)
	eachFile(t, ".md", check)
}
