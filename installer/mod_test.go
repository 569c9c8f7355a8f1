package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func modOf(dir string) Mod {
	return Mod{Dir: dir, Version: "v1.2.3", Beckon: "/opt/beckon", Hook: "/opt/beckon-hook"}
}

// apply makes m.Dir the mod, or removes it as setup does, and reports whether anything had to be written.
func (m Mod) apply(keep string, on bool) (changed bool, err error) {
	files := m.Parts(keep)
	if !on {
		slices.Reverse(files)
	}
	if !on && !m.Alone() {
		return false, nil
	}
	for _, f := range files {
		c, e := f.Plan(on)
		changed, err = changed || !c.Noop(), errors.Join(err, e)
	}
	if err != nil {
		return false, err
	}
	for _, f := range files {
		_, e := f.Apply(on)
		err = errors.Join(err, e)
	}
	return changed, err
}

// contents returns every file and directory below dir, with the files' bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, text := filepath.ToSlash(strings.TrimPrefix(path, dir)), "directory"
		if strings.HasSuffix(name, ".lock") {
			return nil
		}
		if !d.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		}
		out[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// take removes what put writes: no file or directory of it is left, and those that
// existed before stay, whoever created them.
func TestModGoesWithoutATrace(t *testing.T) {
	for name, before := range map[string][]string{
		"nothing there":        nil,
		"skills of others":     {"claude/skills/mine/SKILL.md"},
		"a directory for it":   {"claude/skills/beckon/"},
		"a file of the user's": {"claude/skills/beckon/notes.txt", "claude/skills/beckon/hooks/mine.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			root, keep := t.TempDir(), t.TempDir()
			for _, path := range before {
				dir, file := filepath.Split(filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if file == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(root, dir, file), []byte("mine"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			was, kept := contents(t, root), contents(t, keep)
			p := modOf(filepath.Join(root, "claude", "skills", "beckon"))
			for try, want := range []bool{true, false} {
				if changed, err := p.apply(keep, true); err != nil || changed != want || !p.Alone() {
					t.Fatalf("try %d: %v, %v", try, changed, err)
				}
			}
			p.Beckon = "/usr/bin/beckon" // an upgrade made elsewhere
			if changed, err := p.apply(keep, true); err != nil || !changed {
				t.Fatalf("%v, %v", changed, err)
			}
			for try, want := range []bool{true, false} {
				if was, err := p.apply(keep, false); err != nil || was != want {
					t.Fatalf("try %d: %v, %v", try, was, err)
				}
			}
			same(t, was, contents(t, root))
			same(t, kept, contents(t, keep))
		})
	}
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, not %q", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left", name)
		}
	}
}

// Another program's plugin, or one that also has the hooks, is not made the mod.
func TestModLeavesOthersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "beckon")
	p := modOf(dir)
	if err := os.CopyFS(dir, os.DirFS("plugin")); err != nil {
		t.Fatal(err)
	}
	was := contents(t, dir)
	if _, err := p.apply(t.TempDir(), true); err == nil {
		t.Error("the hooks of a whole plugin were dropped for a mod")
	}
	if had, err := p.apply(t.TempDir(), false); had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	same(t, was, contents(t, dir))
}

// The mod names both programs, and the client reads where it is.
func TestModNamesPrograms(t *testing.T) {
	p := modOf(filepath.Join(t.TempDir(), "p"))
	if _, err := p.apply(t.TempDir(), true); err != nil {
		t.Fatal(err)
	}
	text := contents(t, p.Dir)
	if !strings.Contains(text["/hooks/hooks.json"], `"modules": ["./register.js"]`) {
		t.Errorf("%v", text)
	}
	for _, want := range []string{`const HOOK = "/opt/beckon-hook"`, `const BECKON = "/opt/beckon"`, "Made by beckon v1.2.3."} {
		if !strings.Contains(text["/hooks/register.js"], want) {
			t.Errorf("the mod lacks %s", want)
		}
	}
}

// A path may contain what ends a string in JavaScript.
func TestModQuotesPaths(t *testing.T) {
	p := modOf(t.TempDir())
	p.Beckon = "/o\u2028p\"t/beckon"
	js := p.script()
	if !strings.Contains(string(js), `const BECKON = "/o\u2028p\"t/beckon"`) {
		t.Errorf("%.200s", js)
	}
}

func TestRunsMods(t *testing.T) {
	for v, want := range map[Version]bool{"": false, "2.1.197": false, "2.1.286": false, "2.1.287": true, "2.1.330": true, "3.0.0": true} {
		if v.RunsMods() != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}
