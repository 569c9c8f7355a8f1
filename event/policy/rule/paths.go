package rule

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/event/policy/shell"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/gjson"
)

// caseless: the usual file systems of these systems ignore letter case.
const caseless = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// maxFollowed is for how many files of a call links are followed.
const maxFollowed = 100

// opened is a file as a command or a tool's input names it.
type opened struct {
	path, dir   string
	read, write bool
	glob        bool // it stands for the names that match it
	dots        bool // it is git's pattern, in which * matches a leading dot, too
	all         bool // it counts with everything below it
	around      bool // another file of the command says what is meant of it
	root        bool // a relative path begins at the root of the git repository
}

// file is a file that a call reads or writes.
type file struct {
	opened
	ways   []string // absolute, with slashes: as written, and with links followed
	unsure bool     // the beginning of the path is unknown; ways contain its end
	direct bool     // the call's own tool works on it; else it counts for those that tools returns
}

// tools returns the tools for which a file counts that a shell command reads or writes.
func (f *file) tools() (list []string) {
	if f.direct {
		return nil
	}
	if f.read {
		list = append(list, "Read")
	}
	if f.write {
		list = append(list, "Write", "Edit")
	}
	return list
}

// filesOf returns the files of a command, found once.
func (c *Call) filesOf(at int) []file {
	f := c.known()
	if f.owned[at] == nil {
		f.owned[at] = []file{}
		for _, o := range opens(f.line, at) {
			f.owned[at] = append(f.owned[at], c.file(o))
		}
		f.owned[at] = append(f.owned[at], c.searched(&f.line.Commands[at])...)
	}
	return f.owned[at]
}

// file finds where a file is.
func (c *Call) file(o opened) file {
	f := file{opened: o}
	if last := strings.LastIndex(o.path, shell.Hole); last >= 0 {
		f.unsure = true
		f.ways = []string{strings.TrimPrefix(o.path[last+len(shell.Hole):], "/")}
		return f
	}
	if !rooted(o.path) && strings.Contains(o.dir, shell.Hole) {
		f.unsure = true
		f.ways = []string{path.Clean(o.path)}
		return f
	}
	dir := o.dir
	if o.root {
		dir = repository(c.ways(inDir(dir, "."))[0])
	}
	f.ways = c.ways(inDir(dir, o.path))
	return f
}

// repository returns the root of the git repository that contains a directory, or the directory.
func repository(dir string) string {
	for at := filepath.FromSlash(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return filepath.ToSlash(at)
		}
		if at == filepath.Dir(at) {
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

// ways returns the forms in which a path may be written: absolute, and with links followed as
// far as it exists.
func (c *Call) ways(p string) []string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = c.Home + p[1:]
	}
	p = filepath.FromSlash(p)
	if !filepath.IsAbs(p) {
		p = filepath.Join(c.Cwd, p)
	}
	p = filepath.Clean(p)
	out := []string{filepath.ToSlash(p)}
	if c.facts != nil {
		if c.facts.followed++; c.facts.followed > maxFollowed {
			return out
		}
	}
	if real := Follow(p); real != p {
		out = append(out, filepath.ToSlash(real))
	}
	return out
}

// pathNames are the names that tools, the client's and those of MCP servers, use for a file in
// their input.
var pathNames = []string{"file_path", "notebook_path", "path", "paths", "file", "files", "filename", "file_name", "filepath", "filePath",
	"absolute_path", "source", "destination", "src", "dst", "source_path", "destination_path", "old_path", "new_path", "from", "to", "target",
	"directory", "dir", "root", "uri", "uris", "url", "file_uri", "resource", "output_path", "output_file", "input_path", "input_file"}

// toolFiles returns the files that a tool's input names.
func (c *Call) toolFiles() (list []file) {
	input := gjson.ParseBytes(c.Input)
	mcp := strings.HasPrefix(c.Tool, "mcp__")
	reads, writes := access(c.Tool)
	add := func(text string, glob bool) {
		f := c.file(opened{path: text, glob: glob, read: reads, write: writes})
		f.direct = !mcp
		list = append(list, f)
	}
	switch c.Tool {
	case "Grep", "Glob":
		name := "glob"
		if c.Tool == "Glob" {
			name = "pattern"
		}
		pattern := input.Get(name).String()
		relative := pattern != "" && !strings.HasPrefix(pattern, "/")
		each(input.Get("path"), func(dir string) { // other agents have several
			add(dir, false)
			if relative {
				add(dir+"/"+pattern, true)
			}
		})
		if pattern != "" && (len(list) == 0 || !relative) {
			add(pattern, true)
		}
		if pattern == "" && input.Get("output_mode").Str == "content" && input.Get("type").Str == "" {
			roots := []string{c.ways(".")[0]}
			if len(list) > 0 {
				roots = nil
			}
			for _, f := range list {
				roots = append(roots, f.ways[:min(len(f.ways), 1)]...)
			}
			for _, root := range roots {
				for _, f := range (search{hidden: true}).files(root) {
					f.direct = true
					list = append(list, f)
				}
			}
		}
		return list
	case "WebFetch", "WebSearch", "Agent", "Task", "Skill":
		return nil
	}
	names := pathNames[:3]
	if mcp {
		names = pathNames
	}
	for _, name := range names {
		each(input.Get(name), func(text string) {
			if local, ok := strings.CutPrefix(text, "file://"); ok {
				text = local
			} else if mcp && strings.Contains(text, "://") { // elsewhere a path may contain it and go on with ".."
				return
			}
			add(text, false)
		})
	}
	return list
}

// each calls do for a text, for those of a list, and for the paths of a list of objects.
func each(v gjson.Result, do func(text string)) {
	switch {
	case v.Type == gjson.String && v.Str != "":
		do(v.Str)
	case v.IsArray():
		for _, item := range v.Array() {
			if item.IsObject() {
				item = item.Get("path")
			}
			if item.Type == gjson.String && item.Str != "" {
				do(item.Str)
			}
		}
	}
}

// access returns what a tool does to its files, as far as its name says.
func access(tool string) (reads, writes bool) {
	name := strings.ToLower(tool[strings.LastIndex(tool, "__")+1:])
	for _, word := range []string{"read", "get", "list", "search", "grep", "glob", "view", "stat", "info", "find"} {
		if strings.Contains(name, word) {
			return true, false
		}
	}
	return true, true
}

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

// within reports whether one of the patterns matches a file, in any form of its path.
func (f *file) within(c *Call, patterns []string) bool {
	return !f.unsure && !f.glob && f.probably(c, patterns)
}

// probably is within for an exception, where the path may stand for several names.
func (f *file) probably(c *Call, patterns []string) bool {
	if f.around {
		return true
	}
	ways := f.ways
	if f.unsure && len(ways) == 1 && ways[0] != "" && !strings.Contains(ways[0], "..") {
		ways = []string{"/" + shell.Hole + "/" + ways[0]}
	} else if f.unsure {
		return false
	}
	return len(ways) > 0 && !slices.ContainsFunc(ways, func(way string) bool {
		return !slices.ContainsFunc(patterns, func(text string) bool {
			if text == gitIgnored {
				return isIgnored(way)
			}
			return slices.ContainsFunc(c.globsOf(text, false), func(g glob) bool { return matches(g.pattern, way) })
		})
	})
}

// fits reports whether one of the patterns matches a file, or a directory that contains it.
func (f *file) fits(c *Call, patterns []string) bool {
	for _, text := range patterns {
		for _, g := range c.globsOf(text, true) {
			if slices.ContainsFunc(f.ways, func(way string) bool { return f.way(g, way) }) {
				return true
			}
		}
	}
	return false
}

func (f *file) way(g glob, way string) bool {
	switch {
	case f.unsure:
		return way != "" && g.anyDir && matches(g.base, path.Base(way))
	case g.covers(way):
		return true
	case f.all && (way == "/" || strings.HasPrefix(g.fixed, strings.TrimSuffix(way, "/")+"/")) && !g.anyDir:
		return true
	case f.glob:
		return f.wild(g, way)
	}
	return false
}

// covers: the pattern matches the path, or a directory that contains it.
func (g glob) covers(way string) bool {
	if g.anyDir && !strings.ContainsAny(g.base, wildcards) {
		return indexName(way, g.base)
	}
	if g.fixed != "/" && !within(way+"/", g.fixed) {
		return false
	}
	return matches(g.pattern, way) || !strings.ContainsAny(g.base, wildcards) && matches(g.pattern+"/**", way)
}

// within reports whether a path begins with a directory.
func within(way, dir string) bool {
	if caseless {
		return len(way) >= len(dir) && strings.EqualFold(way[:len(dir)], dir)
	}
	return strings.HasPrefix(way, dir)
}

// indexName reports whether a path contains a name.
func indexName(way, name string) bool {
	for part := range strings.SplitSeq(way, "/") {
		if part == name || caseless && strings.EqualFold(part, name) {
			return true
		}
	}
	return false
}

// wild compares a path that is itself a pattern: the shell, or Grep and Glob, replace it with names.
func (f *file) wild(g glob, way string) bool {
	base := path.Base(way)
	dotted := strings.HasPrefix(g.base, ".") && !f.direct && !f.dots
	switch {
	case !strings.ContainsAny(g.base, wildcards) && !(dotted && strings.IndexAny(base, wildcards) == 0) && base != "*" && base != "**" &&
		matches(base, g.base) && (g.anyDir || matches(way, g.pattern)):
		return true
	case g.anyDir && matches(g.base, base): // *.pem and *.pem
		return true
	}
	return !f.direct && reaches(g, way)
}

// reaches reports whether the names for which a path stands are in the directory of a pattern that
// matches everything there: ~/.ss*/id with ~/.ssh/**. A name of only wildcards may be any but one
// with a leading dot.
func reaches(g glob, way string) bool {
	names, dirs := strings.Split(way, "/"), strings.Split(strings.TrimSuffix(g.fixed, "/"), "/")
	if g.pattern != g.fixed+"**" || len(names) <= len(dirs) {
		return false
	}
	for i, dir := range dirs {
		bare := strings.Trim(names[i], "*?") == ""
		if dir != names[i] && (!matches(names[i], dir) || bare && strings.HasPrefix(dir, ".")) {
			return false
		}
	}
	return true
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
