package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Places are the directories that StablePath judges by. Empty ones are ignored.
type Places struct {
	Home string // the user's home directory
	Temp string // os.TempDir
}

// goInstall is the hint for programs in temporary places.
const goInstall = "put it in a lasting place first, " +
	"for instance with GOBIN=$HOME/.local/bin go install ./cmd/beckon ./cmd/beckon-hook"

// StablePath returns a path of a program that stays valid in settings, without resolving
// links: path itself, or for a program in a package manager's versioned directory a stable link
// to it. It refuses a path that may be gone tomorrow: with a missing hook every tool call prints
// an error.
//
// A temporary directory is refused unless the home directory is inside it and the program
// inside the home: such a program lasts as long as the settings do.
func StablePath(path string, at Places) (string, error) {
	if !filepath.IsAbs(path) {
		return "", badProgram(path, "not an absolute path", "the client runs hooks in changing directories")
	}
	path = filepath.Clean(path)
	if err := checkProgram(path); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", badProgram(path, cause(err).Error(), "")
	}
	for _, p := range []string{path, real} {
		if reason := at.shortLived(p); reason != "" {
			return "", badProgram(path, reason, goInstall)
		}
	}
	versioned := regexp.MustCompile(versionedDir)
	if !versioned.MatchString(filepath.ToSlash(path)) {
		return path, nil
	}
	for _, link := range linksTo(path, versioned) {
		to, err := filepath.EvalSymlinks(link)
		if err == nil && to == real && !versioned.MatchString(filepath.ToSlash(link)) {
			return link, nil
		}
	}
	return "", badProgram(path, "in a directory of one version, which an upgrade removes",
		"link it from a directory on PATH, and run beckon from there")
}

// checkProgram refuses a file that is not a program.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return badProgram(path, "does not exist", "install the programs: go install ./cmd/beckon ./cmd/beckon-hook")
	case err != nil:
		return badProgram(path, cause(err).Error(), "")
	case !info.Mode().IsRegular():
		return badProgram(path, "not a regular file", "")
	case !Runnable(path, info):
		return badProgram(path, "not executable", "chmod +x it")
	}
	return nil
}

// Runnable reports whether a file may be executed; on Windows the client starts real programs only, no
// scripts.
func Runnable(path string, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(filepath.Ext(path), ".exe")
	}
	return info.Mode().Perm()&0o111 != 0
}

// versionedDir matches a path with a directory of one version: of Homebrew, Nix, Guix, Snap, or of
// a version manager, as asdf, mise and scoop.
const versionedDir = `/(?:Cellar|Caskroom)/|^/(?:nix|gnu)/store/|^/snap/[^/]+/\d|/v?\d+(?:\.\d+)+(?:[-+_.][^/]*)?/`

// linksTo returns where package managers link the program of a versioned directory: in a directory
// on PATH, or with another name in the place of the version.
func linksTo(path string, versioned *regexp.Regexp) (links []string) {
	name, slashed := filepath.Base(path), filepath.ToSlash(path)
	if head, rest, ok := strings.Cut(slashed, "/Cellar/"); ok {
		if part := strings.SplitN(rest, "/", 3); len(part) == 3 { // the formula, its version, the file
			links = append(links, head+"/"+part[2], head+"/opt/"+part[0]+"/"+part[2])
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			links = append(links, filepath.Join(dir, name))
		}
	}
	for _, current := range []string{"/current/", "/latest/"} {
		links = append(links, filepath.FromSlash(versioned.ReplaceAllString(slashed, current)))
	}
	return links
}

// shortLived returns why a program will not last in its place, or "".
func (at Places) shortLived(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
		build, isBuild := strings.CutPrefix(part, "go-build")
		switch {
		case isBuild && strings.Trim(build, "0123456789") == "":
			return "in Go's build cache, which go run uses"
		case strings.Contains(part, "@v"):
			return "in a module cache"
		}
	}
	if at.temporary(path) {
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
	realHome, _ := filepath.EvalSymlinks(at.Home)
	inHome := at.Home != "" && (within(at.Home, path) || realHome != "" && within(realHome, path))
	for _, root := range roots {
		if within(root, path) && !(inHome && at.Home != root && within(root, at.Home)) {
			return true
		}
	}
	return false
}

// within reports whether path lies below dir.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
