package rule

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// glob is a pattern over absolute paths.
type glob struct {
	pattern string
	anyDir  bool   // it matches in any directory
	base    string // what follows the last slash
	fixed   string // the directory that contains everything that matches
}

// globsOf returns the forms of a pattern: as written, and if it begins at a link, with the
// link's target.
func (c *Call) globsOf(text string, followed bool) []glob {
	key := text
	if !followed {
		key = "=" + text
	}
	if list, ok := c.globs[key]; ok {
		return list
	}
	list := c.makeGlobs(text, followed)
	if c.globs == nil {
		c.globs = map[string][]glob{}
	}
	c.globs[key] = list
	return list
}

const wildcards = "*?[{\\"

func (c *Call) makeGlobs(text string, followed bool) []glob {
	p := filepath.ToSlash(text)
	dir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	g := glob{anyDir: strings.HasPrefix(p, "**/") && !strings.Contains(p[3:], "/") || !strings.Contains(p, "/")}
	switch {
	case strings.HasPrefix(p, "~/"):
		p = Quote(c.Home) + p[1:]
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
	case strings.HasPrefix(p, "**/"):
		p = "/" + p
	case g.anyDir:
		p = "/**/" + p
	default:
		p = Quote(c.base()) + "/" + strings.TrimPrefix(p, "./")
	}
	if !strings.ContainsAny(p, wildcards) {
		p = path.Clean(p)
	}
	g.base = p[strings.LastIndexByte(p, '/')+1:]
	if dir {
		p += "/**"
	}
	g.pattern = p
	if at := strings.IndexAny(p, wildcards); at >= 0 {
		p = p[:at]
	}
	g.fixed = p[:strings.LastIndexByte(p, '/')+1]
	list := []glob{g}
	if dir := strings.TrimSuffix(g.fixed, "/"); followed && dir != "" {
		start := dir
		if !strings.ContainsAny(g.pattern, wildcards) {
			start = g.pattern
		}
		if real := filepath.ToSlash(c.follow(filepath.FromSlash(start))); real != start {
			form := g
			form.pattern = Quote(real) + g.pattern[len(start):]
			form.fixed = real + "/"
			if start == g.pattern {
				form.base = path.Base(real)
				form.fixed = path.Dir(real) + "/"
			}
			list = append(list, form)
		}
	}
	return list
}

// follow is Follow for many names in one directory, whose own links are followed once.
func (c *Call) follow(p string) string {
	dir := filepath.Dir(p)
	if dir == p {
		return Follow(p)
	}
	real, known := c.dirs[dir]
	if !known {
		if c.dirs == nil {
			c.dirs = map[string]string{}
		}
		real = Follow(dir)
		c.dirs[dir] = real
	}
	at := filepath.Join(real, filepath.Base(p))
	if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink == 0 || errors.Is(err, fs.ErrNotExist) {
		return at
	}
	return Follow(p)
}

// base returns the base of ./x.
func (c *Call) base() string {
	dir := c.Project
	if dir == "" {
		dir = c.Cwd
	}
	return strings.TrimSuffix(filepath.ToSlash(dir), "/")
}

// Quote escapes the characters of a directory's name that have a meaning in
// patterns.
func Quote(dir string) string {
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	if !strings.ContainsAny(dir, wildcards) {
		return dir
	}
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, `\`, `\\`).Replace(dir)
}

func matches(pattern, name string) bool {
	if caseless {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	if !strings.ContainsAny(pattern, wildcards) {
		return pattern == name
	}
	ok, err := doublestar.Match(pattern, name)
	return err == nil && ok
}

// Follow resolves the links of the part of p that exists, including one whose target does not
// exist yet.
func Follow(p string) string {
	const most = 40 // links in one path, the system's limit
	for range most {
		at, rest := existing(p)
		if at == "" {
			return p
		}
		target, err := os.Readlink(filepath.Join(at, first(rest)))
		if err != nil {
			return filepath.Join(at, rest)
		}
		// A link without a target: writing to it creates the target.
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		p = filepath.Join(target, strings.TrimPrefix(rest, first(rest)))
	}
	return p
}

// existing returns the longest part of p that exists, with links resolved, and the rest.
func existing(p string) (real, rest string) {
	for dir := p; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real, rest
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", rest
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}

// first returns the first name of a relative path.
func first(rest string) string {
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	return name
}
