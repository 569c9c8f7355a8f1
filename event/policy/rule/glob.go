package rule

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// caseless: the usual file systems of these systems ignore letter case.
const caseless = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// folded returns a path as it is compared.
func folded(p string) string {
	if caseless {
		return strings.ToLower(p)
	}
	return p
}

// glob is a pattern over absolute paths.
type glob struct {
	pattern string
	anyDir  bool   // it matches in any directory
	base    string // what follows the last slash
	fixed   string // the directory that contains everything that matches
}

const wildcards = "*?[{\\"

// globsOf returns the forms of a pattern: as written, and if it begins at a link, with the link's target.
func (c *Call) globsOf(text string) (list []glob) {
	if list, known := c.globs[text]; known {
		return list
	}
	p, dir := strings.CutSuffix(filepath.ToSlash(text), "/")
	g := glob{anyDir: !strings.Contains(strings.TrimPrefix(p, "**/"), "/")}
	switch {
	case strings.HasPrefix(p, "~/"):
		p = Quote(c.Home) + p[1:]
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
	case strings.HasPrefix(p, "**/"):
		p = "/" + p
	case g.anyDir:
		p = "/**/" + p
	default:
		p = Quote(cmp.Or(c.Project, c.Cwd)) + "/" + strings.TrimPrefix(p, "./")
	}
	start := strings.TrimSuffix(fixedPart(p), "/") // what may be followed
	if !strings.ContainsAny(p, wildcards) {
		p = path.Clean(p)
		start = p
	}
	forms := []string{p}
	if start != "" {
		if real := filepath.ToSlash(c.follow(filepath.FromSlash(start), maxLinks)); real != start {
			forms = append(forms, Quote(real)+p[len(start):])
		}
	}
	for _, p := range forms {
		g.pattern = folded(p)
		g.base = path.Base(g.pattern)
		if dir {
			g.pattern += "/**"
		}
		g.fixed = fixedPart(g.pattern)
		list = append(list, g)
	}
	c.globs[text] = list
	return list
}

// fixedPart returns the directory that contains everything that a pattern matches, with its slash.
func fixedPart(p string) string {
	if at := strings.IndexAny(p, wildcards); at >= 0 {
		p = p[:at]
	}
	return p[:strings.LastIndexByte(p, '/')+1]
}

// maxLinks is how many links a path may have, the system's limit.
const maxLinks = 40

// follow resolves the links of the part of a path that exists, even one to what does not exist yet.
func (c *Call) follow(p string, left int) string {
	dir := filepath.Dir(p)
	if dir == p {
		return p
	}
	real, known := c.dirs[dir]
	if !known {
		real = c.follow(dir, left)
		c.dirs[dir] = real
	}
	at := filepath.Join(real, filepath.Base(p))
	target, err := os.Readlink(at)
	if err != nil || left == 0 {
		return at
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(real, target)
	}
	return c.follow(target, left-1)
}

// Quote escapes the characters of a directory's name that have a meaning in patterns.
func Quote(dir string) string {
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	if !strings.ContainsAny(dir, wildcards) {
		return dir
	}
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, `\`, `\\`).Replace(dir)
}

func matches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, wildcards) {
		return pattern == name
	}
	ok, err := doublestar.Match(pattern, name)
	return err == nil && ok
}

// covers: the pattern matches the path, or a directory that contains it.
func (g glob) covers(way string) bool {
	named := !strings.ContainsAny(g.base, wildcards)
	switch {
	case g.anyDir && named:
		return strings.Contains(way+"/", "/"+g.base+"/")
	case g.fixed != "/" && !strings.HasPrefix(way+"/", g.fixed):
		return false
	}
	return matches(g.pattern, way) || named && matches(g.pattern+"/**", way)
}

// reaches reports whether a path with wildcards may be in the directory of a pattern that matches everything there:
// ~/.ss*/id with ~/.ssh/**. A wildcard at the beginning of a name is no dot.
func (g glob) reaches(way string) bool {
	names, dirs := strings.Split(way, "/"), strings.Split(strings.TrimSuffix(g.fixed, "/"), "/")
	if g.pattern != g.fixed+"**" || len(names) <= len(dirs) {
		return false
	}
	return matches(visible.Replace(strings.Join(names[:len(dirs)], "/")), strings.Join(dirs, "/"))
}

var visible = strings.NewReplacer("/*", "/[^.]*", "/?", "/[^.]")

// maxFollowed is for how many files of a call links are followed.
const maxFollowed = 100

// file is a file that a call reads or writes.
type file struct {
	use
	ways     []string // absolute, with slashes: as written, and with links followed; the unknown is Hole
	template *file    // it is written as a copy of this one; a rule that excepts that excepts it
}

// use is how a file is named, and what for.
type use struct {
	read, write bool
	glob        bool // it stands for the names that match it
	dots        bool // it is git's pattern, in which * matches a leading dot, too
	all         bool // it counts with everything below it
	around      bool // another file of the command says what is meant of it
	direct      bool // the call's own tool works on it; else it counts for those that read and write files
}

// file finds where a file is that is named in a directory.
func (c *Call) file(dir, name string, u use) file {
	at := inDir(dir, name)
	if last := strings.LastIndex(at, hole); last >= 0 { // the folder is unknown, but for what is behind the last ".."
		known := at[max(last, strings.LastIndex(at, "..")+1)+1:]
		return file{use: u, ways: []string{path.Join("/"+hole, known)}}
	}
	return file{use: u, ways: c.ways(at)}
}

// repository returns the root of the git repository that contains a directory, or the directory.
func repository(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if _, err := os.Lstat(filepath.FromSlash(at + "/.git")); err == nil {
			return at
		}
		if at == path.Dir(at) {
			return dir
		}
	}
}

func rooted(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

// inDir returns a path relative to a directory; "" for where the line starts.
func inDir(dir, p string) string {
	if rooted(p) || dir == "" {
		return p
	}
	return dir + "/" + p
}

// ways returns the forms in which a path may be written: absolute, and with links followed as far as it exists.
func (c *Call) ways(p string) []string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = c.Home + p[1:]
	}
	p = filepath.FromSlash(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(c.Cwd, p)
	}
	p = filepath.Clean(p)
	out := []string{folded(filepath.ToSlash(p))}
	if c.followed++; c.followed > maxFollowed {
		return out
	}
	if real := c.follow(p, maxLinks); real != p {
		out = append(out, folded(filepath.ToSlash(real)))
	}
	return out
}

// fits reports whether one of the patterns matches a file, or a directory that contains it.
func (f *file) fits(c *Call, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(text string) bool {
		return slices.ContainsFunc(c.globsOf(text), func(g glob) bool {
			return slices.ContainsFunc(f.ways, func(way string) bool { return f.way(g, way) })
		})
	})
}

func (f *file) way(g glob, way string) bool {
	named := !strings.ContainsAny(g.base, wildcards)
	switch base := path.Base(way); {
	case strings.Contains(way, hole) && !g.anyDir:
		return false
	case g.covers(way):
		return true
	case f.all && !g.anyDir && strings.HasPrefix(g.fixed, strings.TrimSuffix(way, "/")+"/"):
		return true
	default: // the path may itself be a pattern: the shell, or Grep and Glob, replace it with names
		hidden := strings.HasPrefix(g.base, ".") && !f.direct && !f.dots && strings.IndexAny(base, wildcards) == 0
		return f.glob && (named && !hidden && strings.Trim(base, "*") != "" && matches(base, g.base) &&
			(g.anyDir || matches(way, g.pattern)) ||
			!f.direct && g.reaches(way))
	}
}

// probably reports whether the patterns match a file in all forms of its path, which may stand for several names.
func (f *file) probably(c *Call, patterns []string) bool {
	return f.around || len(f.ways) > 0 && !slices.ContainsFunc(f.ways, func(way string) bool {
		return !slices.ContainsFunc(patterns, func(text string) bool {
			return text == gitIgnored && c.isIgnored(way) || matches(c.globsOf(text)[0].pattern, way)
		})
	})
}
