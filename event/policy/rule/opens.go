package rule

import (
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

const (
	// namers only name files: they show none of what is in them.
	namers = "mktemp ls stat test [ [[ echo printf find fd fdfind file du which type basename dirname realpath readlink mkdir touch chmod chown " +
		"tree ssh-keygen ssh ssh-add cd pushd sh bash zsh alias export unset set read sleep kill pkill"
	// writesAll and writesLast are programs that change the files among their words: all of them, or
	// the last.
	writesAll  = "rm mv tee truncate touch mkdir chmod chown shred unlink rmdir Remove-Item del"
	writesLast = "cp install ln rsync scp"
	// writesBelow change what is below a directory, too; with a flag if they are not mv.
	writesBelow = "rm mv chmod chown cp rsync"
	// finders print the names of files, which others may be given.
	finders = "find fd fdfind ls git rg grep"
	// gitReads show what is in files, and gitWrites change them.
	gitReads  = "show diff log blame cat-file archive grep difftool shortlog add"
	gitWrites = "rm mv checkout restore clean apply"
	// envFlags name a file of variables for a program that is started.
	envFlags = "--env-file --env-file-if-exists --dotenv -var-file --var-file"
	// selecting are flags whose value says which files are meant, and names none.
	selecting = "--exclude --exclude-dir --include --glob"
)

// opens returns the files that a command reads or writes: each of its words may be one.
func opens(l *shell.Line, at int) (list []opened) {
	c := &l.Commands[at]
	add := func(w string, write, all, glob bool) {
		const most = 3 // names in a word: a=b:c
		for i := 0; i < most && w != ""; i++ {
			if w = strings.TrimPrefix(w, "@"); isPath(w) {
				list = append(list, opened{path: w, dir: c.Dir, read: true, write: write, glob: glob, all: all})
			}
			next := strings.IndexAny(w, "=:,@")
			if next < 0 {
				return
			}
			w = w[next+1:]
		}
	}
	if c.Remote {
		return nil
	}
	if text := patchOf(c); text != "" {
		return patched(c, text)
	}
	for _, w := range c.Reads {
		list = append(list, opened{path: w, dir: c.Dir, read: true})
	}
	for _, w := range c.Writes {
		list = append(list, opened{path: w, dir: c.Dir, write: true})
	}
	last := 0
	for _, p := range c.Programs() {
		if !p.Weak && (shell.In(shell.Carriers, shell.Base(c.Words[last])) || shell.IsKnown(p.Name)) {
			last = p.At
		}
	}
	head, rest := shell.Base(c.Words[last]), c.Words[last+1:]
	start := last + 1
	w := c.Words[0]
	// printenv shows what is in a file of variables before it, too.
	shows := slices.ContainsFunc(c.Programs(), func(p shell.Place) bool { return !p.Weak && p.Name == "printenv" })
	if w == "source" || w == "." || shows {
		rest, start = c.Words[1:], 1
	}
	if shell.In(shell.Finders, shell.Base(c.Words[0])) {
		writes := slices.Contains(c.Words, "-delete") || last > 0 && shell.In(writesAll, head)
		reads := last > 0 && !shell.In(namers, head)
		if last == 0 && !writes || last > 0 && !writes && !reads {
			return list
		}
		if list = append(list, found(c, writes || edits(head, rest))...); last == 0 {
			return list
		}
	}
	if head == "git" {
		sub := slices.IndexFunc(rest, isPlain)
		for sub > 0 && shell.In("-C -c --git-dir --work-tree", rest[sub-1]) {
			next := slices.IndexFunc(rest[sub+1:], isPlain)
			if next < 0 {
				return list
			}
			sub += 1 + next
		}
		if sub < 0 || !shell.In(gitReads, rest[sub]) && !shell.In(gitWrites, rest[sub]) {
			return list
		}
		return append(list, gitFiles(c, rest, sub)...)
	}
	checks := head == "openssl" && len(rest) > 0 && shell.In("x509 verify req crl s_client", rest[0])
	if checks || shell.In(namers, head) && !shell.In(writesAll, head) {
		return list
	}
	for i, w := range rest {
		glob := start+i < len(c.Globs) && c.Globs[start+i]
		before := ""
		if i > 0 {
			before = rest[i-1]
		}
		if shell.In("{} ; +", w) || shell.In(shell.TextFlags, before) || shell.In(selecting, before) || shell.In(envFlags, before) && !shows || shell.In("grep egrep fgrep rg", head) && isSearchText(rest, i) {
			continue
		}
		write := shell.In(writesAll, head) || shell.In(writesLast, head) && i == len(rest)-1 || head == "dd" && strings.HasPrefix(w, "of=") ||
			edits(head, rest) || head == "curl" && before == "-o" || head == "wget" && before == "-O" || head == "tar" && before == "-C"
		below := head == "mv" || shell.In(writesBelow, head) && slices.ContainsFunc(rest, isRecursive)
		if shell.IsFlag(w) {
			if name, value, ok := strings.Cut(w, "="); ok && !shell.In(envFlags, name) && !shell.In(selecting, name) {
				add(value, write, below, glob)
			}
			continue
		}
		add(w, write, below, glob)
	}
	if head == "cp" && len(list) > 1 {
		list[len(list)-1].template = templateOf(rest)
	}
	return append(list, given(l, at, head, rest)...)
}

// templateOf returns the file from which cp makes another of its name: .env.example for .env or
// .env.local; empty if it copies anything else.
func templateOf(rest []string) string {
	var files []string
	for _, w := range rest {
		if !shell.IsFlag(w) {
			files = append(files, w)
		}
	}
	if len(files) != 2 {
		return ""
	}
	end := path.Ext(files[0])
	stem := strings.TrimSuffix(path.Base(files[0]), end)
	if stem == "" || !shell.In(".example .sample .template .dist .defaults .tmpl .tpl", end) || !strings.HasPrefix(path.Base(files[1]), stem) {
		return ""
	}
	return files[0]
}

// found returns the files that find hands on: those below its folders, of the name it looks for.
func found(c *shell.Command, write bool) (list []opened) {
	var dirs, names []string
	for i, w := range c.Words[1:] {
		if shell.In("-exec -execdir -ok -okdir -x -X --exec", w) {
			break
		}
		switch before := c.Words[i]; {
		case shell.In("-name -iname -path -wholename -e --extension", before):
			names = append(names, w)
		case len(names) == 0 && !shell.IsFlag(w) && i == len(dirs) && isPath(w):
			dirs = append(dirs, w)
		}
	}
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		list = append(list, opened{path: dir, dir: c.Dir, read: true, write: write, all: true, around: len(names) > 0})
		for _, name := range names {
			list = append(list, opened{path: dir + "/" + name, dir: c.Dir, read: true, write: write, all: true, glob: true})
		}
	}
	return list
}

// edits reports whether a program changes files in place.
func edits(head string, rest []string) bool {
	return shell.In("sed perl gsed ruby", head) && slices.ContainsFunc(rest, func(w string) bool {
		return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") || strings.HasPrefix(w, "--in-place")
	}) || shell.In("prettier gofmt eslint black rustfmt", head) && slices.ContainsFunc(rest, func(w string) bool {
		return shell.In("--write -w --fix", w)
	})
}

func isRecursive(w string) bool {
	return w == "--recursive" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rRa")
}

// isSearchText reports whether a word of grep is what it looks for.
func isSearchText(rest []string, at int) bool {
	for i, w := range rest[:at] {
		if shell.In("-e --regexp -f --file", w) {
			return i == at-1 && w != "-f" && w != "--file"
		}
		if !shell.IsFlag(w) && (i == 0 || !shell.In("-A -B -C -m -g -t --glob --type", rest[i-1])) {
			return false
		}
	}
	return !shell.IsFlag(rest[at]) && (at == 0 || !shell.In("-A -B -C -m -g -t --glob --type", rest[at-1]))
}

// given returns the files that xargs hands to a program: what another command finds.
func given(l *shell.Line, at int, head string, rest []string) (list []opened) {
	c := &l.Commands[at]
	if !slices.ContainsFunc(c.Words, func(w string) bool { return shell.In("xargs gxargs parallel", shell.Base(w)) }) || shell.In("echo printf ls", head) {
		return nil
	}
	write := shell.In(writesAll, head) || edits(head, rest)
	for _, i := range l.Sources(at) {
		from := &l.Commands[i]
		if !shell.In(finders, from.Programs()[0].Name) {
			continue
		}
		if shell.In(shell.Finders, from.Programs()[0].Name) {
			list = append(list, found(from, write)...)
			continue
		}
		for _, w := range from.Words[1:] {
			if isPath(w) && !shell.IsFlag(w) {
				list = append(list, opened{path: w, dir: from.Dir, read: true, write: write, all: true})
			}
		}
	}
	return list
}

// gitFiles returns the files that a git command reads or writes: words, and what follows the colon
// of a revision, which begins at the root of the repository.
func gitFiles(c *shell.Command, words []string, sub int) (list []opened) {
	dir := c.Dir
	for i, w := range words[:sub] {
		if i > 0 && words[i-1] == "-C" && !strings.Contains(w, shell.Hole) {
			dir = inDir(dir, w)
		}
	}
	rest := words[sub+1:]
	if slices.ContainsFunc(rest, func(w string) bool {
		return shell.In("--stat --name-only --name-status --quiet --shortstat --numstat", w)
	}) && !slices.ContainsFunc(rest, func(w string) bool { return shell.In("-p -u --patch", w) || strings.HasPrefix(w, "-U") }) {
		return nil
	}
	if shell.In("log shortlog", words[sub]) && !slices.ContainsFunc(rest, func(w string) bool {
		return shell.In("-p -u --patch --cc -c", w) || strings.HasPrefix(w, "-U") || strings.HasPrefix(w, "-L")
	}) {
		return nil
	}
	write := shell.In(gitWrites, words[sub])
	for i, w := range rest {
		switch {
		case i > 0 && (shell.In(shell.TextFlags, rest[i-1]) || shell.In("-S -G -L --author --since --until", rest[i-1])) && !(rest[i-1] == "-L" && strings.Contains(w, ":")):
		case strings.HasPrefix(w, ":!"), strings.HasPrefix(w, ":^"), strings.HasPrefix(w, ":(") && strings.Contains(w, "exclude"):
		case words[sub] == "grep" && isSearchText(rest, i) && !slices.Contains(rest[:i], "--"):
		case shell.IsFlag(w):
			if _, value, ok := strings.Cut(w, "="); ok && isPath(value) {
				list = append(list, opened{path: value, dir: dir, read: true, write: true})
			}
		case strings.Contains(w, ":"):
			name := w[strings.LastIndexByte(w, ':')+1:]
			if at := strings.LastIndexByte(w, ')'); strings.HasPrefix(w, ":(") && at > 0 {
				name = w[at+1:]
			}
			if name = strings.TrimPrefix(name, "/"); name == "" {
				name = "."
			}
			if strings.HasPrefix(name, ".") && strings.Contains(name, "/") {
				list = append(list, opened{path: name, dir: dir, read: true, write: write})
			} else if isPath(name) {
				list = append(list, opened{path: name, dir: dir, read: true, write: write, all: write, root: true})
			}
		case isPath(w):
			list = append(list, opened{path: w, dir: dir, read: true, write: write, all: write, glob: strings.ContainsAny(w, "*?["), dots: true})
		}
	}
	return list
}

// patchOf returns the patch that a command of Codex's applies.
func patchOf(c *shell.Command) string {
	if !shell.In("apply_patch applypatch", shell.Base(c.Words[0])) && !slices.Contains(c.Words, "--codex-run-as-apply-patch") {
		return ""
	}
	return strings.Join(c.Words[1:], "\n") + "\n" + c.Input
}

// patched returns the files that a patch of Codex's names.
func patched(c *shell.Command, text string) (list []opened) {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				list = append(list, opened{path: strings.TrimSpace(name), dir: c.Dir, read: true, write: true})
			}
		}
	}
	return list
}

// isPath reports whether a text may be the name of a file.
func isPath(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' && c != 0 || c < 0x7f && strings.ContainsRune("\"'`<>|&;()!#\\=:", c)
	})
}
