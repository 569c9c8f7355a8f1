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
type glob struct {
	dir  string // what every path begins with that it matches
	rest string // the pattern after that
	end  string // of the expression
}

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
	g := globOf(rooted(pattern, base, home))
	_, err := g.expression()
	return g, err
}

// globOf takes a rooted pattern apart. Most paths are told from most patterns
// by where they begin, which costs no expression.
func globOf(p string) glob {
	fixed := p
	if meta := strings.IndexAny(p, wildcards); meta >= 0 {
		fixed = p[:meta]
	}
	at := strings.LastIndexByte(fixed, '/') + 1
	return glob{p[:at], p[at:], "$"}
}

const wildcards = "*?["

func (g glob) expression() (*regexp.Regexp, error) {
	return regexp.Compile("^" + globExpression(g.rest) + g.end)
}

func (g glob) begins(path string) bool {
	if caseless {
		return len(path) >= len(g.dir) && strings.EqualFold(path[:len(g.dir)], g.dir)
	}
	return strings.HasPrefix(path, g.dir)
}

func (g glob) match(path string) bool {
	if !g.begins(path) {
		return false
	}
	re, err := g.expression()
	return err == nil && re.MatchString(path[len(g.dir):])
}

// globList is one pattern in several forms.
type globList []glob

// globs reads a pattern for what must not be missed: where it begins at a link
// it is also for what the link leads to, and if it ends in a plain name, which
// may be a directory's, for all that is in there.
func globs(pattern, base, home string) (list globList) {
	p := rooted(pattern, base, home)
	forms := []string{p}
	fixed := p
	if strings.ContainsAny(p, wildcards) {
		fixed = globOf(p).dir
	}
	if dir := strings.TrimSuffix(fixed, "/"); dir != "" {
		if real := filepath.ToSlash(follow(filepath.FromSlash(dir))); real != dir {
			forms = append(forms, quoteGlob(real)+p[len(dir):])
		}
	}
	for _, form := range forms {
		g := globOf(form)
		if !strings.ContainsAny(form[strings.LastIndexByte(form, '/')+1:], wildcards) {
			g.end = "(?:/.*)?$"
		}
		list = append(list, g)
	}
	return list
}

// match reports whether one form takes the path, or all that is in it. A
// pattern that cannot be read takes every path below where it begins.
func (l globList) match(path string) bool {
	return slices.ContainsFunc(l, func(g glob) bool {
		if !g.begins(path + "/") {
			return false
		}
		re, err := g.expression()
		if err != nil {
			return true
		}
		inside := (path + "/")[len(g.dir):]
		return re.MatchString(inside) || g.begins(path) && re.MatchString(path[len(g.dir):])
	})
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
