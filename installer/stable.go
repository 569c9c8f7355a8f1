package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Places are the directories that StablePath judges by. Empty ones are not used.
type Places struct {
	Home    string // the user's home directory
	Temp    string // os.TempDir
	GoCache string // go env GOCACHE
}

// goInstall is the hint for programs in places that do not last.
const goInstall = "put it in a lasting place first, for instance with GOBIN=$HOME/.local/bin go install ./cmd/beckon ./cmd/beckon-hook ./cmd/beckon-judge ./cmd/beckon-line"

// StablePath gives the path under which a program can be named in settings for good,
// without resolving links: path itself, or for a program in a package manager's
// versioned directory the manager's stable link to it. It refuses
// what will not be there tomorrow: a hook that disappears makes every tool call print
// an error (CASES.md 19).
//
// A temporary directory is refused unless the home directory is itself inside it and
// the program inside the home: such a program lasts as long as the settings do.
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
	return "", &pathError{path, "in a directory of one version (" + manager + "), which an upgrade removes", advice("link it from a lasting place, such as " + links[0] + ", and name that")}
}

// checkProgram refuses what is not a program.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &pathError{path, "does not exist", "install the programs: go install ./cmd/beckon ./cmd/beckon-hook ./cmd/beckon-judge ./cmd/beckon-line"}
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

// shortLived says why a program will not last where it is, or nothing.
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

// tempRoots are directories that systems clean by themselves.
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

var (
	cellarPath   = lazily(`^(.*)/(?:Cellar|Caskroom)/([^/]+)/[^/]+/(.+)$`)
	nixPath      = lazily(`^/nix/store/[^/]+/(.+)$`)
	guixPath     = lazily(`^/gnu/store/[^/]+/(.+)$`)
	snapPath     = lazily(`^/snap/[^/]+/[^/]+/(?:.+/)?([^/]+)$`)
	versionedDir = lazily(`^(.*)/v?\d+(?:\.\d+)+(?:[-+_.][^/]*)?/(.+)$`)
)

// versioned names the package manager whose directory of one version holds path, and
// the links that it keeps to the version in use.
func (at Places) versioned(path string) (manager string, links []string) {
	slash := filepath.ToSlash(path)
	home := filepath.ToSlash(at.Home)
	if m := cellarPath().FindStringSubmatch(slash); m != nil {
		return "Homebrew", []string{m[1] + "/" + m[3], m[1] + "/bin/" + baseName(m[3]), m[1] + "/opt/" + m[2] + "/" + m[3]}
	}
	if m := nixPath().FindStringSubmatch(slash); m != nil {
		return "Nix", []string{
			home + "/.nix-profile/" + m[1], home + "/.local/state/nix/profile/" + m[1],
			"/etc/profiles/per-user/" + baseName(home) + "/" + m[1],
			"/run/current-system/sw/" + m[1], "/nix/var/nix/profiles/default/" + m[1],
		}
	}
	if m := guixPath().FindStringSubmatch(slash); m != nil {
		return "Guix", []string{home + "/.guix-profile/" + m[1], home + "/.guix-home/profile/" + m[1], "/run/current-system/profile/" + m[1]}
	}
	if m := snapPath().FindStringSubmatch(slash); m != nil {
		return "Snap", []string{"/snap/bin/" + m[1]}
	}
	if m := versionedDir().FindStringSubmatch(slash); m != nil { // asdf, mise, scoop and others
		return "a version manager", []string{m[1] + "/current/" + m[2], m[1] + "/latest/" + m[2]}
	}
	return "", nil
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// linkTo is the first of the links that leads to the program.
func linkTo(program string, links []string) (string, bool) {
	for _, link := range links {
		link = filepath.FromSlash(link)
		if real, err := filepath.EvalSymlinks(link); err == nil && real == program {
			return link, true
		}
	}
	return "", false
}
