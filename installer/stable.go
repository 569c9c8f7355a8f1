package installer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Places are the directories that StablePath judges by. Empty ones are ignored.
type Places struct {
	Home    string // the user's home directory
	Temp    string // os.TempDir
	GoCache string // go env GOCACHE
}

// goInstall is the hint for programs in temporary places.
const goInstall = "put it in a lasting place first, for instance with GOBIN=$HOME/.local/bin go install ./cmd/beckon ./cmd/beckon-hook"

// StablePath returns a path of a program that stays valid in settings, without resolving
// links: path itself, or for a program in a package manager's versioned directory the
// manager's stable link to it. It refuses a path that may be gone tomorrow: with a missing
// hook every tool call prints an error.
//
// A temporary directory is refused unless the home directory is inside it and the program
// inside the home: such a program lasts as long as the settings do.
func StablePath(path string, at Places) (string, error) {
	if !filepath.IsAbs(path) {
		return "", &pathError{path, "not an absolute path", "the client runs hooks in changing directories"}
	}
	path = filepath.Clean(path)
	if err := checkProgram(path); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", &pathError{path, cause(err).Error(), ""}
	}
	for _, p := range []string{path, real} {
		if reason := at.shortLived(p); reason != "" {
			return "", &pathError{path, reason, goInstall}
		}
	}
	manager, links := at.versioned(path)
	if manager == "" {
		return path, nil
	}
	if link, ok := linkTo(real, links); ok {
		return link, nil
	}
	return "", &pathError{path, "in a directory of one version (" + manager + "), which an upgrade removes",
		advice("link it from a lasting place, such as " + links[0] + ", and name that")}
}

// checkProgram refuses a file that is not a program.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &pathError{path, "does not exist", "install the programs: go install ./cmd/beckon ./cmd/beckon-hook"}
	case err != nil:
		return &pathError{path, cause(err).Error(), ""}
	case !info.Mode().IsRegular():
		return &pathError{path, "not a regular file", ""}
	case !runnable(path, info):
		return &pathError{path, "not executable", "chmod +x it"}
	}
	return nil
}

var goBuildDir = lazily(`^go-build\d*$`)

// shortLived returns why a program will not last in its place, or "".
func (at Places) shortLived(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
		switch {
		case goBuildDir().MatchString(part):
			return "in Go's build cache, which go run uses"
		case strings.Contains(part, "@v"):
			return "in a module cache"
		}
	}
	base := strings.TrimSuffix(filepath.Base(path), ".exe")
	switch {
	case strings.HasSuffix(base, ".test"):
		return "a test binary"
	case at.GoCache != "" && within(at.GoCache, path):
		return "in Go's build cache, which go run uses"
	case at.temporary(path):
		return "in a temporary directory"
	}
	return ""
}

// tempRoots are directories that systems clean up.
var tempRoots = []string{
	"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp",
	"/var/folders", "/private/var/folders", // macOS: one directory per user below
}

func (at Places) temporary(path string) bool {
	roots := tempRoots
	if at.Temp != "" {
		roots = append([]string{at.Temp}, tempRoots...)
	}
	for _, root := range roots {
		if within(root, path) && !(at.Home != "" && at.Home != root && within(root, at.Home) && at.inHome(path)) {
			return true
		}
	}
	return false
}

// inHome reports whether path is below the home directory, links resolved or not.
func (at Places) inHome(path string) bool {
	if within(at.Home, path) {
		return true
	}
	real, err := filepath.EvalSymlinks(at.Home)
	return err == nil && within(real, path)
}

// within reports whether path lies below dir.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// managers are the tools that keep each version of a program in a directory of its own, and
// their links to the one in use, in terms of path.
var managers = []struct {
	name  string
	path  func() *regexp.Regexp
	links []string
}{
	{"Homebrew", lazily(`^(.*)/(?:Cellar|Caskroom)/([^/]+)/[^/]+/((?:.*/)?([^/]+))$`), []string{"${1}/${3}", "${1}/bin/${4}", "${1}/opt/${2}/${3}"}},
	{"Nix", lazily(`^/nix/store/[^/]+/(.+)$`), []string{
		"@HOME@/.nix-profile/${1}", "@HOME@/.local/state/nix/profile/${1}", "/etc/profiles/per-user/@USER@/${1}",
		"/run/current-system/sw/${1}", "/nix/var/nix/profiles/default/${1}",
	}},
	{"Guix", lazily(`^/gnu/store/[^/]+/(.+)$`), []string{"@HOME@/.guix-profile/${1}", "@HOME@/.guix-home/profile/${1}", "/run/current-system/profile/${1}"}},
	{"Snap", lazily(`^/snap/[^/]+/[^/]+/(?:.+/)?([^/]+)$`), []string{"/snap/bin/${1}"}},
	// asdf, mise, scoop and others
	{"a version manager", lazily(`^(.*)/v?\d+(?:\.\d+)+(?:[-+_.][^/]*)?/(.+)$`), []string{"${1}/current/${2}", "${1}/latest/${2}"}},
}

// versioned returns the package manager whose versioned directory contains path, and its links
// to the version in use.
func (at Places) versioned(file string) (manager string, links []string) {
	file = filepath.ToSlash(file)
	home := strings.ReplaceAll(filepath.ToSlash(at.Home), "$", "$$")
	user := strings.NewReplacer("@HOME@", home, "@USER@", path.Base(home))
	for _, m := range managers {
		found := m.path().FindStringSubmatchIndex(file)
		if found == nil {
			continue
		}
		for _, link := range m.links {
			links = append(links, string(m.path().ExpandString(nil, user.Replace(link), file, found)))
		}
		return m.name, links
	}
	return "", nil
}

// linkTo returns the first of the links that leads to the program.
func linkTo(program string, links []string) (string, bool) {
	for _, link := range links {
		link = filepath.FromSlash(link)
		if real, err := filepath.EvalSymlinks(link); err == nil && real == program {
			return link, true
		}
	}
	return "", false
}
