package rule

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"beckon/event/plainfile"
	"beckon/event/policy/shell"

	"github.com/bmatcuk/doublestar/v4"
)

// maxSearched is how many names below a folder are looked at to know what a search over it reads.
const maxSearched = 300

// search is a search over a folder for the texts in its files.
type search struct {
	hidden  bool // files that begin with a dot are searched
	ignored bool // those that .gitignore names are, too
}

// searchers are the programs that search folders, and searchValues their flags that have a value.
const (
	searchers    = "grep egrep fgrep rg ag ack"
	searchValues = "-A -B -C -m -g -t -T -j -M -e -f --glob --iglob --type --regexp --file --include --exclude --exclude-dir " +
		"--max-count --context"
)

// searchText returns the index of what a search looks for among its words, or -1.
func searchText(rest []string) int {
	for i, w := range rest {
		switch {
		case shell.In("-e --regexp", w):
			return i + 1
		case shell.In("-f --file", w):
			return -1
		case !shell.IsFlag(w) && (i == 0 || !shell.In(searchValues, rest[i-1])):
			return i
		}
	}
	return -1
}

// searched returns the files that a command of a line reads because it searches the folders they
// are in.
func (c *Call) searched(got *shell.Command) (list []file) {
	head, rest := shell.Base(got.Words[0]), got.Words[1:]
	switch {
	case got.Remote:
		return nil
	case shell.In(copiers, head):
		return c.copied(got.Dir, head, rest)
	case !shell.In(searchers, head):
		return nil
	}
	grep := strings.HasSuffix(head, "grep")
	s, deep := search{hidden: grep, ignored: grep}, !grep
	var dirs, only []string
	text := searchText(rest)
	for i, w := range rest {
		name, value, assigned := strings.Cut(w, "=")
		before := ""
		if i > 0 {
			before = rest[i-1]
		}
		short := shell.IsFlag(w) && w[1] != '-'
		switch {
		case shell.In("--include --glob -g --iglob", name) && assigned:
			only = append(only, value)
		case shell.In("-g --glob --iglob --include", before):
			only = append(only, w)
		case shell.In("-t --type --exclude --exclude-dir", name), // what is left is not told here
			short && strings.ContainsAny(w[1:], "lLcq") && !shell.In(searchValues, w[:2]),
			shell.In("--files-with-matches --files-without-match --count --quiet --files", w):
			return nil
		case short && strings.ContainsAny(w, "rR"), w == "--recursive":
			deep = true
		case w == "--hidden", w == "-.":
			s.hidden = true
		case w == "--no-ignore", short && strings.HasPrefix(w, "-u"):
			s.ignored, s.hidden = true, s.hidden || strings.HasPrefix(w, "-uu")
		case !shell.IsFlag(w) && !shell.In(searchValues, before) && i != text:
			dirs = append(dirs, w)
		}
	}
	if len(dirs) == 0 && !got.Fed {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		for _, pattern := range only {
			list = append(list, c.file(got.Dir, dir+"/"+pattern, use{read: true, glob: true, dots: true}))
		}
		if root := inDir(got.Dir, dir); len(only) == 0 && !strings.Contains(root, hole) {
			list = append(list, s.files(c.ways(root)[0])...)
		}
	}
	if !deep {
		return nil
	}
	return list
}

// copiers copy what is in folders, or put it into an archive.
const copiers = "tar zip cp scp rsync"

// copied returns the files in the folders that one of copiers is given. What it leaves out is not
// told here.
func (c *Call) copied(dir, head string, rest []string) (list []file) {
	is := func(accepts func(string) bool) bool { return slices.ContainsFunc(rest, accepts) }
	deep := is(isRecursive)
	if head == "tar" {
		creates := func(w string) bool {
			return w == "--create" || shell.IsFlag(w) && w[1] != '-' && strings.Contains(w, "c")
		}
		deep = is(creates) || len(rest) > 0 && !shell.IsFlag(rest[0]) && strings.Contains(rest[0], "c") // tar czf
	}
	left := func(w string) bool { return strings.HasPrefix(w, "--exclude") || w == "-x" || w == "-X" }
	if !deep || is(left) {
		return nil
	}
	for i, w := range rest {
		switch {
		case i > 0 && rest[i-1] == "-C":
			dir = inDir(dir, w)
		case shell.IsFlag(w), !isPath(w), strings.Contains(w, hole), shell.In(writesLast, head) && i == len(rest)-1:
		default:
			list = append(list, search{hidden: true, ignored: true}.files(c.ways(inDir(dir, w))[0])...)
		}
	}
	return list
}

// files returns the files below a folder that the search reads, the nearest first.
func (s search) files(root string) (list []file) {
	root = strings.TrimSuffix(root, "/")
	type folder struct {
		path  string
		rules ignores
	}
	start := folder{path: cmp.Or(root, "/")}
	if !s.ignored {
		start.rules = ignoresAbove(start.path)
		if start.rules.ignore(start.path, true) {
			return nil
		}
	}
	seen := 0
	for next := []folder{start}; len(next) > 0; next = next[1:] {
		dir := next[0]
		if !s.ignored {
			dir.rules = dir.rules.with(dir.path)
		}
		for _, e := range entriesOf(dir.path, maxSearched-seen+1) {
			at := strings.TrimSuffix(dir.path, "/") + "/" + e.Name()
			if seen++; seen > maxSearched {
				return list
			}
			hidden := !s.hidden && strings.HasPrefix(e.Name(), ".")
			switch {
			case hidden, shell.In(".git node_modules", e.Name()), dir.rules.ignore(at, e.IsDir()):
			case e.IsDir():
				next = append(next, folder{at, dir.rules})
			default:
				list = append(list, file{use: use{read: true}, ways: []string{folded(at)}, below: at[len(root)+1:]})
			}
		}
	}
	return list
}

// entriesOf returns at most so many entries of a folder; none of what is no folder.
func entriesOf(dir string, most int) []os.DirEntry {
	f, err := plainfile.OpenDir(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(most) // an unreadable folder is searched by nobody
	return entries
}

// gitIgnored is a pattern for what .gitignore files name.
const gitIgnored = "git:ignored"

// isIgnored reports whether a .gitignore of its repository names a file, or a folder it is in.
func isIgnored(file string) bool {
	root := repository(path.Dir(file))
	for at := file; at != root && at != path.Dir(at); at = path.Dir(at) {
		info, err := os.Lstat(filepath.FromSlash(at))
		if ignoresAbove(at).ignore(at, err != nil || info.IsDir()) {
			return true
		}
	}
	return false
}

// ignores are the lines of .gitignore files, the outermost first.
type ignores []ignored

type ignored struct {
	pattern string // over absolute paths
	not     bool   // it is not ignored
	dir     bool   // only folders are
}

// ignoresAbove returns the lines for a folder: of the files above it, up to the repository's root.
func ignoresAbove(dir string) ignores {
	up := path.Dir(dir)
	if up == dir {
		return nil
	}
	if up == repository(up) {
		return ignores(nil).with(up)
	}
	return ignoresAbove(up).with(up)
}

// with adds the lines of the file in a folder.
func (l ignores) with(dir string) ignores {
	text, err := plainfile.ReadFile(filepath.Join(filepath.FromSlash(dir), ".gitignore"))
	if err != nil {
		return l
	}
	l = slices.Clip(l)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		i := ignored{}
		line, i.not = strings.CutPrefix(line, "!")
		line, i.dir = strings.CutSuffix(line, "/")
		if i.pattern = Quote(dir) + "/**/" + line; strings.Contains(line, "/") {
			i.pattern = Quote(dir) + "/" + strings.TrimPrefix(line, "/")
		}
		if i.pattern = folded(i.pattern); doublestar.ValidatePattern(i.pattern) {
			l = append(l, i)
		}
	}
	return l
}

// ignore reports whether the last line that fits a path ignores it.
func (l ignores) ignore(at string, dir bool) bool {
	for _, i := range slices.Backward(l) {
		if (dir || !i.dir) && matches(i.pattern, folded(at)) {
			return !i.not
		}
	}
	return false
}
