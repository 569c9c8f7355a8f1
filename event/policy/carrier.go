package policy

import (
	"path"
	"slices"
	"strings"
)

// maxStarts is how many places a command line may have at which one program
// runs another; more are taken for an attempt to hide one.
const maxStarts = 100

// keywords of a shell that a command follows.
var keywords = []string{"then", "do", "else", "elif", "if", "while", "until", "!", "coproc"}

// wrappers run the command that follows them and their flags; these are the
// flags that take a word of their own.
var wrappers = map[string]string{
	"sudo": "u g h p C D R T U", "doas": "u C", "env": "u C", "nohup": "", "nice": "n", "ionice": "c n p",
	"time": "f o", "timeout": "k s", "stdbuf": "i o e", "setsid": "", "command": "", "builtin": "", "exec": "a", "xargs": "I n P L s d E a",
}

// carriers run a command that is somewhere among their words.
var carriers = []string{"busybox", "chroot", "chrt", "entr", "flock", "ltrace", "nsenter", "parallel", "pkexec", "runuser",
	"script", "ssh", "strace", "su", "systemd-run", "taskset", "toybox", "unshare", "watch"}

// executors run what follows one of their arguments.
var executors = map[string][]string{
	"find": {"-exec", "-execdir", "-ok", "-okdir"},
	"fd":   {"-x", "-X", "--exec", "--exec-batch"},
}

// program is the name that a command's first word runs.
func program(word string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
}

// assignment reports whether a word is NAME=value.
func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// carried returns the commands that a command may run: itself, and what is left
// of it after NAME=value and programs that run another. Where it is not known
// whether a word belongs to a flag both are there. ok is false when there are
// too many to look at.
func carried(words []string) (commands [][]string, ok bool) {
	if len(words) == 0 {
		return nil, true
	}
	starts := []int{0}
	for n := 0; n < len(starts); n++ {
		for _, next := range nextStarts(words, starts[n]) {
			if !slices.Contains(starts, next) {
				starts = append(starts, next)
			}
		}
		if len(starts) > maxStarts {
			return nil, false
		}
	}
	for _, at := range starts {
		if !assignment(words[at]) {
			commands = append(commands, words[at:])
		}
	}
	return commands, true
}

// nextStarts are the places at which the command that begins at a place may
// begin another.
func nextStarts(words []string, at int) (list []int) {
	name := program(words[at])
	takes, wraps := wrappers[name]
	switch {
	case at+1 == len(words):
		return nil
	case assignment(words[at]) || slices.Contains(keywords, name):
		return []int{at + 1}
	case slices.Contains(carriers, name):
		for i := at + 1; i < len(words) && len(list) <= maxStarts; i++ {
			list = append(list, i)
		}
		return list
	case executors[name] != nil:
		for i := at + 1; i+1 < len(words) && len(list) <= maxStarts; i++ {
			if slices.Contains(executors[name], words[i]) {
				list = append(list, i+1)
			}
		}
		return list
	case !wraps:
		return nil
	}
	more := 0
	if name == "timeout" {
		more = 1
	}
	return afterFlags(words, at+1, strings.Fields(takes), more)
}

// afterFlags returns where the command of a wrapper may begin: at the first
// word that is no flag, and at the next one for each that may belong to a flag
// of which nothing is known, or is the duration of timeout.
func afterFlags(words []string, at int, takes []string, more int) (list []int) {
	for ; at < len(words); at++ {
		switch w := words[at]; {
		case w == "--":
		case len(w) == 2 && w[0] == '-' && slices.Contains(takes, w[1:]):
			at++
		case len(w) > 1 && w[0] == '-':
			if !strings.Contains(w, "=") && len(list) == 0 {
				more++
			}
		case assignment(w):
		default:
			list = append(list, at)
			if more--; more < 0 || len(list) > maxStarts {
				return list
			}
		}
	}
	return list
}

// inner reads the command lines that the simple command at hand gives to a
// shell.
func (s *scanner) inner() {
	commands, ok := carried(s.words)
	if !ok {
		s.line.broken = true
	}
	for _, words := range commands {
		text, fed := shellArgument(words)
		s.line.fed = s.line.fed || fed
		if text != "" {
			s.line.read(text, s.depth+1)
		}
	}
}

var shells = []string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "rbash", "fish"}

// shellArgument returns the command line that a command hands to a shell, as
// sh -c TEXT and eval TEXT do, or reports that the shell reads commands from
// its input.
func shellArgument(words []string) (line string, fed bool) {
	args := words[1:]
	switch name := strings.ToLower(program(words[0])); {
	case name == "eval":
		return strings.Join(args, " "), false
	case name == "trap" && len(args) > 0:
		return args[0], false
	case name == "env":
		return splitString(args), false
	case slices.Contains(shells, name):
		return shellLine(args)
	case name == "su", name == "script", name == "flock", name == "runuser":
		line, _ = shellLine(args)
		return line, false
	case name == "watch", name == "ssh", name == "parallel": // they join their words
		return strings.Join(args, " "), false
	case name == "cmd", name == "powershell", name == "pwsh":
		return afterSwitch(args), false
	}
	return "", false
}

// shellLine finds the command line among a shell's arguments.
func shellLine(args []string) (line string, fed bool) {
	operand, wanted := "", false
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "--", w == "-":
		case w == "--rcfile", w == "--init-file", w == "-o", w == "+o", w == "-O", w == "+O":
			i++
		case strings.HasPrefix(w, "--"):
			wanted = wanted || w == "--command"
		case len(w) > 1 && (w[0] == '-' || w[0] == '+'):
			wanted = wanted || w[0] == '-' && strings.Contains(w, "c")
			fed = fed || strings.Contains(w, "s")
		case wanted:
			return w, false
		default:
			if operand == "" {
				operand = w
			}
		}
	}
	return "", !wanted && (fed || operand == "")
}

// splitString is the text that env -S takes apart into a command.
func splitString(args []string) string {
	for i, w := range args {
		if text, ok := strings.CutPrefix(w, "--split-string"); ok && text != "" {
			return strings.TrimPrefix(text, "=") + " " + strings.Join(args[i+1:], " ")
		}
		if len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "S") || w == "--split-string" {
			_, text, _ := strings.Cut(w, "S")
			return text + " " + strings.Join(args[i+1:], " ")
		}
	}
	return ""
}

// afterSwitch is what follows /c or -Command.
func afterSwitch(args []string) string {
	for i, w := range args {
		switch strings.ToLower(w) {
		case "/c", "/k", "-c", "-command", "/command":
			return strings.Join(args[i+1:], " ")
		}
	}
	return ""
}
