package installer

import (
	"beckon/event/typed"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tree creates programs in a home directory that is itself temporary, as every test's home is.
type tree struct {
	t    *testing.T
	home string
}

func newTree(t *testing.T) tree {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the trees hold links and modes")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, filepath.Join(dir, "home")}
}

func (tr tree) path(name string) string { return filepath.Join(tr.home, filepath.FromSlash(name)) }

func (tr tree) program(name string, mode os.FileMode) string {
	tr.t.Helper()
	path := tr.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		tr.t.Fatal(err)
	}
	return path
}

func (tr tree) link(dest, name string) string {
	tr.t.Helper()
	path := tr.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.Symlink(dest, path); err != nil {
		tr.t.Fatal(err)
	}
	return path
}

func TestStablePath(t *testing.T) {
	for _, name := range []string{
		".local/bin/beckon-hook", "go/bin/beckon-hook", "path with space/beckon-hook", "src/go1.26/bin/beckon-hook",
		"src/go-builder/beckon-hook", "3/beckon-hook", ".asdf/shims/beckon-hook", "tests/beckon-hook",
	} {
		tr := newTree(t)
		path := tr.program(name, 0o755)
		if got, err := StablePath(path, tr.home); err != nil || got != path {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestFleetingPaths(t *testing.T) {
	for name, reason := range map[string]string{
		"go-build1234/b001/exe/beckon-hook":                "build cache",
		".cache/go-build/0a/beef-d/beckon-hook":            "build cache",
		"go/pkg/mod/example.com/beckon@v1.2.3/beckon-hook": "module cache",
		"Cellar/beckon/1.2.3/bin/beckon-hook":              "one version",
		".asdf/installs/beckon/1.2.3/bin/beckon-hook":      "one version",
		".nvm/versions/node/v20.11.1/bin/beckon-hook":      "one version",
		"scoop/apps/beckon/0.9/beckon-hook":                "one version",
	} {
		tr := newTree(t)
		_, err := StablePath(tr.program(name, 0o755), tr.home)
		if !told(err) || !strings.Contains(err.Error(), reason) || typed.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoPrograms(t *testing.T) {
	tr := newTree(t)
	tr.program("plain/beckon-hook", 0o644)
	for path, reason := range map[string]string{
		"beckon-hook":                  "absolute",
		"./beckon-hook":                "absolute",
		tr.path("missing/beckon-hook"): "does not exist",
		tr.path("plain"):               "regular",
		tr.path("plain/beckon-hook"):   "executable",
		tr.path("plain/beckon-hook/x"): "not a directory",
	} {
		if got, err := StablePath(path, tr.home); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// A temporary directory does not count as one if it contains the whole home.
func TestTemporaryPaths(t *testing.T) {
	tr := newTree(t)
	path := tr.program("bin/beckon-hook", 0o755)
	if _, err := StablePath(path, tr.home); err != nil {
		t.Error(err)
	}
	for _, elsewhere := range []string{"/home/me", "", os.TempDir(), filepath.Join(tr.home, "bin")} {
		if elsewhere == filepath.Join(tr.home, "bin") {
			path = tr.program("other/beckon-hook", 0o755)
		}
		if _, err := StablePath(path, elsewhere); err == nil || !strings.Contains(err.Error(), "temporary") {
			t.Errorf("home %q: %v", elsewhere, err)
		}
	}
	// The home's own temporary directory still counts.
	old := os.TempDir()
	t.Setenv("TMPDIR", tr.path("tmp"))
	if _, err := StablePath(tr.program("tmp/beckon-hook", 0o755), tr.home); err == nil {
		t.Error("the home's TMPDIR is taken")
	}
	t.Setenv("TMPDIR", old)
	// A lasting name for a program that does not last.
	link := tr.link(tr.program("go-build7/exe/beckon-hook", 0o755), "bin2/beckon-hook")
	if _, err := StablePath(link, tr.home); err == nil || !strings.Contains(err.Error(), "build cache") {
		t.Error(err)
	}
}

func TestVersionedPathsHaveLinks(t *testing.T) {
	for _, c := range []struct{ program, dest, link string }{
		{"brew/Cellar/beckon/1.2.3/bin/beckon-hook", "../Cellar/beckon/1.2.3/bin/beckon-hook", "brew/bin/beckon-hook"},
		{"brew/Cellar/beckon/1.2.3/bin/beckon-hook", "../Cellar/beckon/1.2.3", "brew/opt/beckon"},
		{"mise/installs/beckon/1.2.3/bin/beckon-hook", "./1.2.3", "mise/installs/beckon/latest"},
		{"scoop/apps/beckon/1.2.3/beckon-hook", "1.2.3", "scoop/apps/beckon/current"},
	} {
		tr := newTree(t)
		path := tr.program(c.program, 0o755)
		link := tr.link(c.dest, c.link)
		want := link
		if !strings.HasSuffix(link, "beckon-hook") {
			_, rest, _ := strings.Cut(path, "/1.2.3")
			want = link + rest
		}
		if got, err := StablePath(path, tr.home); err != nil || got != want {
			t.Errorf("%s: %s, %v", c.link, got, err)
		}
		if got, err := StablePath(want, tr.home); err != nil || got != want {
			t.Errorf("%s itself: %s, %v", c.link, got, err)
		}
	}
}

// A link of the same name to another program is not offered.
func TestVersionedPathWithAnotherLink(t *testing.T) {
	tr := newTree(t)
	path := tr.program("brew/Cellar/beckon/1.2.3/bin/beckon-hook", 0o755)
	tr.program("brew/Cellar/beckon/1.2.2/bin/beckon-hook", 0o755)
	tr.link("../Cellar/beckon/1.2.2/bin/beckon-hook", "brew/bin/beckon-hook")
	got, err := StablePath(path, tr.home)
	if err == nil {
		t.Errorf("got %s", got)
	}
}
