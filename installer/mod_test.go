package installer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func modOf(t *testing.T, dir string) Plugin {
	t.Helper()
	return Plugin{Dir: dir, Version: "v1.2.3", Beckon: "/opt/beckon", Spec: Spec{Command: "/opt/beckon-hook", Events: []string{"Stop"}}}
}

// put makes p.Dir the mod, and reports whether anything had to be written.
func (p Plugin) put(keep string) (changed bool, err error) { return p.applyMod(keep, true) }

// take removes the mod, and reports whether there was one.
func (p Plugin) take(keep string) (was bool, err error) {
	was, err = p.applyMod(keep, false)
	return was, errors.Join(err, p.RemoveEmpty(keep))
}

func (p Plugin) applyMod(keep string, on bool) (changed bool, err error) {
	files, err := p.ModEdits(keep, on)
	if err != nil {
		return false, err
	}
	done, err := ApplyAll(context.Background(), files)
	return slices.ContainsFunc(done, func(c Change) bool { return !c.Noop() }), err
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
			p := modOf(t, filepath.Join(root, "claude", "skills", "beckon"))
			for try, want := range []bool{true, false} {
				if changed, err := p.put(keep); err != nil || changed != want || !p.HasMod() {
					t.Fatalf("try %d: %v, %v", try, changed, err)
				}
			}
			p.Beckon = "/usr/bin/beckon" // an upgrade made elsewhere
			if changed, err := p.put(keep); err != nil || !changed {
				t.Fatalf("%v, %v", changed, err)
			}
			for try, want := range []bool{true, false} {
				if was, err := p.take(keep); err != nil || was != want {
					t.Fatalf("try %d: %v, %v", try, was, err)
				}
			}
			same(t, was, contents(t, root))
			same(t, kept, contents(t, keep))
		})
	}
}

// A mod of an earlier version, which recorded the directories that it made in one file.
func TestModOfAnEarlierVersion(t *testing.T) {
	root, keep := t.TempDir(), t.TempDir()
	p := modOf(t, filepath.Join(root, "skills", "beckon"))
	if _, err := p.put(keep); err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(filepath.Join(keep, "*.json"))
	if err != nil || len(records) != 3 {
		t.Fatalf("%q, %v", records, err)
	}
	for _, path := range records {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(keep, "mod.json"), []byte(`{"dir": "x", "made": ["y"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if was, err := p.take(keep); !was || err != nil {
		t.Fatalf("%v, %v", was, err)
	}
	if _, err := os.Stat(p.Dir); err == nil || len(contents(t, keep)) != 1 {
		t.Errorf("left: %v, %v", contents(t, root), contents(t, keep))
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
	p := modOf(t, dir)
	if err := writePlugin(t, p); err != nil {
		t.Fatal(err)
	}
	was := contents(t, dir)
	if _, err := p.put(t.TempDir()); err == nil {
		t.Error("the hooks of a whole plugin were dropped for a mod")
	}
	if had, err := p.take(t.TempDir()); had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	same(t, was, contents(t, dir))
}

// The mod names both programs, and the client reads where it is.
func TestModNamesPrograms(t *testing.T) {
	p := modOf(t, filepath.Join(t.TempDir(), "p"))
	if _, err := p.put(t.TempDir()); err != nil {
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
	p := modOf(t, t.TempDir())
	p.Beckon, p.Version = "/o\u2028p\"t/beckon", "v1\n// evil"
	js, err := p.module()
	if err != nil || !strings.Contains(string(js), `const BECKON = "/o\u2028p\"t/beckon"`) || strings.Contains(string(js), "\n// evil") {
		t.Errorf("%v\n%.200s", err, js)
	}
}

func TestRunsMods(t *testing.T) {
	for v, want := range map[Version]bool{{}: false, {2, 1, 197}: false, {2, 1, 286}: false, {2, 1, 287}: true, {2, 1, 330}: true, {3, 0, 0}: true} {
		if v.RunsMods() != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}
