package main

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every package and every exported name has a comment, for readers of the code, of `go doc`
// and in editors.
func TestEverythingIsDocumented(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) { documented(t, system) })
	}
}

func documented(t *testing.T, system string) {
	const root = "../.."
	on := build.Default
	on.GOOS = system
	packages := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != root && strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		b, err := on.ImportDir(dir, 0)
		if err != nil || len(b.GoFiles) == 0 {
			return nil // no package, or only one of another system or of tests
		}
		packages++
		for _, name := range undocumented(t, dir, b.GoFiles) {
			t.Errorf("%s: %s has no comment", dir, name)
		}
		return nil
	})
	if err != nil || packages < 30 {
		t.Errorf("%d packages, %v", packages, err)
	}
}

// undocumented returns the exported names of a package that have no comment,
// and "package" if that has none.
func undocumented(t *testing.T, dir string, files []string) (names []string) {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		file, err := parser.ParseFile(fset, filepath.Join(dir, f), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	p, err := doc.NewFromFiles(fset, parsed, "beckon/"+dir, doc.PreserveAST)
	if err != nil {
		t.Fatal(err)
	}
	say := func(name, comment string) {
		if strings.TrimSpace(comment) == "" {
			names = append(names, name)
		}
	}
	funcs := func(of string, all []*doc.Func) {
		for _, f := range all {
			if f.Name != "Error" { // error says it
				say(of+f.Name, f.Doc)
			}
		}
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				if name := spec.Names[0].Name; ast.IsExported(name) {
					say(name, v.Doc+spec.Doc.Text()+spec.Comment.Text())
				}
			}
		}
	}
	say("package", p.Doc)
	funcs("", p.Funcs)
	values(append(p.Consts, p.Vars...))
	for _, typ := range p.Types {
		say(typ.Name, typ.Doc)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		values(append(typ.Consts, typ.Vars...))
	}
	return names
}
