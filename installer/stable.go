package installer

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// StablePath returns a path of a program that stays valid in settings, without resolving
// links: path itself, or for a program in a package manager's versioned directory a stable link
// to it. It refuses a path that may be gone tomorrow: with a missing hook every tool call prints
// an error.
//
// A temporary directory is refused unless the home directory is inside it and the program
// inside the home: such a program lasts as long as the settings do.
func StablePath(path, home string) (string, error) {
	path = filepath.Clean(path)
	real, linkErr := filepath.EvalSymlinks(path)
	info, err := os.Stat(path)
	refuse := func(reason, hint string) (string, error) { return "", badProgram(path, reason, hint) }
	switch err := cmp.Or(err, linkErr); {
	case !filepath.IsAbs(path):
		return refuse("not an absolute path", "the client runs hooks in changing directories")
	case errors.Is(err, fs.ErrNotExist):
		return refuse("does not exist", "install the programs: go install ./cmd/beckon ./cmd/beckon-hook")
	case err != nil:
		return "", failed("program", path, err, "")
	case !info.Mode().IsRegular():
		return refuse("not a regular file", "")
	case !Runnable(path, info):
		return refuse("not executable", "chmod +x it")
	}
	if reason := cmp.Or(shortLived(path, home), shortLived(real, home)); reason != "" {
		return refuse(reason, "put it in a lasting place first, "+
			"for instance with GOBIN=$HOME/.local/bin go install ./cmd/beckon ./cmd/beckon-hook")
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
	return refuse("in a directory of one version, which an upgrade removes",
		"link it from a directory on PATH, and run beckon from there")
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

// tempRoots are directories that systems clean up; macOS has one for each user below the last two.
var tempRoots = []string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp",
	"/var/folders", "/private/var/folders"}

// shortLived returns why a program will not last in its place, or "".
func shortLived(path, home string) string {
	if regexp.MustCompile(`/go-build\d*/`).MatchString(filepath.ToSlash(path)) {
		return "in Go's build cache, which go run uses"
	}
	if strings.Contains(filepath.Dir(path), "@v") {
		return "in a module cache"
	}
	realHome, _ := filepath.EvalSymlinks(home)
	for _, root := range append(tempRoots, os.TempDir()) {
		lasts := home != "" && within(root, home) && (within(home, path) || within(realHome, path))
		if within(root, path) && !lasts {
			return "in a temporary directory"
		}
	}
	return ""
}

// within reports whether path lies below dir.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
