package evidence

import (
	"path/filepath"
	"testing"

	"beckon/event"
)

func TestProject(t *testing.T) {
	dir := root(t)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	r := repo(t, dir, "shop")
	write(t, filepath.Join(r, "web", "package.json"), "{}")
	write(t, filepath.Join(dir, "home", "package.json"), "{}")
	write(t, filepath.Join(dir, "home", "app", "go.mod"), "")
	write(t, filepath.Join(dir, "home", "app", "ui", "package.json"), "{}")
	mkdir(t, dir, "home", "app", "cmd", "x")
	mkdir(t, dir, "home", "notes", "y")
	bare := filepath.Join(dir, "b.git")
	gitRun(t, dir, "clone", "-q", "--bare", r, bare)

	for _, tt := range []struct{ name, dir, want string }{
		{"git wins over a nearer marker", "shop/web", "shop"},
		{"inside .git", "shop/.git/objects", "shop"},
		{"bare", "b.git/objects", "b.git"},
		{"the nearest marker", "home/app/ui", "home/app/ui"},
		{"a marker above", "home/app/cmd/x", "home/app"},
		{"the home directory's marker is not for what is below", "home/notes/y", "home/notes/y"},
		{"the home directory itself", "home", "home"},
		{"a directory that is gone", "home/app/gone", "home/app"},
	} {
		at := filepath.Join(dir, filepath.FromSlash(tt.dir))
		if got := Project(at, Git(at)); got != filepath.Join(dir, filepath.FromSlash(tt.want)) {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
	for _, d := range []string{"", "x/y"} {
		if got := Project(d, event.Git{}); got != d {
			t.Errorf("%q: got %q", d, got)
		}
	}
	if got := Project("/", event.Git{}); got != physical("/") {
		t.Errorf("the root: got %q", got)
	}
}

func TestProjectID(t *testing.T) {
	if got := ProjectID(event.Git{}, ""); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	// printf %s /tmp/pf | sha256sum
	if got := ProjectID(event.Git{}, "/tmp/pf"); got != "74f945aa8076" {
		t.Errorf("got %q", got)
	}
	if got := ProjectID(event.Git{Common: "/tmp/pf"}, "/other"); got != "74f945aa8076" {
		t.Errorf("the common directory wins: %q", got)
	}
}
