package rule

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"

	"github.com/tidwall/gjson"
)

const hole = shell.Hole

// What programs do with the files among their words.
const (
	// namers only name files: they show none of what is in them.
	namers = "mktemp ls stat test [ [[ echo printf find fd fdfind file du which type basename dirname realpath readlink " +
		"mkdir touch chmod chown tree ssh-keygen ssh ssh-add cd pushd sh bash zsh alias export unset set read sleep kill " +
		"pkill code subl open xdg-open Test-Path Get-ChildItem gci dir"
	// writesAll and writesLast change the files among their words: all of them, or the last.
	writesAll = "rm mv tee truncate touch mkdir chmod chown shred unlink rmdir Remove-Item del " +
		"Set-Content Add-Content Clear-Content Out-File Tee-Object New-Item ni sc ac"
	writesLast = "cp install ln rsync scp"
	// writesBelow change what is below a directory, too; with a flag if they are not mv.
	writesBelow = "rm mv chmod chown cp rsync"
	// listers print the names of files, which others may be given.
	listers = "find fd fdfind ls git rg grep"
	// gitReads show what is in files, and gitWrites change them.
	gitReads = "show diff log blame annotate cat-file archive grep difftool shortlog add stash " +
		"format-patch diff-tree diff-index diff-files"
	gitWrites = "rm mv checkout restore clean apply"
	// envFlags name a file of variables for a program that is started.
	envFlags = "--env-file --env-file-if-exists --dotenv -var-file --var-file"
	// selecting are flags whose value says which files are meant, and names none.
	selecting = "--exclude --exclude-dir --include --glob"
	// givers hand the words of their input to a program.
	givers = "xargs parallel"
)

// opening finds the files that a command of a line reads or writes: each of its words may be one.
type opening struct {
	*Call
	at   int
	cmd  *shell.Command
	dir  string
	list []file
}

// filesOf returns the files of a command, found once.
func (c *Call) filesOf(at int) []file {
	f := c.known()
	if f.owned[at] == nil {
		cmd := &f.line.Commands[at]
		o := &opening{Call: c, at: at, cmd: cmd, dir: cmd.Dir, list: []file{}}
		if !cmd.Remote {
			o.command()
		}
		f.owned[at] = append(o.list, c.searched(cmd)...)
	}
	return f.owned[at]
}

func (o *opening) add(name string, u use) { o.list = append(o.list, o.file(o.dir, name, u)) }

// word adds the files that a word may name: itself, and its first parts; a=b:c has three.
func (o *opening) word(w string, u use) {
	const most = 4
	if o.Tool == "PowerShell" {
		w = strings.ReplaceAll(w, `\`, "/")
	}
	parts := strings.FieldsFunc(w, func(c rune) bool { return strings.ContainsRune("=:,@", c) })
	for i, name := range append([]string{w}, parts...) {
		if i <= most && isPath(name) && (i == 0 || name != w) {
			o.add(name, u)
		}
	}
}

func (o *opening) command() {
	c := o.cmd
	if shell.In("apply_patch applypatch", shell.Base(c.Words[0])) ||
		slices.Contains(c.Words, "--codex-run-as-apply-patch") {
		o.patch(strings.Join(c.Words[1:], "\n") + "\n" + c.Input)
		return
	}
	for _, w := range c.Reads {
		o.add(w, use{read: true})
	}
	for _, w := range c.Writes {
		o.add(w, use{write: true})
	}
	last := 0
	for _, p := range c.Programs() {
		if !p.Weak && (shell.In(shell.Carriers, shell.Base(c.Words[last])) || shell.IsKnown(p.Name)) {
			last = p.At
		}
	}
	head, start := shell.Base(c.Words[last]), last+1
	// printenv shows what is in a file of variables before it, too.
	shows := slices.ContainsFunc(c.Programs(), func(p shell.Place) bool { return !p.Weak && p.Name == "printenv" })
	if shell.In("source .", c.Words[0]) || shows || shell.In(shell.Containers, shell.Base(c.Words[0])) {
		start = 1
	}
	rest := c.Words[start:]
	changes := shell.In(writesAll, head) || edits(head, rest)
	if shell.In(shell.Finders, shell.Base(c.Words[0])) {
		writes := slices.Contains(c.Words, "-delete") || last > 0 && changes
		if writes || last > 0 && !shell.In(namers, head) {
			o.found(c, writes)
		}
		if last == 0 || !writes && shell.In(namers, head) {
			return
		}
	}
	checks := head == "openssl" && len(rest) > 0 && shell.In("x509 verify req crl s_client", rest[0])
	switch {
	case head == "git":
		if at, write, opens := o.git(rest); opens {
			o.words(head, start+at, false, write)
		}
	case !checks && (!shell.In(namers, head) || shell.In(writesAll, head) || head == "type" && o.Tool == "PowerShell"):
		o.words(head, start, shows, changes)
		o.given(head, changes)
	}
}

// words adds the files among the words of a program.
func (o *opening) words(head string, start int, shows, changes bool) {
	rest, git, text := o.cmd.Words[start:], head == "git", -1
	if shell.In("grep egrep fgrep rg", head) || git && o.cmd.Words[start-1] == "grep" {
		text = searchText(rest)
	}
	below := head == "mv" || git && changes || shell.In(writesBelow, head) && slices.ContainsFunc(rest, isRecursive)
	for i, w := range rest {
		before := o.cmd.Words[start+i-1]
		named := func(flag string) bool {
			return shell.In(selecting, flag) || head == "zip" && flag == "-x" || shell.In(envFlags, flag) && !shows ||
				git && shell.In("-S -G --author --since --until", flag)
		}
		if i == text || shell.In("{} ; +", w) || shell.In(shell.TextFlags, before) || named(before) {
			continue
		}
		target := shell.In(writesLast, head) && i == len(rest)-1 || head == "dd" && strings.HasPrefix(w, "of=") ||
			before == "-o" && head == "curl" || before == "-O" && head == "wget" || before == "-C" && head == "tar"
		if shell.IsFlag(w) {
			name, value, _ := strings.Cut(w, "=")
			if w = value; named(name) {
				continue
			}
		}
		glob := start+i < len(o.cmd.Globs) && o.cmd.Globs[start+i]
		u := use{read: true, write: changes || target, all: below, glob: glob}
		switch {
		case !git:
			o.word(w, u)
		case strings.HasPrefix(w, ":!"), strings.HasPrefix(w, ":^"),
			strings.HasPrefix(w, ":(") && strings.Contains(w, "exclude"):
		case strings.Contains(w, ":"):
			o.revision(w, u)
		case before != "-L" && isPath(w):
			u.glob, u.dots = strings.ContainsAny(w, wildcards), true
			o.add(w, u)
		}
	}
	if head == "cp" && len(o.list) > 1 {
		o.list[len(o.list)-1].template = o.templateOf(rest)
	}
}

// templateOf returns the file from which cp makes another of its name: .env.example for .env; else nil.
func (o *opening) templateOf(rest []string) *file {
	files := slices.DeleteFunc(slices.Clone(rest), shell.IsFlag)
	if len(files) != 2 {
		return nil
	}
	end := path.Ext(files[0])
	stem := strings.TrimSuffix(path.Base(files[0]), end)
	const ends = ".example .sample .template .dist .defaults .tmpl .tpl"
	if stem == "" || !shell.In(ends, end) || !strings.HasPrefix(path.Base(files[1]), stem) {
		return nil
	}
	from := o.file(o.dir, files[0], use{})
	return &from
}

// found adds the files that a lister hands on: its folders, and those of the names that it looks for below them.
func (o *opening) found(from *shell.Command, write bool) {
	find := shell.In(shell.Finders, shell.Base(from.Words[0]))
	var dirs, names []string
	for i, w := range from.Words[1:] {
		if shell.In("-exec -execdir -ok -okdir -x -X --exec", w) {
			break
		}
		switch {
		case shell.In("-name -iname -path -wholename -e --extension", from.Words[i]):
			names = append(names, w)
		case isPath(w) && !shell.IsFlag(w) && (!find || i == len(dirs)):
			dirs = append(dirs, w)
		}
	}
	if find && len(dirs) == 0 {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		u := use{read: true, write: write, all: true, glob: !find, around: len(names) > 0}
		o.list = append(o.list, o.file(from.Dir, dir, u))
		u.glob, u.around = true, false
		for _, name := range names {
			o.list = append(o.list, o.file(from.Dir, dir+"/"+name, u))
		}
	}
}

// inPlace are the flags with which such programs change the files that they are given.
const inPlace = "-i -pi --in-place --write -w --fix"

// edits reports whether a program changes files in place.
func edits(head string, rest []string) bool {
	changes := func(w string) bool {
		return slices.ContainsFunc(strings.Fields(inPlace), func(flag string) bool { return strings.HasPrefix(w, flag) })
	}
	return shell.In("sed perl ruby prettier gofmt eslint black rustfmt", head) && slices.ContainsFunc(rest, changes)
}

func isRecursive(w string) bool {
	return w == "--recursive" || shell.IsFlag(w) && w[1] != '-' && strings.ContainsAny(w, "rRa")
}

// given adds the files that xargs hands to a program: what another command finds.
func (o *opening) given(head string, write bool) {
	given := slices.ContainsFunc(o.cmd.Words, func(w string) bool { return w == hole || shell.In(givers, shell.Base(w)) })
	if !given || shell.In("echo printf ls", head) {
		return
	}
	l := o.known().line
	for _, i := range l.Sources(o.at) {
		if from := &l.Commands[i]; shell.In(listers, from.Programs()[0].Name) {
			o.found(from, write)
		}
	}
}

// git returns the index of the word behind the subcommand, if that reads or writes files, and whether it writes.
func (o *opening) git(words []string) (start int, write, opens bool) {
	sub := 0
	before := ""
	for ; sub < len(words) && (!isPlain(words[sub]) || shell.In("-C -c --git-dir --work-tree", before)); sub++ {
		if before == "-C" && !strings.Contains(words[sub], hole) {
			o.dir = inDir(o.dir, words[sub])
		}
		before = words[sub]
	}
	if sub == len(words) {
		return 0, false, false
	}
	name, rest := words[sub], words[sub+1:]
	has := func(flags string) bool {
		return slices.ContainsFunc(strings.Fields(flags), func(flag string) bool {
			is := func(w string) bool { return w == flag || len(flag) == 2 && strings.HasPrefix(w, flag) }
			return slices.ContainsFunc(rest, is)
		})
	}
	write = shell.In(gitWrites, name)
	quiet := !write && !shell.In(gitReads, name) || name == "rm" && has("--cached") ||
		has("--stat --name-only --name-status --quiet --shortstat --numstat") && !has("-p -u --patch -U") ||
		shell.In("log shortlog", name) && !has("-p -u --patch --cc -c -U -L")
	return sub + 1, write, !quiet
}

// revision adds the file of REVISION:FILE.
func (o *opening) revision(w string, u use) {
	name := w[strings.LastIndexByte(w, ':')+1:]
	name = name[strings.LastIndexByte(name, ')')+1:] // :(top)FILE
	dir := o.dir
	switch name = strings.TrimPrefix(name, "/"); {
	case strings.HasPrefix(name, ".") && strings.Contains(name, "/"):
		u.all = false
	case name != "" && !isPath(name):
		return
	case !strings.Contains(dir, hole):
		dir = repository(o.ways(inDir(dir, "."))[0])
	}
	o.list = append(o.list, o.file(dir, cmp.Or(name, "."), u))
}

// patch adds the files that a patch of Codex's names.
func (o *opening) patch(text string) {
	for line := range strings.Lines(text) {
		head, name, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(head, "*** ") && (strings.HasSuffix(head, " File") || head == "*** Move to") {
			o.add(strings.TrimSpace(name), use{read: true, write: true})
		}
	}
}

// isPath reports whether a text may be the name of a file.
func isPath(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' && c != 0 || c < 0x7f && strings.ContainsRune("\"'`<>|&;()!#\\=:", c)
	})
}

// pathNames are the names for a file in a tool's input. MCP servers use others, too, and what ends in path.
const pathNames = "file_path notebook_path path"
const serverNames = "paths file files filename file_name source destination src dst from to target directory dir " +
	"root uri uris url file_uri resource output_file input_file"

// toolFiles returns the files that a tool's input names.
func (c *Call) toolFiles() (list []file) {
	input := gjson.ParseBytes(c.Input)
	mcp := strings.HasPrefix(c.Tool, "mcp__")
	u := use{read: true, write: !onlyReads(c.Tool), direct: !mcp}
	switch c.Tool {
	case "Grep":
		return c.searches(input, input.Get("glob").Str, u)
	case "Glob":
		return c.searches(input, input.Get("pattern").Str, u)
	case "WebFetch", "WebSearch", "Agent", "Task", "Skill":
		return nil
	}
	members(input, 0, func(name string, v gjson.Result) {
		server := mcp && (shell.In(serverNames, name) || strings.HasSuffix(strings.ToLower(name), "path"))
		if !server && !shell.In(pathNames, name) {
			return
		}
		for _, text := range texts(v) {
			text, local := strings.CutPrefix(text, "file://")
			if local || !mcp || !strings.Contains(text, "://") { // elsewhere a path may contain it and go on with ".."
				list = append(list, c.file("", text, u))
			}
		}
	})
	return list
}

// searches returns the files that Grep or Glob reads: its folders, and those in them that fit or are shown.
func (c *Call) searches(input gjson.Result, pattern string, u use) (list []file) {
	dirs := texts(input.Get("path")) // other agents have several
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	shows := input.Get("output_mode").Str == "content" && input.Get("type").Str == ""
	u.glob = true
	for _, dir := range dirs {
		if dir != "" {
			list = append(list, c.file("", dir, u))
		}
		switch {
		case pattern != "":
			list = append(list, c.file("", inDir(dir, pattern), u))
		case shows:
			for _, f := range c.below(dir, search{hidden: true}) {
				f.direct = true
				list = append(list, f)
			}
		}
	}
	return list
}

// texts returns a text, or those of a list.
func texts(v gjson.Result) (list []string) {
	for _, item := range v.Array() {
		if item.Type == gjson.String && item.Str != "" {
			list = append(list, item.Str)
		}
	}
	return list
}

// onlyReads reports whether a tool's name says that it reads its files.
func onlyReads(tool string) bool {
	name := strings.ToLower(tool[strings.LastIndex(tool, "__")+1:])
	reads := func(word string) bool { return strings.Contains(name, word) }
	return slices.ContainsFunc(strings.Fields("read get list search grep glob view stat info find"), reads)
}
