package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// glob is a pattern over absolute, slashed paths: * and ? stay within a name,
// ** spans directories, [abc] is a set.
type glob struct {
	text string
	re   *regexp.Regexp
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
	p := filepath.ToSlash(pattern)
	switch {
	case strings.HasPrefix(p, "~/"):
		p = strings.TrimSuffix(filepath.ToSlash(home), "/") + p[1:]
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
	case !strings.Contains(strings.TrimSuffix(p, "/"), "/"):
		p = quoteGlob(base) + "/**/" + p
	default:
		p = quoteGlob(base) + "/" + strings.TrimPrefix(p, "./")
	}
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	re, err := regexp.Compile(globExpression(p))
	return glob{pattern, re}, err
}

// quoteGlob keeps the characters of a directory's name from being read as a
// pattern.
func quoteGlob(dir string) string {
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(dir)
}

func globExpression(p string) string {
	var b strings.Builder
	b.WriteString("^")
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
	b.WriteString("$")
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
	rest := ""
	for dir := p; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if target, err := os.Readlink(dir); err == nil && rest == "" && filepath.IsAbs(target) {
			return target // a link to what is not there yet
		}
		up := filepath.Dir(dir)
		if up == dir {
			return p
		}
		dir, rest = up, filepath.Join(filepath.Base(dir), rest)
	}
}
