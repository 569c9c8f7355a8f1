package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
)

const (
	maxLevels  = 64      // of the walk up to a repository
	maxGitFile = 4 << 10 // HEAD, .git and commondir hold one line
	headDigits = 12      // kept of a detached HEAD
)

// Git returns the repository that contains dir, an absolute path. It only reads files, and knows linked
// work trees, submodules, bare and separate git directories, detached and unborn HEADs. The zero Git
// means that there is no repository, that it may not be read, or that its files are not git's.
//
// Symbolic links are resolved first, as git does. Limits: $GIT_DIR and the like, core.worktree and
// core.bare are ignored; a repository across a mount point is found; with reftable no branch is.
func Git(dir string) (g event.Git) {
	if !filepath.IsAbs(dir) || len(dir) > event.MaxPath {
		return g
	}
	at, stop := physical(dir), false
	for range maxLevels {
		if g, stop = gitAt(at); stop {
			break
		}
		at = filepath.Dir(at)
	}
	if len(g.Worktree) > event.MaxPath || len(g.Common) > event.MaxPath {
		return event.Git{} // a cut path would name another place
	}
	g.Branch, g.Repo = clean(g.Branch, event.MaxID), clean(g.Repo, event.MaxID)
	return g
}

// physical resolves symbolic links, but for those to a directory that is gone.
func physical(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return p
	}
	return filepath.Clean(dir)
}

// gitAt looks for a repository in dir. stop means that there is one, usable or not: git does not look
// beyond it either.
func gitAt(dir string) (g event.Git, stop bool) {
	dotGit := filepath.Join(dir, ".git")
	common := dotGit
	info, err := os.Lstat(dotGit)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		common = physical(dotGit)
		info, err = os.Stat(common)
	}
	if err == nil && info.IsDir() {
		if g, err = headOf(dotGit); err == nil {
			g.Worktree, g.Common, g.Repo = dir, common, repoName(dotGit)
			return g, true
		}
	} else if err == nil {
		return gitFile(dir, dotGit), true
	}
	if errors.Is(err, fs.ErrPermission) {
		return event.Git{}, true
	}
	// It may be a git directory itself, by the three files that git looks for.
	g, err = headOf(dir)
	if err != nil || !plainfile.Exists(filepath.Join(dir, "objects")) || !plainfile.Exists(filepath.Join(dir, "refs")) {
		return event.Git{}, false
	}
	g.Common, g.Repo = dir, repoName(dir)
	return g, true
}

// gitFile follows a .git file ("gitdir: PATH"), as in linked work trees and submodules.
func gitFile(dir, file string) event.Git {
	target, ok := strings.CutPrefix(gitLine(file), "gitdir: ")
	gitDir := resolve(dir, target)
	g, err := headOf(gitDir)
	if !ok || target == "" || err != nil {
		return event.Git{}
	}
	g.Worktree = dir
	if line := gitLine(filepath.Join(gitDir, "commondir")); line != "" {
		g.Common = physical(resolve(gitDir, line))
		g.Repo, g.Linked = repoName(g.Common), true
		return g
	}
	g.Common, g.Repo = physical(gitDir), filepath.Base(dir)
	g.Linked = strings.Contains(filepath.ToSlash(g.Common), "/modules/")
	return g
}

// Worktree says where a directory is in a linked work tree: its real path, the tree's root, and what all
// trees of the repository have in common, mostly the main one's root; empty if it is in none. A folder
// that only says that it is a work tree, and that its repository does not name, is none.
func Worktree(dir string) (at, root, main string) {
	g := Git(dir)
	if !g.Linked {
		return "", "", ""
	}
	gitDir := physical(resolve(g.Worktree, strings.TrimPrefix(gitLine(filepath.Join(g.Worktree, ".git")), "gitdir: ")))
	named := physical(filepath.Dir(resolve(gitDir, gitLine(filepath.Join(gitDir, "gitdir")))))
	if named != g.Worktree || filepath.Dir(filepath.Dir(gitDir)) != g.Common {
		return "", "", ""
	}
	if main = g.Common; filepath.Base(main) == ".git" {
		main = filepath.Dir(main)
	}
	return physical(dir), g.Worktree, main
}

// gitLine returns the line in one of git's files; empty if it cannot be read.
func gitLine(file string) string {
	b, _ := plainfile.Head(file, make([]byte, maxGitFile))
	return strings.TrimRight(string(b), "\r\n")
}

// resolve returns the path in one of git's files, relative to the directory from.
func resolve(from, line string) string {
	p := filepath.FromSlash(line)
	if !filepath.IsAbs(p) {
		p = filepath.Join(from, p)
	}
	return filepath.Clean(p)
}

// repoName names a repository by the directory that contains .git (or a hidden bare one, as proj/.bare),
// else by the bare directory's own name.
func repoName(common string) string {
	base := filepath.Base(common)
	if strings.HasPrefix(base, ".") {
		return filepath.Base(filepath.Dir(common))
	}
	return strings.TrimSuffix(base, ".git")
}

var errHead = errors.New("reading HEAD: not git's")

// headOf reads the HEAD of a git directory.
func headOf(gitDir string) (event.Git, error) {
	b, err := plainfile.Head(filepath.Join(gitDir, "HEAD"), make([]byte, maxGitFile))
	if err != nil {
		return event.Git{}, err
	}
	return parseHead(b)
}

// parseHead parses HEAD: "ref: refs/heads/NAME" (a branch, possibly unborn; .invalid with reftable), or
// the hash of a commit (detached). A ref outside refs/heads keeps its whole name.
func parseHead(b []byte) (event.Git, error) {
	s := strings.TrimRight(string(b), " \t\r\n")
	if ref, ok := strings.CutPrefix(s, "ref:"); ok {
		ref = strings.TrimLeft(ref, " \t")
		// Git allows none of these in a name, and a terminal must not get them.
		odd := strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f })
		branch := strings.TrimPrefix(ref, "refs/heads/")
		switch {
		case odd || branch == "" || !strings.HasPrefix(ref, "refs/"):
			return event.Git{}, errHead
		case branch == ".invalid":
			return event.Git{}, nil
		}
		return event.Git{Branch: branch}, nil
	}
	hash, _, _ := strings.Cut(s, " ")
	if _, err := hex.DecodeString(hash); err != nil || len(hash) != 40 && len(hash) != 64 {
		return event.Git{}, errHead
	}
	return event.Git{Head: strings.ToLower(hash[:headDigits])}, nil
}

// Project returns the root of the project that dir belongs to: the git work tree, else dir.
func Project(dir string, g event.Git) string {
	switch {
	case g.Worktree != "":
		return g.Worktree
	case filepath.Base(g.Common) == ".git": // a command in the git directory itself
		return filepath.Dir(g.Common)
	case g.Common != "":
		return g.Common
	case filepath.IsAbs(dir):
		dir = physical(dir)
	}
	return event.Cut(dir, event.MaxPath)
}

// ProjectID returns 12 hex digits of the SHA-256 of the common git directory, so that all work trees of a
// repository are one project; without a repository, of the project's root. It is empty if both are.
func ProjectID(g event.Git, root string) string {
	of := cmp.Or(g.Common, root)
	if of == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:6])
}
