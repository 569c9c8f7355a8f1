package shell

import (
	"slices"
	"strings"
)

// The programs that are known, and only by what they do with their words.
const (
	// Carriers run a program that any later word names.
	Carriers = "sudo doas env nohup time command builtin exec nice ionice chrt taskset timeout stdbuf setsid cmd chroot " +
		"unshare nsenter flock su runuser gosu su-exec pkexec script watch xargs parallel busybox toybox systemd-run " +
		"strace ltrace perf valgrind caffeinate faketime proxychains proxychains4 torsocks torify xvfb-run " +
		"dbus-run-session fakeroot unbuffer rlwrap corepack Start-Process dotenv dotenvx cross-env env-cmd npx bunx pnpx " +
		"pnpm yarn bun uvx bundle mise aws-vault then do noglob nocorrect winpty arch setarch prlimit tini chronic entr " +
		"watchexec nodemon hyperfine bwrap firejail ssh-agent coproc sem -"
	// textual programs run nothing that they name.
	textual = "echo printf grep egrep fgrep rg ag ack cat head tail less more ls stat test [ file du df wc sort uniq " +
		"cut tr sed jq yq diff comm cmp touch mkdir cp mv rm ln chmod chown tar zip unzip tree which type whereis man tldr " +
		"help hash alias unalias export set read history basename dirname realpath readlink base64 md5sum notify-send " +
		"logger say vim vi nano code open curl wget scp rsync git gh glab pip pip3 brew apt apt-get apt-cache dnf yum apk " +
		"pacman psql mysql sqlite3 ssh-keygen ssh-add createdb redis-cli mongosh tee xxd declare local svn hg"
	// carriesText are those of textual of which some flags have lines, and ssh.
	carriesText = "alias git ssh tar rsync sort wget zip"
	// Shells are programs that read command lines.
	Shells = "sh bash zsh dash ksh mksh ash fish rbash pwsh . source"
	// Languages are interpreters.
	Languages = "python node ruby perl php deno bun tsx ts-node bpython ipython pypy nodejs osascript Rscript lua awk"
	// liners take command lines as words.
	liners = "cmd su runuser script flock watch parallel trap env sg tmux screen nix-shell concurrently entr xterm " +
		"hyperfine at batch nodemon " + assigners
	// assigners run the values of NAME=value among their words, too.
	assigners = "make just rake gradle alias"
	// Managers run the scripts of a package; a word among ManagerWords is none.
	Managers     = "npm pnpm yarn bun"
	ManagerWords = "add install i remove rm uninstall un up upgrade update why info view list ls link audit outdated " +
		"create init publish version config cache pack ci test exec dlx x run run-script workspace workspaces login"
	// Finders run programs for the files that they find.
	Finders     = "find fd fdfind"
	finderFlags = "-exec -execdir -ok -okdir -x -X --exec --exec-batch"
	// Containers run a program in an image, whose name may be that of a program.
	Containers = "docker podman nerdctl docker-compose podman-compose kubectl oc"
	// openers are words behind which any program runs the next one.
	openers = "exec run x dlx -- -c ssh"
	// Evaluators join their words to a line.
	Evaluators = "eval iex Invoke-Expression"
	// sshValues are the flags of ssh that have a value.
	sshValues = "bcDEeFIiJLlmOopQRSWw"
	// TextFlags have a text as their value, whose words mean nothing.
	TextFlags = "-m --message --title --body --notes --grep --description --subject --comment --reason --text"
)

// IsKnown reports whether more is known of a program than its name.
func IsKnown(name string) bool {
	return In(textual, name) || In(Shells, name) || In(Languages, name) || In(Carriers, name) || In(Finders, name)
}

// Place is where a program may stand among the words of a command.
type Place struct {
	At   int
	Name string // without directories and version
	// Weak: the program before it is not known to run others, so the word behind this one must be one that a rule names.
	Weak bool
}

// places adds the program at an index, and those that it runs.
func places(words []string, at int, out []Place) []Place {
	head, rest := Base(words[at]), words[at+1:]
	out = append(out, Place{At: at, Name: head})
	next := func(i int) []Place { // rest[i] is a program, with the words behind it
		if i < len(rest) {
			return places(words, at+1+i, out)
		}
		return out
	}
	switch {
	case head == "command" && (slices.Contains(rest, "-v") || slices.Contains(rest, "-V")), head == "awk":
		return out
	case In(Shells, head):
		if slices.ContainsFunc(rest, IsCommandFlag) || slices.Contains(rest, "-n") {
			return out
		}
		return next(operand(rest, "oO"))
	case In(Languages, head) && head != "bun" && head != "php":
		if slices.ContainsFunc(rest, isCodeFlag) {
			return out
		}
		i := operand(rest, "")
		if head == "deno" && i < len(rest) && rest[i] == "run" {
			i += 1 + operand(rest[i+1:], "")
		}
		return next(i)
	case head == "git", In(Finders, head):
		signs := finderFlags
		if head == "git" {
			signs = "foreach run" // submodule foreach, bisect run
		}
		for i, w := range rest {
			if In(signs, w) {
				out = next(i + 1 + operand(rest[i+1:], ""))
			}
		}
		return out
	case In(textual, head):
		return out
	case In(Managers, head):
		i := operand(rest, "CwF")
		if i < len(rest) && head != "npm" && In(ManagerWords, rest[i]) && !In("exec dlx x workspace workspaces", rest[i]) {
			return out
		}
	}
	return behind(words, at, out)
}

// operand returns the index of the first word that is neither a flag nor the value of one of those short flags.
func operand(words []string, withValue string) int {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
		case !IsFlag(w) && w != "+x":
			return i
		case w[1] != '-' && withValue != "" && strings.IndexAny(w, withValue) == len(w)-1: // -o, -euo
			i++
		}
	}
	return len(words)
}

// behind adds the programs that may stand behind one of which no more is known than whether it is a carrier.
func behind(words []string, at int, out []Place) []Place {
	head, rest := Base(words[at]), words[at+1:]
	manager := In(Managers, head)
	open := In(Carriers, head) && !slices.Contains(rest, ":::") || head == "parallel"
	named, before := false, "" // an image or container is named; the word before
	for i, w := range rest {
		name, last := Base(w), before
		before = w
		image := In(Containers, head) && !In(Shells, name) && !In(Carriers, name) &&
			(!named || strings.ContainsAny(strings.TrimLeft(w, "./"), "/:"))
		place := Place{At: at + 1 + i, Name: name, Weak: !open}
		entry, entered := strings.CutPrefix(w, "--entrypoint=")
		// A word behind a flag may be its value.
		value := IsFlag(last) && (len(last) == 2 || last == "--entrypoint" || head == "sudo" && last[len(last)-1] == 'u') &&
			!In(Carriers, name) && !In(Shells, name)
		switch {
		case w == ":::":
			return out
		case entered:
			out = append(out, Place{At: place.At, Name: Base(entry)})
		case !open && In(openers, w) && !(manager && !In("exec -- x", w)):
			open = true
		case IsFlag(w), IsAssignment(w), w == "--", w == "", strings.Contains(w, " "):
		case open && IsKnown(name) && !value && !image, In("npx bunx pnpx", head) && (!IsFlag(last) || In("-y --yes", last)):
			return places(words, place.At, out)
		case open || !manager:
			out = append(out, place)
			named = named || open && !value
		}
	}
	return out
}

// IsCommandFlag reports whether a shell's flag has a command line as its value: -c, -lc.
func IsCommandFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && word[len(word)-1] == 'c' ||
		In("--command -Command -command", word)
}

// isCodeFlag reports whether an interpreter's flag has a program as its value: -e, -ne.
func isCodeFlag(word string) bool {
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		word = "-" + word[len(word)-1:]
	}
	return In("-c -e -r -p -E --eval --print", word)
}

// nested is a text among the words of a command, or its input, that is a line or a program.
type nested struct {
	text   string
	code   bool // of a program
	loose  bool // it may be neither
	sure   bool // it is a line, even if the carrier's text may be none
	input  bool // it is the command's input
	remote bool // it runs on another machine
	args   []string
}

// nestedIn returns what is a line or a program among the words of a command, and its input.
func nestedIn(c *Command) (out []nested) {
	for _, p := range c.Programs() {
		if p.Weak {
			continue
		}
		head, rest := p.Name, c.Words[p.At+1:]
		add := func(n nested) { out = append(out, n) }
		switch {
		case In(Shells, head):
			ofShell(c, rest, add)
		case head == "awk":
			add(nested{text: strings.Join(rest, "\n"), code: true})
		case In(Languages, head):
			isScript := func(w string) bool { return !IsFlag(w) && !In("- run /dev/stdin", w) }
			if at := slices.IndexFunc(rest, isCodeFlag); at >= 0 && at+1 < len(rest) {
				add(nested{text: rest[at+1], code: true})
			} else if c.Fed && !slices.ContainsFunc(rest, isScript) {
				add(nested{text: c.Input, code: true})
			}
		case head == "ssh":
			if host := operand(rest, sshValues); host+1 < len(rest) {
				add(nested{text: strings.Join(rest[host+1:], " "), remote: true})
			} else if c.Fed {
				add(nested{text: c.Input, input: true, remote: true})
			}
		case In(Evaluators, head):
			add(nested{text: strings.Join(rest, " ")})
		case c.Fed && In("su at batch parallel", head):
			add(nested{text: c.Input, input: true})
		}
		if In(carriesText, head) || !In(textual, head) && !In(Shells, head) && !In(Languages, head) {
			marked(c, p, rest, add)
		}
	}
	return out
}

func ofShell(c *Command, rest []string, add func(nested)) {
	if at := slices.IndexFunc(rest, IsCommandFlag) + 1; at > 0 && at < len(rest) && !slices.Contains(rest[:at], "--") {
		if rest[at] == "--" && at+1 < len(rest) {
			at++
		}
		add(nested{text: rest[at], sure: true, args: rest[min(at+2, len(rest)):]})
		return
	}
	first := operand(rest, "oO")
	if c.Fed && (first == len(rest) || slices.Contains(rest, "-s") || In("- /dev/stdin", rest[first])) {
		add(nested{text: c.Input, input: true})
	}
}

// marked adds the values of flags and words behind which a command stands, and all of liners: --exec 'rm -rf x'.
func marked(c *Command, p Place, rest []string, add func(nested)) {
	liner, assigns := In(liners, p.Name), In(assigners, p.Name)
	before, mark, signs := "", "", " "
	if liner {
		signs = " \n;|&"
	}
	for i, w := range rest {
		if !liner && slices.ContainsFunc(c.Programs(), func(q Place) bool {
			return q.At == p.At+1+i && (In(textual, q.Name) || In(Shells, q.Name) || In(Languages, q.Name))
		}) {
			return
		}
		if !IsFlag(before) || Marks(before) { // submodule foreach --recursive 'rm -rf x'
			mark = before
		}
		last := before
		before = w
		if In(TextFlags, last) {
			continue
		}
		marks, alias := liner || Marks(mark), strings.HasPrefix(mark, "alias.")
		if name, value, assigned := strings.Cut(w, "="); assigned && !strings.Contains(name, " ") {
			if In(TextFlags, name) || name == "user.name" || liner && !assigns && !IsFlag(name) {
				continue
			}
			w = value
			marks, alias = marks || Marks(name), alias || strings.HasPrefix(name, "alias.")
		}
		if alias && !strings.HasPrefix(w, "!") {
			w = p.Name + " " + w
		}
		if line, bang := strings.CutPrefix(w, "!"); bang && line != "" || marks && strings.ContainsAny(w, signs) {
			add(nested{text: line, loose: !liner || assigns})
		}
	}
}

// Marks reports whether a word says that a command stands behind it.
func Marks(word string) bool {
	if In("run exec shell foreach start cmd.run -a -c -C -e -s -x -I -exec --", word) {
		return true
	}
	const ends = "exec cmd run program pre pager shell pack eval filter scripts wrap"
	word = strings.ToLower(word)
	kind, _, dotted := strings.Cut(word, ".")
	is := func(end string) bool { return strings.HasSuffix(word, end) }
	return dotted && In("core alias scripts", kind) || is("command") || strings.HasPrefix(word, "--on") ||
		strings.HasPrefix(word, "-") && slices.ContainsFunc(strings.Fields(ends), is)
}
