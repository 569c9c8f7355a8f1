package rule

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"beckon/event/policy/shell"

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
	glob        bool   // it stands for the names that match it
	dots        bool   // it is git's pattern, in which * matches a leading dot, too
	all         bool   // it counts with everything below it
	around      bool   // another file of the command says what is meant of it
	root        bool   // a relative path begins at the root of the git repository
	template    string // it is written as a copy of this one; a rule that excepts that excepts it
}

// file is a file that a call reads or writes.
type file struct {
	opened
	ways   []string // absolute, with slashes: as written, and with links followed
	unsure bool     // the beginning of the path is unknown; ways contain its end
	direct bool     // the call's own tool works on it; else it counts for those that tools returns
	below  string   // where it was found below a folder that is searched; the folder is another file
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
	case f.below != "" && g.anyDir && !strings.ContainsAny(g.base, wildcards):
		return indexName(f.below, g.base)
	case f.below != "" && g.anyDir:
		return matches(g.base, path.Base(way))
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
