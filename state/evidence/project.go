package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"beckon/event"
)

// markers are the files that make a directory a project's root. .git is not among them: Git
// has looked for it.
var markers = [...]string{
	"pyproject.toml", "package.json", "Cargo.toml", "go.mod",
	"Makefile", "setup.py", "setup.cfg", ".project",
}

// Project returns the root of the project that dir belongs to: the git work tree, else the
// nearest directory at or above dir that contains a project file, else dir. It accepts any
// directory, but a stray package.json in the home directory or at the root of the file system
// does not make everything below it one project.
func Project(dir string, g event.Git) string {
	switch {
	case g.Worktree != "":
		return g.Worktree
	case filepath.Base(g.Common) == ".git": // a command in the git directory itself
		return filepath.Dir(g.Common)
	case g.Common != "":
		return g.Common
	case !filepath.IsAbs(dir):
		return event.Cut(dir, event.MaxPath)
	}
	home, _ := os.UserHomeDir()
	home, start := physical(home), physical(dir)
	for at, n := start, 0; n < maxLevels; n++ {
		up := filepath.Dir(at)
		if at != start && (at == home || up == at) {
			break
		}
		if slices.ContainsFunc(markers[:], func(m string) bool { return exists(filepath.Join(at, m)) }) {
			return event.Cut(at, event.MaxPath)
		}
		if up == at {
			break
		}
		at = up
	}
	return event.Cut(start, event.MaxPath)
}

// ProjectID returns 12 hex digits of the SHA-256 of the common git directory, so that all work
// trees of a repository are one project; without a repository, of the project's root. It is
// empty if both are.
func ProjectID(g event.Git, root string) string {
	of := cmp.Or(g.Common, root)
	if of == "" {
		return ""
	}
	// Linking crypto/sha256 costs the hook 5 page faults on top of what it links already; our
	// own code would cost as much.
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:6])
}
