package rule

import (
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
	copiers      = "tar zip cp scp rsync" // they copy what is in folders, or put it into an archive
	searchers    = "grep egrep fgrep rg ag ack"
	searchValues = "-A -B -C -m -g -t -T -j -M -e -f --glob --iglob --type --regexp --file --include --exclude " +
		"--exclude-dir --max-count --context"
	// chosen have a pattern of the names that are searched as their value.
	chosen = "-g --glob --iglob --include"
	// untold are flags whose choice of names is not told here, and those that show no text.
	untold = "-t --type --exclude --exclude-dir --files-with-matches --files-without-match --count --quiet --files"
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

// searched returns the files that a command of a line reads because it searches, or copies, the folders they are in.
func (c *Call) searched(got *shell.Command) (list []file) {
	head, rest := shell.Base(got.Words[0]), got.Words[1:]
	copies := shell.In(copiers, head)
	if got.Remote || !copies && !shell.In(searchers, head) {
		return nil
	}
	grep := copies || strings.HasSuffix(head, "grep")
	s, deep, text := search{hidden: grep, ignored: grep}, !grep, -1
	if !copies {
		text = searchText(rest)
	}
	var dirs, only []string
	dir, before := "", ""
	for i, w := range rest {
		last := before
		before = w
		name, value, assigned := strings.Cut(w, "=")
		short := shell.IsFlag(w) && w[1] != '-'
		switch {
		case copies && (strings.HasPrefix(w, "--exclude") || shell.In("-x -X", w)), !copies && shell.In(untold, name),
			!copies && short && strings.ContainsAny(w[1:], "lLcq") && !shell.In(searchValues, w[:2]):
			return nil
		case copies && last == "-C":
			dir = inDir(dir, w)
		case copies && (isRecursive(w) || w == "--create" || head == "tar" && (i == 0 || short) && strings.Contains(w, "c")),
			short && strings.ContainsAny(w, "rR"), w == "--recursive":
			deep = true // tar czf
		case !copies && shell.In(chosen, name) && assigned:
			only = append(only, value)
		case !copies && shell.In(chosen, last):
			only = append(only, w)
		case shell.In("--hidden -.", w):
			s.hidden = true
		case w == "--no-ignore", short && strings.HasPrefix(w, "-u"):
			s.ignored, s.hidden = true, s.hidden || strings.HasPrefix(w, "-uu")
		case shell.IsFlag(w), i == text, !copies && shell.In(searchValues, last),
			shell.In(writesLast, head) && i == len(rest)-1:
		default:
			dirs = append(dirs, inDir(dir, w))
		}
	}
	switch {
	case !deep:
		return nil
	case len(dirs) == 0 && !got.Fed && !copies:
		dirs = []string{"."}
	}
	for _, folder := range dirs {
		for _, pattern := range only {
			list = append(list, c.file(got.Dir, folder+"/"+pattern, use{read: true, glob: true, dots: true}))
		}
		if root := inDir(got.Dir, folder); len(only) == 0 && !strings.Contains(root, hole) {
			list = append(list, c.below(root, s)...)
		}
	}
	return list
}

// below returns the files below a folder that a search reads, the nearest first.
func (c *Call) below(root string, s search) (list []file) {
	root = c.ways(root)[0]
	if !s.ignored && c.isIgnored(root) {
		return nil
	}
	seen := 0
	for next := []string{root}; len(next) > 0; next = next[1:] {
		for _, e := range entriesOf(next[0], maxSearched-seen) {
			seen++
			at := path.Join(next[0], e.Name())
			hidden := !s.hidden && strings.HasPrefix(e.Name(), ".")
			switch {
			case hidden, shell.In(".git node_modules", e.Name()), !s.ignored && c.ignores(next[0]).ignore(at, e.IsDir()):
			case e.IsDir():
				next = append(next, at)
			default:
				list = append(list, file{use: use{read: true}, ways: []string{folded(at)}})
			}
		}
	}
	return list
}

// entriesOf returns at most so many entries of a folder; none of what is no folder.
func entriesOf(dir string, most int) []os.DirEntry {
	f, err := plainfile.OpenDir(filepath.FromSlash(dir))
	if err != nil || most <= 0 { // of no number ReadDir returns all
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(most) // an unreadable folder is searched by nobody
	return entries
}

// gitIgnored is a pattern for what .gitignore files name.
const gitIgnored = "git:ignored"

// isIgnored reports whether a .gitignore of its repository names a file, or a folder it is in.
func (c *Call) isIgnored(file string) bool {
	root := repository(path.Dir(file))
	for at := file; at != root && at != path.Dir(at); at = path.Dir(at) {
		info, err := os.Lstat(filepath.FromSlash(at))
		if c.ignores(path.Dir(at)).ignore(at, err != nil || info.IsDir()) {
			return true
		}
	}
	return false
}

// ignores are the lines of .gitignore files, the outermost first, as patterns over absolute paths, with !
// before them if what fits is not ignored, and / behind them if only folders are.
type ignores []string

// ignores returns the lines for what is in a folder: of its file and those above it, up to the repository's root.
func (c *Call) ignores(dir string) ignores {
	if l, known := c.ignored[dir]; known {
		return l
	}
	var l ignores
	if dir != path.Dir(dir) && dir != repository(dir) {
		l = slices.Clip(c.ignores(path.Dir(dir)))
	}
	text, _ := plainfile.ReadFile(filepath.Join(filepath.FromSlash(dir), ".gitignore")) // mostly there is none
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \r\n")
		if strings.Trim(line, "/!") == "" || line[0] == '#' {
			continue
		}
		line, not := strings.CutPrefix(line, "!")
		between := "/**/"
		if strings.Contains(strings.TrimSuffix(line, "/"), "/") {
			between = "/"
		}
		pattern := folded(Quote(dir) + between + strings.TrimPrefix(line, "/"))
		if not {
			pattern = "!" + pattern
		}
		if doublestar.ValidatePattern(pattern) {
			l = append(l, pattern)
		}
	}
	c.ignored[dir] = l
	return l
}

// ignore reports whether the last line that fits a path ignores it.
func (l ignores) ignore(at string, dir bool) bool {
	for _, line := range slices.Backward(l) {
		pattern, not := strings.CutPrefix(line, "!")
		pattern, folder := strings.CutSuffix(pattern, "/")
		if (dir || !folder) && matches(pattern, folded(at)) {
			return !not
		}
	}
	return false
}
