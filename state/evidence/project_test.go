package evidence

import (
	"path/filepath"
	"testing"

	"beckon/event"
)

func TestProject(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "shop")
	write(t, filepath.Join(r, "web", "package.json"), "{}")
	mkdir(t, dir, "notes", "y")
	bare := filepath.Join(dir, "b.git")
	gitRun(t, dir, "clone", "-q", "--bare", r, bare)

	for _, tt := range []struct{ name, dir, want string }{
		{"a folder of a work tree", "shop/web", "shop"},
		{"inside .git", "shop/.git/objects", "shop"},
		{"bare", "b.git/objects", "b.git"},
		{"without git", "notes/y", "notes/y"},
		{"a directory that is gone", "notes/gone", "notes/gone"},
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
