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
	// maxGitFile bounds every file read: HEAD, .git and commondir hold one line.
	maxGitFile = 4 << 10
	// headDigits is how much of a detached HEAD is kept.
	headDigits = 12
)

// Git returns the repository that dir is in, by reading files only: linked work trees, submodules, bare and separate git
// directories, detached and unborn HEAD. The zero Git means that there is
// none, or that it may not be read, or that its files are not git's.
//
// Symbolic links in dir are resolved first, as git does, so all ways into a work
// tree give the same Worktree and Common. Limits: $GIT_DIR and the like,
// core.worktree and core.bare are not looked at; a repository on the far side of a
// mount point is found (git stops there); with reftable the branch is not in HEAD
// and stays empty; a path over event.MaxPath is not looked at. dir must be
// absolute: an event without cwd has no repository.
func Git(dir string) event.Git {
	if !filepath.IsAbs(dir) || len(dir) > event.MaxPath {
		return event.Git{}
	}
	buf := make([]byte, maxGitFile)
	at := physical(dir)
	for range maxLevels {
		if g, stop := gitAt(at, buf); stop {
			return bounded(g)
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return event.Git{}
}

// bounded drops a repository whose paths cannot be kept whole: a cut path
// would name another place.
func bounded(g event.Git) event.Git {
	if len(g.Worktree) > event.MaxPath || len(g.Common) > event.MaxPath {
		return event.Git{}
	}
	g.Branch, g.Repo = clean(g.Branch, event.MaxID), clean(g.Repo, event.MaxID)
	return g
}

// physical resolves symbolic links; of a directory that is gone it returns
// the path as it is written.
func physical(dir string) string {
	if p, err := filepath.EvalSymlinks(dir); err == nil {
		return p
	}
	return filepath.Clean(dir)
}

// gitAt looks for a repository at one level of the walk. stop is set when the
// walk is over: with a repository, or because there is one that cannot be
// used, which git does not look beyond either.
func gitAt(dir string, buf []byte) (g event.Git, stop bool) {
	dotGit := filepath.Join(dir, ".git")
	h, err := headOf(dotGit, buf)
	switch {
	case err == nil && h.ok:
		return h.in(event.Git{Worktree: dir, Common: unlinked(dotGit), Repo: repoName(dotGit)}), true
	case errors.Is(err, fs.ErrPermission):
		return event.Git{}, true
	case parentIsFile(err):
		if g, found := gitFile(dir, dotGit, buf); found {
			return g, true
		}
	}
	return bareAt(dir, buf)
}

// bareAt recognises a git directory itself, by the three things git looks for.
func bareAt(dir string, buf []byte) (g event.Git, ok bool) {
	h, err := headOf(dir, buf)
	if err != nil || !h.ok || !exists(filepath.Join(dir, "objects")) || !exists(filepath.Join(dir, "refs")) {
		return event.Git{}, false
	}
	return h.in(event.Git{Common: dir, Repo: repoName(dir)}), true
}

// gitFile follows a .git file ("gitdir: PATH") to the git directory of a
// linked work tree, of a submodule, or of a repository made with
// --separate-git-dir. found is false when there is no such file.
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
	h, err := headOf(gitDir, buf)
	if err != nil || !h.ok {
		return event.Git{}, true
	}
	g = h.in(event.Git{Worktree: dir})
	if b, err := plainfile.Head(filepath.Join(gitDir, "commondir"), buf, 0); err == nil {
		g.Common = physical(resolve(gitDir, b))
		g.Repo, g.Linked = repoName(g.Common), true
		return g, true
	}
	g.Common, g.Repo = physical(gitDir), filepath.Base(dir)
	g.Linked = strings.Contains(filepath.ToSlash(g.Common), "/modules/")
	return g, true
}

// resolve reads the path that a file of git's holds, relative to dir. It is empty
// when there is none.
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

// unlinked resolves a .git that is a symbolic link to a directory; asking is
// one system call where resolving the whole path again would be many.
func unlinked(dotGit string) string {
	if _, err := os.Readlink(dotGit); err != nil {
		return dotGit
	}
	return physical(dotGit)
}

// repoName names a repository by its common git directory: the directory that
// holds .git (or a hidden bare one, as in proj/.bare), else the bare
// directory's own name without ".git".
func repoName(common string) string {
	base := filepath.Base(common)
	if strings.HasPrefix(base, ".") {
		return filepath.Base(filepath.Dir(common))
	}
	return strings.TrimSuffix(base, ".git")
}

// head is what a HEAD file says. ok is false when it is not git's.
type head struct {
	branch string
	hash   string // headDigits digits of a detached HEAD
	ok     bool
}

func (h head) in(g event.Git) event.Git {
	g.Branch, g.Head = h.branch, h.hash
	return g
}

// headOf reads the HEAD of a git directory. In old repositories it may be a
// symbolic link to the branch's own file.
func headOf(gitDir string, buf []byte) (head, error) {
	file := filepath.Join(gitDir, "HEAD")
	b, err := plainfile.Head(file, buf, plainfile.NoFollow)
	if err == nil {
		return parseHead(b), nil
	}
	if errors.Is(err, fs.ErrNotExist) || parentIsFile(err) || errors.Is(err, fs.ErrPermission) {
		return head{}, err
	}
	if to, linkErr := os.Readlink(file); linkErr == nil {
		return parseHead([]byte("ref: " + to)), nil
	}
	return head{}, err
}

// parseHead reads the content of HEAD: "ref: refs/heads/NAME" (a branch that
// may be unborn), or the hash of a commit (detached). With reftable, HEAD is a
// stub that names refs/heads/.invalid: the branch is not known then. A ref
// outside refs/heads keeps its whole name.
func parseHead(b []byte) head {
	s := strings.TrimRight(string(b), " \t\r\n")
	if ref, ok := strings.CutPrefix(s, "ref:"); ok {
		return parseRef(strings.TrimLeft(ref, " \t"))
	}
	hash, _, _ := strings.Cut(s, " ")
	if len(hash) != 40 && len(hash) != 64 || !isHex(hash) {
		return head{}
	}
	return head{hash: strings.ToLower(hash[:headDigits]), ok: true}
}

func parseRef(ref string) head {
	if !strings.HasPrefix(ref, "refs/") || !isRefName(ref) {
		return head{}
	}
	if ref == "refs/heads/.invalid" {
		return head{ok: true}
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return head{branch: branch, ok: branch != ""}
	}
	return head{branch: ref, ok: true}
}

// isRefName rejects what git never has in a name and a terminal must not get.
func isRefName(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
