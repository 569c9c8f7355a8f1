package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// glob is a pattern over absolute, slashed paths: * and ? stay within a name,
// ** spans directories, [abc] is a set.
type glob struct{ re *regexp.Regexp }

// place is where relative patterns and paths begin.
type place struct {
	project string // relative patterns of a rule
	cwd     string // relative paths of a tool, and of an "if"
	home    string
}

// newGlob reads a pattern that is absolute, begins with ~/, or is relative to
// base. A pattern without a slash matches a name anywhere below base, as
// .gitignore has it.
func newGlob(pattern, base, home string) (glob, error) {
	re, err := regexp.Compile("^" + globExpression(rooted(pattern, base, home)) + "$")
	return glob{re}, err
}

// globList is one pattern in several forms.
type globList []glob

// globs reads a pattern for what must not be missed: where it begins at a link
// it is also for what the link leads to, and if it ends in a plain name, which
// may be a directory's, for all that is in there.
func globs(pattern, base, home string) (globList, error) {
	p := rooted(pattern, base, home)
	forms := []string{p}
	fixed := p
	if meta := strings.IndexAny(p, "*?["); meta >= 0 {
		fixed = p[:strings.LastIndexByte(p[:meta], '/')+1]
	}
	if dir := strings.TrimSuffix(fixed, "/"); dir != "" {
		if real := filepath.ToSlash(follow(filepath.FromSlash(dir))); real != dir {
			forms = append(forms, quoteGlob(real)+p[len(dir):])
		}
	}
	var list globList
	for _, form := range forms {
		end := "$"
		if !strings.ContainsAny(form[strings.LastIndexByte(form, '/')+1:], "*?[") {
			end = "(?:/.*)?$"
		}
		re, err := regexp.Compile("^" + globExpression(form) + end)
		if err != nil {
			return nil, err
		}
		list = append(list, glob{re})
	}
	return list, nil
}

// match reports whether one form takes the path, or all that is in it.
func (l globList) match(path string) bool {
	return slices.ContainsFunc(l, func(g glob) bool { return g.match(path) || g.match(path+"/") })
}

// rooted makes a pattern one over absolute paths.
func rooted(pattern, base, home string) string {
	p := filepath.ToSlash(pattern)
	switch {
	case strings.HasPrefix(p, "~/"):
		p = quoteGlob(home) + p[1:]
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
	case !strings.Contains(strings.TrimSuffix(p, "/"), "/"):
		p = quoteGlob(base) + "/**/" + p
	default:
		p = quoteGlob(base) + "/" + strings.TrimPrefix(p, "./")
	}
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	return p
}

// quoteGlob keeps the characters of a directory's name from being read as a
// pattern.
func quoteGlob(dir string) string {
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(dir)
}

func globExpression(p string) string {
	var b strings.Builder
	if caseless {
		b.WriteString("(?i)")
	}
	for i := 0; i < len(p); i++ {
		switch {
		case strings.HasPrefix(p[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(".*")
			i++
		case p[i] == '*':
			b.WriteString("[^/]*")
		case p[i] == '?':
			b.WriteString("[^/]")
		case p[i] == '[' && strings.IndexByte(p[i+1:], ']') > 0:
			end := i + 1 + strings.IndexByte(p[i+1:], ']')
			set := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(p[i+1 : end])
			if strings.HasPrefix(set, "!") {
				set = "^" + set[1:]
			}
			b.WriteString("[" + set + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	return b.String()
}

// caseless: the usual file systems of these ignore letter case.
const caseless = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

func (g glob) match(path string) bool { return g.re.MatchString(path) }

// resolved returns the ways in which a path may be written: as it is, made
// absolute from cwd, and with its links followed as far as it exists.
func resolved(p string, at place) []string {
	if strings.HasPrefix(p, "~/") {
		p = filepath.Join(at.home, p[2:])
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(at.cwd, p)
	}
	p = filepath.Clean(p)
	out := []string{filepath.ToSlash(p)}
	if real := follow(p); real != p {
		out = append(out, filepath.ToSlash(real))
	}
	return out
}

// follow resolves the links of the part of p that exists.
func follow(p string) string {
	const most = 40 // links of one path, as the system has it
	for range most {
		at, rest := existing(p)
		if at == "" {
			return p
		}
		target, err := os.Readlink(filepath.Join(at, first(rest)))
		if err != nil {
			return filepath.Join(at, rest)
		}
		// A link to what is not there yet: who writes to it makes that.
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		p = filepath.Join(target, strings.TrimPrefix(rest, first(rest)))
	}
	return p
}

// existing returns the longest part of p that exists, its links resolved, and
// what follows it.
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

// first is the first name of a relative path.
func first(rest string) string {
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	return name
}
