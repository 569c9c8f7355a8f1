package evidence

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/event"
	"beckon/event/plainfile"
)

const (
	// maxLevels bounds the walk up to a repository or a project marker.
	maxLevels = 64
	// maxGitFile bounds every file that is read: HEAD, .git and commondir hold one line.
	maxGitFile = 4 << 10
	// headDigits is how many digits of a detached HEAD are kept.
	headDigits = 12
)

// Git returns the repository that contains dir. It only reads files, and knows linked work
// trees, submodules, bare and separate git directories, detached and unborn HEADs. The zero
// Git means that there is no repository, that it may not be read, or that its files are not
// git's.
//
// Symbolic links in dir are resolved first, as git does, so all paths into a work tree give
// the same Worktree and Common. Limits: $GIT_DIR and the like, core.worktree and core.bare are
// ignored; a repository across a mount point is found (git stops there); with reftable the
// branch is not in HEAD and stays empty; a path over event.MaxPath is ignored. dir must be
// absolute: an event without cwd has no repository.
func Git(dir string) event.Git {
	if !filepath.IsAbs(dir) || len(dir) > event.MaxPath {
		return event.Git{}
	}
	buf := make([]byte, maxGitFile)
	at := physical(dir)
	for range maxLevels {
		if g, stop := gitAt(at, buf); stop {
			if len(g.Worktree) > event.MaxPath || len(g.Common) > event.MaxPath {
				return event.Git{} // a cut path would name another place
			}
			g.Branch, g.Repo = clean(g.Branch, event.MaxID), clean(g.Repo, event.MaxID)
			return g
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return event.Git{}
}

// physical resolves symbolic links. The path of a directory that is gone is returned
// unchanged.
func physical(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return p
	}
	return filepath.Clean(dir)
}

// gitAt looks for a repository at one level of the walk. stop ends the walk: there is a
// repository, or one that cannot be used, which git does not look beyond either.
func gitAt(dir string, buf []byte) (g event.Git, stop bool) {
	dotGit := filepath.Join(dir, ".git")
	g, err := headOf(dotGit, buf)
	switch {
	case err == nil:
		g.Worktree, g.Common, g.Repo = dir, unlinked(dotGit), repoName(dotGit)
		return g, true
	case errors.Is(err, fs.ErrPermission):
		return event.Git{}, true
	case parentIsFile(err):
		if g, found := gitFile(dir, dotGit, buf); found {
			return g, true
		}
	}
	// It may be a git directory itself, by the three files that git looks for.
	g, err = headOf(dir, buf)
	if err != nil || !exists(filepath.Join(dir, "objects")) || !exists(filepath.Join(dir, "refs")) {
		return event.Git{}, false
	}
	g.Common, g.Repo = dir, repoName(dir)
	return g, true
}

// gitFile follows a .git file ("gitdir: PATH") to the git directory of a linked work tree, of
// a submodule, or of a repository made with --separate-git-dir. found is false if there is no
// such file.
func gitFile(dir, file string, buf []byte) (g event.Git, found bool) {
	b, err := plainfile.Head(file, buf, 0)
	if err != nil {
		return event.Git{}, !(errors.Is(err, fs.ErrNotExist) || parentIsFile(err))
	}
	target, ok := bytes.CutPrefix(b, []byte("gitdir: "))
	gitDir := resolve(dir, target)
	if !ok || gitDir == "" {
		return event.Git{}, true
	}
	g, err = headOf(gitDir, buf)
	if err != nil {
		return event.Git{}, true
	}
	g.Worktree = dir
	if b, err := plainfile.Head(filepath.Join(gitDir, "commondir"), buf, 0); err == nil {
		g.Common = physical(resolve(gitDir, b))
		g.Repo, g.Linked = repoName(g.Common), true
		return g, true
	}
	g.Common, g.Repo = physical(gitDir), filepath.Base(dir)
	g.Linked = strings.Contains(filepath.ToSlash(g.Common), "/modules/")
	return g, true
}

// resolve returns the path in one of git's files, relative to the directory from; empty if
// there is none.
func resolve(from string, line []byte) string {
	p := filepath.FromSlash(string(bytes.TrimRight(line, "\r\n")))
	if p == "" {
		return ""
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(from, p)
	}
	return filepath.Clean(p)
}

// unlinked resolves a .git that is a symbolic link to a directory. Asking for the link is one
// system call; resolving the whole path again would be many.
func unlinked(dotGit string) string {
	if _, err := os.Readlink(dotGit); err != nil {
		return dotGit
	}
	return physical(dotGit)
}

// repoName names a repository by its common git directory: by the directory that contains .git
// (or a hidden bare one, as in proj/.bare), else by the bare directory's own name without
// ".git".
func repoName(common string) string {
	base := filepath.Base(common)
	if strings.HasPrefix(base, ".") {
		return filepath.Base(filepath.Dir(common))
	}
	return strings.TrimSuffix(base, ".git")
}

// errHead means that a file is not a HEAD of git's.
var errHead = errors.New("reading HEAD: not git's")

// headOf reads the HEAD of a git directory: the branch, or the first digits of the commit. In
// old repositories HEAD may be a symbolic link to the branch's file.
func headOf(gitDir string, buf []byte) (event.Git, error) {
	file := filepath.Join(gitDir, "HEAD")
	b, err := plainfile.Head(file, buf, plainfile.NoFollow)
	if err == nil {
		return parseHead(b)
	}
	if errors.Is(err, fs.ErrNotExist) || parentIsFile(err) || errors.Is(err, fs.ErrPermission) {
		return event.Git{}, err
	}
	if to, linkErr := os.Readlink(file); linkErr == nil {
		return parseHead([]byte("ref: " + to))
	}
	return event.Git{}, err
}

// parseHead parses HEAD: "ref: refs/heads/NAME" (a branch, possibly unborn) or the hash of a
// commit (detached). With reftable, HEAD is a stub that names refs/heads/.invalid, so the
// branch is unknown. A ref outside refs/heads keeps its whole name.
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
	if len(hash) != 40 && len(hash) != 64 || !isHex(hash) {
		return event.Git{}, errHead
	}
	return event.Git{Head: strings.ToLower(hash[:headDigits])}, nil
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }
