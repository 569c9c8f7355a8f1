package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
)

// gitRun runs git with its own configuration and returns its output.
func gitRun(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// root returns an empty directory whose path has no symbolic link.
func root(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, file, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func symlink(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
}

// repo creates a repository with one commit.
func repo(t testing.TB, elem ...string) string {
	t.Helper()
	dir := mkdir(t, elem...)
	gitRun(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "f"), "x")
	gitRun(t, dir, "add", "f")
	gitRun(t, dir, "commit", "-q", "-m", "m")
	return dir
}

// same checks that Git returns want for dir, and that git agrees.
func same(t *testing.T, name, dir string, want event.Git) {
	t.Helper()
	got := Git(dir)
	if got != want {
		t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
	}
	if got.Worktree != "" {
		if top := gitRun(t, dir, "rev-parse", "--show-toplevel"); filepath.FromSlash(top) != got.Worktree {
			t.Errorf("%s: git's work tree is %s", name, top)
		}
		common := gitRun(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if filepath.FromSlash(common) != got.Common {
			t.Errorf("%s: git's common directory is %s", name, common)
		}
		if b := gitRun(t, dir, "branch", "--show-current"); b != got.Branch {
			t.Errorf("%s: git's branch is %q", name, b)
		}
	}
}

func TestGit(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "shop")
	dot := filepath.Join(r, ".git")
	sub := mkdir(t, r, "a", "b")

	same(t, "at the top", r, event.Git{Branch: "main", Repo: "shop", Worktree: r, Common: dot})
	same(t, "below", sub, event.Git{Branch: "main", Repo: "shop", Worktree: r, Common: dot})
	if got := Git(filepath.Join(sub, "gone", "too")); got.Worktree != r {
		t.Errorf("a directory that is gone: %+v", got)
	}

	gitRun(t, r, "checkout", "-q", "-b", "feat/über")
	same(t, "a branch with a slash", sub, event.Git{Branch: "feat/über", Repo: "shop", Worktree: r, Common: dot})
	gitRun(t, r, "pack-refs", "--all")
	same(t, "packed refs", sub, event.Git{Branch: "feat/über", Repo: "shop", Worktree: r, Common: dot})

	hash := gitRun(t, r, "rev-parse", "HEAD")
	gitRun(t, r, "checkout", "-q", "--detach")
	same(t, "detached", r, event.Git{Head: hash[:12], Repo: "shop", Worktree: r, Common: dot})
	gitRun(t, r, "checkout", "-q", "main")

	symlink(t, sub, filepath.Join(dir, "link"))
	same(t, "through a symbolic link", filepath.Join(dir, "link"), event.Git{Branch: "main", Repo: "shop", Worktree: r, Common: dot})
	if got := Git(dot); got != (event.Git{Branch: "main", Repo: "shop", Common: dot}) {
		t.Errorf("inside .git: %+v", got)
	}
}

func TestGitUnborn(t *testing.T) {
	r := mkdir(t, root(t), "fresh")
	gitRun(t, r, "init", "-q", "-b", "trunk")
	same(t, "unborn branch", r, event.Git{Branch: "trunk", Repo: "fresh", Worktree: r, Common: filepath.Join(r, ".git")})
}

func TestGitSHA256(t *testing.T) {
	r := mkdir(t, root(t), "long")
	gitRun(t, r, "init", "-q", "--object-format=sha256")
	gitRun(t, r, "commit", "-q", "--allow-empty", "-m", "m")
	hash := gitRun(t, r, "rev-parse", "HEAD")
	gitRun(t, r, "checkout", "-q", "--detach")
	same(t, "detached, 64 digits", r, event.Git{Head: hash[:12], Repo: "long", Worktree: r, Common: filepath.Join(r, ".git")})
}

func TestGitWorktrees(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "shop")
	dot := filepath.Join(r, ".git")
	wt := filepath.Join(dir, "elsewhere", "fix")
	gitRun(t, r, "worktree", "add", "-q", "-b", "fix", wt)
	sub := mkdir(t, wt, "a")
	want := event.Git{Branch: "fix", Repo: "shop", Worktree: wt, Common: dot, Linked: true}
	same(t, "linked", sub, want)

	// Newer versions of git can write a relative path.
	id := gitRun(t, wt, "rev-parse", "--absolute-git-dir")
	rel, err := filepath.Rel(wt, id)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(wt, ".git"), "gitdir: "+rel+"\n")
	same(t, "linked, relative", sub, want)

	if ProjectID(Git(wt), "") != ProjectID(Git(r), "") {
		t.Error("all work trees of a repository are one project")
	}

	gitRun(t, wt, "checkout", "-q", "--detach")
	if got := Git(wt); got.Branch != "" || len(got.Head) != 12 {
		t.Errorf("linked and detached: %+v", got)
	}
	if err := os.RemoveAll(id); err != nil {
		t.Fatal(err)
	}
	if got := Git(sub); got != (event.Git{}) {
		t.Errorf("a work tree whose git directory was pruned: %+v", got)
	}
}

func TestGitSubmodule(t *testing.T) {
	dir := root(t)
	lib := repo(t, dir, "libsrc")
	r := repo(t, dir, "shop")
	gitRun(t, r, "submodule", "add", "-q", lib, "vendor/lib")
	at := filepath.Join(r, "vendor", "lib")
	same(t, "submodule", at, event.Git{Branch: "main", Repo: "lib", Worktree: at,
		Common: filepath.Join(r, ".git", "modules", "vendor", "lib"), Linked: true})
	if ProjectID(Git(at), "") == ProjectID(Git(r), "") {
		t.Error("a submodule is a project of its own")
	}
}

func TestGitBareAndSeparate(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "shop")
	bare := filepath.Join(dir, "shop.git")
	gitRun(t, dir, "clone", "-q", "--bare", r, bare)
	if got := Git(filepath.Join(bare, "objects")); got != (event.Git{Branch: "main", Repo: "shop", Common: bare}) {
		t.Errorf("bare: %+v", got)
	}
	wt := filepath.Join(dir, "wt")
	gitRun(t, bare, "worktree", "add", "-q", "-b", "x", wt)
	same(t, "linked to a bare one", wt, event.Git{Branch: "x", Repo: "shop", Worktree: wt, Common: bare, Linked: true})

	// proj/.bare, next to a work tree for each branch.
	hidden := filepath.Join(dir, "proj", ".bare")
	gitRun(t, dir, "clone", "-q", "--bare", r, hidden)
	hwt := filepath.Join(dir, "proj", "main")
	gitRun(t, hidden, "worktree", "add", "-q", hwt, "main")
	same(t, "linked to a hidden bare one", hwt, event.Git{Branch: "main", Repo: "proj", Worktree: hwt, Common: hidden, Linked: true})

	sep := mkdir(t, dir, "site")
	store := filepath.Join(dir, "stores", "site-git")
	mkdir(t, filepath.Dir(store))
	gitRun(t, sep, "init", "-q", "--separate-git-dir", store)
	same(t, "separate git directory", sep, event.Git{Branch: "main", Repo: "site", Worktree: sep, Common: store})
}

func TestGitSymbolicLinks(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "shop")
	// A work tree whose .git is a link to another's.
	twin := mkdir(t, dir, "twin")
	symlink(t, filepath.Join(r, ".git"), filepath.Join(twin, ".git"))
	if got := Git(twin); got.Common != filepath.Join(r, ".git") || got.Worktree != twin {
		t.Errorf("linked .git: %+v", got)
	}
}

func TestGitOddities(t *testing.T) {
	dir := root(t)
	r := repo(t, dir, "outer")
	outer := Git(r)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  event.Git
	}{
		{"an empty .git directory is passed over", map[string]string{".git/x": ""}, outer},
		{"a HEAD that is not git's is passed over", map[string]string{".git/HEAD": "hello"}, outer},
		{"a file HEAD alone is not a bare repository", map[string]string{"HEAD": "ref: refs/heads/x\n"}, outer},
		{"a .git file that is not git's", map[string]string{".git": "hello"}, event.Git{}},
		{"a .git file that leads nowhere", map[string]string{".git": "gitdir: ../nowhere\n"}, event.Git{}},
		{"a .git file without a path", map[string]string{".git": "gitdir: \n"}, event.Git{}},
		{"a .git file with a NUL", map[string]string{".git": "gitdir: a\x00b\n"}, event.Git{}},
		{"reftable", map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n"},
			event.Git{Repo: "in", Worktree: filepath.Join(r, "in"), Common: filepath.Join(r, "in", ".git")}},
		{"a ref outside refs/heads", map[string]string{".git/HEAD": "ref: refs/remotes/origin/x\n"},
			event.Git{Branch: "refs/remotes/origin/x", Repo: "in", Worktree: filepath.Join(r, "in"), Common: filepath.Join(r, "in", ".git")}},
	} {
		in := mkdir(t, r, "in")
		for name, text := range tt.files {
			write(t, filepath.Join(in, name), text)
		}
		if got := Git(in); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
		if err := os.RemoveAll(in); err != nil {
			t.Fatal(err)
		}
	}
	for _, none := range []string{"", ".", "relative/dir", "/", "/" + strings.Repeat("x/", event.MaxPath)} {
		if got := Git(none); got != (event.Git{}) {
			t.Errorf("%q: %+v", none[:min(20, len(none))], got)
		}
	}
}

// A repository that cannot be read counts as none; git does not search further either.
func TestGitDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := root(t)
	repo(t, dir, "outer")
	in := repo(t, dir, "outer", "in")
	if err := os.Chmod(filepath.Join(in, ".git"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(in, ".git"), 0o755) })
	if got := Git(in); got != (event.Git{}) {
		t.Errorf("got %+v", got)
	}
}

// A pipe named HEAD must not block the hook.
func TestGitPipe(t *testing.T) {
	dir := root(t)
	in := mkdir(t, dir, ".git")
	if err := exec.Command("mkfifo", filepath.Join(in, "HEAD"), filepath.Join(dir, "HEAD")).Run(); err != nil {
		t.Skip("no pipes here")
	}
	if got := Git(dir); got != (event.Git{}) {
		t.Errorf("got %+v", got)
	}
}

func TestParseHead(t *testing.T) {
	forty := strings.Repeat("0123456789", 4)
	for text, want := range map[string]event.Git{
		"ref: refs/heads/main\n":              {Branch: "main"},
		"ref:refs/heads/main":                 {Branch: "main"},
		"ref: \trefs/heads/a/b \r\n":          {Branch: "a/b"},
		forty + "\n":                          {Head: forty[:12]},
		strings.ToUpper("abcdef") + forty[6:]: {Head: "abcdef678901"},
		forty + " branch 'main' of x\n":       {Head: forty[:12]},
		"":                                    {},
		"\n":                                  {},
		forty[:39]:                            {},
		forty[:39] + "g":                      {},
		"ref: refs/heads/":                    {},
		"ref: main":                           {},
		"ref: refs/heads/a b":                 {},
		"ref: refs/heads/a\x1b[31m":           {},
		"ref: /etc/passwd":                    {},
		"\xef\xbb\xbfref: refs/heads/main":    {},
		"ref: refs/heads/main\nref: refs/heads/b\n": {},
	} {
		if got, err := parseHead([]byte(text)); got != want || (err == nil) != (want != event.Git{}) {
			t.Errorf("%q: got %+v (%v), want %+v", text, got, err, want)
		}
	}
}

// FuzzGitHead checks that no HEAD causes a panic, and that an accepted one reads the same
// after it is written as git would write it.
func FuzzGitHead(f *testing.F) {
	f.Add([]byte("ref: refs/heads/main\n"))
	f.Add([]byte("ref: refs/heads/.invalid\n"))
	f.Add([]byte("0123456789012345678901234567890123456789\n"))
	f.Add([]byte("ref: refs/tags/v1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(b)
		if err != nil && h != (event.Git{}) || h.Branch != "" && h.Head != "" {
			t.Fatalf("got %+v (%v)", h, err)
		}
		if strings.ContainsAny(h.Branch, " \n\r\t\x00\x1b\x7f") || h.Head != "" && (len(h.Head) != headDigits || strings.Trim(h.Head, "0123456789abcdef") != "") {
			t.Fatalf("got %+v", h)
		}
		if h.Branch != "" {
			ref := h.Branch
			if !strings.Contains(string(b), "refs/heads/") || !strings.HasPrefix(ref, "refs/") {
				ref = "refs/heads/" + ref
			}
			if again, _ := parseHead([]byte("ref: " + ref + "\n")); again.Branch != h.Branch && again.Branch != "refs/heads/"+h.Branch {
				t.Fatalf("%q reads as %+v", ref, again)
			}
		}
	})
}
