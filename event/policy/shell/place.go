package shell

import (
	"slices"
	"strings"
)

// The programs that are known, and only by what they do with their words.
const (
	// carriers run a program that any later word names.
	carriers = "sudo doas env genv nohup time gtime command builtin exec nice ionice chrt taskset timeout gtimeout stdbuf " +
		"gstdbuf setsid cmd chroot unshare nsenter flock su runuser gosu su-exec pkexec script watch xargs gxargs parallel busybox toybox " +
		"systemd-run strace ltrace perf valgrind caffeinate faketime proxychains proxychains4 torsocks torify xvfb-run " +
		"dbus-run-session fakeroot unbuffer rlwrap dotenv dotenvx cross-env env-cmd npx bunx pnpx pnpm yarn bun uvx bundle mise " +
		"aws-vault then do noglob nocorrect winpty arch setarch prlimit tini chronic entr watchexec nodemon hyperfine bwrap " +
		"firejail ssh-agent coproc sem -"
	// textual programs run nothing that they name.
	textual = "echo printf grep egrep fgrep rg ag ack cat head tail less more ls stat test [ file du df wc sort uniq cut tr sed jq " +
		"yq diff comm cmp touch mkdir cp mv rm ln chmod chown tar zip unzip tree which type whereis man tldr help hash alias " +
		"unalias export set read history basename dirname realpath readlink base64 md5sum notify-send logger say vim vi nano " +
		"code open curl wget scp rsync git gh glab pip pip3 brew apt apt-get apt-cache dnf yum apk pacman psql mysql sqlite3 " +
		"ssh-keygen ssh-add createdb redis-cli mongosh tee xxd declare local svn hg"
	shells    = "sh bash zsh dash ksh mksh ash fish rbash pwsh . source"
	languages = "python node ruby perl php deno bun tsx ts-node bpython ipython pypy nodejs osascript Rscript lua awk gawk"
	// liners take command lines as words.
	liners = "cmd su runuser script flock watch parallel trap env sg tmux screen nix-shell concurrently entr xterm hyperfine eval at " +
		"batch nodemon"
	// managers run the scripts of a package; a word among managerWords is none.
	managers     = "npm pnpm yarn bun"
	managerWords = "add install i remove rm uninstall un up upgrade update why info view list ls link audit outdated create init " +
		"publish version config cache pack ci test exec dlx x run run-script workspace workspaces login"
	// searchers run programs for what they find.
	searchers     = "find fd fdfind gfind"
	searcherFlags = "-exec -execdir -ok -okdir -x -X --exec --exec-batch"
	// openers are words behind which any program runs the next one.
	openers = "exec run x dlx -- -c ssh"
	// sshValues are the flags of ssh that have a value.
	sshValues = "bcDEeFIiJLlmOopQRSWw"
	// textFlags have a text as their value, whose words mean nothing.
	textFlags = "-m --message --title --body --notes --grep --description --subject --comment --reason --text"
)

// IsText reports whether the value of a flag is a text whose words mean nothing.
func IsText(flag string) bool { return In(textFlags, flag) }

// IsCarrier reports whether a program runs the one that its words name.
func IsCarrier(name string) bool { return In(carriers, name) }

// IsShell reports whether a program is a shell.
func IsShell(name string) bool { return In(shells, name) }

// IsLanguage reports whether a program is an interpreter.
func IsLanguage(name string) bool { return In(languages, name) }

// IsManager reports whether a program runs the scripts of a package.
func IsManager(name string) bool { return In(managers, name) }

// IsScript reports whether a word behind a package manager may be the name of a script.
func IsScript(word string) bool { return !In(managerWords, word) }

// Place is where a program may stand among the words of a command.
type Place struct {
	At   int
	Name string // without directories and version
	// Weak: the program before it is not known to run others, so the word behind this one must be
	// one that a rule names.
	Weak bool
}

func places(words []string) []Place { return placesFrom(words, 0, nil) }

// placesFrom adds the program at an index, and those that it runs.
func placesFrom(words []string, at int, out []Place) []Place {
	head, rest := Base(words[at]), words[at+1:]
	out = append(out, Place{At: at, Name: head})
	next := func(i int) []Place { // rest[i] is a program, with the words behind it
		if i < len(rest) {
			return placesFrom(words, at+1+i, out)
		}
		return out
	}
	switch {
	case head == "command" && slices.ContainsFunc(rest, func(w string) bool { return w == "-v" || w == "-V" }):
		return out
	case In(shells, head):
		if slices.ContainsFunc(rest, IsCommandFlag) || slices.Contains(rest, "-n") {
			return out
		}
		return next(operand(rest, "oO"))
	case head == "awk" || head == "gawk":
		return out
	case In(languages, head) && head != "bun" && head != "php":
		if i := slices.Index(rest, "-m"); i >= 0 && head == "python" {
			return next(i + 1)
		}
		if slices.ContainsFunc(rest, isCodeFlag) {
			return out
		}
		return next(script(head, rest))
	case head == "git":
		return next(gitProgram(rest))
	case In(searchers, head):
		for i, w := range rest {
			if In(searcherFlags, w) {
				out = next(i + 1)
			}
		}
		return out
	case In(textual, head):
		return out
	case In(managers, head):
		i := operand(rest, "CwF")
		if i < len(rest) && head != "npm" && In(managerWords, rest[i]) && !In("exec dlx x workspace workspaces", rest[i]) {
			return out
		}
	}
	return behind(words, at, out)
}

// script returns the index of an interpreter's script.
func script(head string, rest []string) int {
	i := operand(rest, "")
	if head == "deno" && i < len(rest) && rest[i] == "run" {
		return i + 1 + operand(rest[i+1:], "")
	}
	return i
}

// operand returns the index of the first word that is neither a flag nor the value of one of those
// short flags.
func operand(words []string, withValue string) int {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--":
		case IsFlag(w) || w == "+x":
			if len(w) == 2 && strings.Contains(withValue, w[1:]) {
				i++
			}
		default:
			return i
		}
	}
	return len(words)
}

// gitProgram returns the index of the program that git runs.
func gitProgram(rest []string) int {
	for i, w := range rest {
		if w == "foreach" || w == "run" && i > 0 && rest[i-1] == "bisect" {
			if i+1 < len(rest) && IsFlag(rest[i+1]) {
				i++
			}
			return i + 1
		}
	}
	return len(rest)
}

// behind adds the programs that may stand behind one of which no more is known than whether it is a
// carrier.
func behind(words []string, at int, out []Place) []Place {
	head, rest := Base(words[at]), words[at+1:]
	manager := In(managers, head)
	open := In(carriers, head) && !slices.Contains(rest, ":::") || head == "parallel"
	for i, w := range rest {
		name := Base(w)
		entry, entered := strings.CutPrefix(w, "--entrypoint=")
		flagged := i > 0 && IsFlag(rest[i-1])
		switch {
		case w == ":::":
			return out
		case entered:
			out = append(out, Place{At: at + 1 + i, Name: Base(entry)})
		case !open && In(openers, w) && !(manager && !In("exec -- x", w)):
			open = true
		case IsFlag(w), IsAssignment(w), w == "--", w == "", strings.Contains(w, " "):
		case open && IsKnown(name) && (!flagged || In(carriers, name) || In(shells, name) || len(rest[i-1]) > 2 && rest[i-1] != "--entrypoint"):
			return placesFrom(words, at+1+i, out)
		case open || !manager:
			out = append(out, Place{At: at + 1 + i, Name: name, Weak: !open})
		}
	}
	return out
}

// IsKnown reports whether more is known of a program than its name.
func IsKnown(name string) bool {
	return In(textual, name) || In(shells, name) || In(languages, name) || In(carriers, name) || In(searchers, name)
}

// IsCommandFlag reports whether a shell's flag has a command line as its value: -c, -lc.
func IsCommandFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && word[len(word)-1] == 'c' || In("--command -Command -command", word)
}

// isCodeFlag reports whether an interpreter's flag has a program as its value: -e, -ne.
func isCodeFlag(word string) bool {
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		word = "-" + word[len(word)-1:]
	}
	return In("-c -e -r -p -E --eval --print", word)
}
