package rule

import (
	"errors"
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

// Pattern is an entry of Conditions.Commands: a program, wherever shell.Command.Programs says, and words. Flags count
// anywhere before --, in any order, joined or apart, abbreviated and under their other names. The first plain word
// must be the first that is neither a flag nor stands where a flag's value may stand; the others may stand anywhere
// behind it, in their order; * is anything. "curl | sh" is a program that is fed another one's output.
type Pattern struct {
	program string
	env     []string
	words   []word
	flags   []flag
	feeds   *Pattern // of what feeds it, for a pipe
}

// word is a word that a command must have.
type word struct {
	text  string
	loose bool // it may stand anywhere behind the one before it
	value bool // it stands behind a flag, and may be its value
}

// flag is a flag that a command must have; the value, if there is one, directly behind it.
type flag struct{ name, value string }

var errShell = errors.New("is not a command with its words")

const (
	// targets are programs without subcommands: each operand is one.
	targets = "make rake rails gradle gradlew mvn mvnw ant just task invoke fab nx turbo ninja"
	// clusters are programs that name objects by their kind, or as KIND/NAME.
	clusters = "kubectl oc k kubecolor"
	// scripters run the scripts of packages, as npm does.
	scripters = shell.Managers + " turbo lerna nx run-s run-p npm-run-all rush rushx nr wireit moon concurrently node deno"
)

// families are programs that take the same words: a rule on one is a rule on all, but see isProgram.
var families = []string{
	clusters,
	"terraform tofu terragrunt",
	"docker podman nerdctl docker-compose podman-compose",
	"rails rake",
	shell.Shells + " " + shell.Evaluators,
	scripters,
}

// family returns the programs that an entry on one may mean.
func family(program string) string {
	for _, f := range families {
		if shell.In(f, program) {
			return f
		}
	}
	return program
}

// Parse reads an entry.
func Parse(entry string) (*Pattern, error) {
	if left, right, piped := strings.Cut(entry, "|"); piped {
		p, err := Parse(right)
		if err != nil {
			return nil, err
		}
		p.feeds, err = Parse(left)
		return p, err
	}
	if !strings.ContainsAny(entry, "\"'\\$`;&<>(){}#!~\n") { // most need no parser
		words := strings.Fields(entry)
		first := slices.IndexFunc(words, func(w string) bool { return !shell.IsAssignment(w) })
		if first < 0 {
			return nil, errShell
		}
		return newPattern(words[:first], words[first:]), nil
	}
	l := shell.Read(entry)
	switch {
	case l.Strange != "":
		return nil, errors.New("cannot be read: " + l.Strange)
	case len(l.Commands) == 0 || strings.ContainsAny(entry, "$`"):
		return nil, errShell
	case slices.ContainsFunc(l.Commands[1:], func(c shell.Command) bool { return c.Plain }):
		return nil, errors.New("is more than one command; write an entry for each")
	}
	return newPattern(l.Commands[0].Env, l.Commands[0].Words), nil
}

func newPattern(env, words []string) *Pattern {
	p := &Pattern{program: words[0], env: env}
	if !strings.Contains(p.program, "/") {
		p.program = shell.Base(p.program)
	}
	after := false // a flag
	for i := 1; i < len(words); i++ {
		w := words[i]
		if !shell.IsFlag(w) {
			loose := after || len(p.words) > 0 || shell.In(targets, p.program) || !isPlain(w)
			p.words = append(p.words, word{text: w, loose: loose, value: after})
			after = false
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		short := len(w) == 3 && w[1] != '-' // -rf
		switch {
		case value == "" && !short && i+1 < len(words) && strings.Contains(words[i+1], "*") && (len(w) == 2 || w[1] == '-'):
			i++
			value = words[i]
			p.flags = append(p.flags, flag{name, value})
		case value == "" && short:
			p.flags = append(p.flags, flag{name: w[:2]}, flag{name: "-" + w[2:]})
		default:
			p.flags = append(p.flags, flag{name, value})
		}
		after = value == ""
	}
	return p
}

// isPlain reports whether a word may be a subcommand.
func isPlain(w string) bool {
	return w != "" && (w[0]|0x20) >= 'a' && (w[0]|0x20) <= 'z' && strings.Trim(w, shell.Alphanumeric+"_:-") == ""
}

// headOf returns the program of an entry in small letters; empty if the entry must be parsed to know it.
func headOf(entry string) string {
	for word := range strings.FieldsSeq(entry[strings.LastIndexByte(entry, '|')+1:]) {
		switch {
		case shell.IsAssignment(word):
		case strings.ContainsAny(word, "*\\\"'"):
			return ""
		default:
			return strings.ToLower(shell.Base(word))
		}
	}
	return ""
}

// fit is a place where a command is the pattern's.
type fit struct {
	at     int
	unsure string // what the line does not say; empty if it is certain
}

// fits returns the places where a command of a line is the pattern's.
func (p *Pattern) fits(l *shell.Line, at int) (out []fit) {
	c := &l.Commands[at]
	for _, place := range c.Programs() {
		if !p.isProgram(c, place) {
			continue
		}
		tail := c.Words[place.At+1:]
		if place.Weak && (c.Loose || !p.namesNext(tail)) || !p.hasEnv(c, c.Words[:place.At]) {
			continue
		}
		ok, unsure := p.hasWords(place.Name, tail, givenTo(c, place.At))
		if ok && (p.feeds == nil || p.fed(l, at, tail)) {
			out = append(out, fit{place.At, unsure})
		}
	}
	return out
}

// isProgram reports whether the program at a place is the pattern's.
func (p *Pattern) isProgram(c *shell.Command, place shell.Place) bool {
	if strings.Contains(p.program, "/") {
		want, got := tidy(p.program), c.Words[place.At]
		full := path.Clean(inDir(c.Dir, got))
		return tidy(got) == want || full == want || strings.HasSuffix(full, "/"+want)
	}
	name := place.Name
	switch other := shell.In(family(p.program), name); {
	case wild(strings.ToLower(p.program), strings.ToLower(name)),
		place.At > 0 && strings.EqualFold(p.program, withoutExtension(name)): // node bin/acme.js
		return true
	case shell.In(family("sh"), p.program): // curl | sh is any shell, and a script that curl wrote
		script := len(c.Writers) > 0 && !place.Weak && !shell.In(shell.Carriers, name)
		return p.feeds != nil && (other || script)
	case p.program == "Remove-Item":
		return shell.In("rm ri del rd rmdir erase", strings.ToLower(name))
	case shell.In(scripters, p.program): // npm run x is turbo x
		return other && p.program == "npm" && (p.first() == "run" || p.first() == "publish" && shell.In(shell.Managers, name))
	default:
		return other
	}
}

// first returns the first word, which is a subcommand.
func (p *Pattern) first() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0].text
}

// withoutExtension returns the name of a script without the ending of its language.
func withoutExtension(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 && shell.In(".js .mjs .cjs .ts .py .sh .rb .pl .ps1", name[at:]) {
		return name[:at]
	}
	return name
}

// namesNext: the word behind the program is one that the pattern names.
func (p *Pattern) namesNext(tail []string) bool {
	next := p.operands(tail[:min(1, len(tail))])
	return len(p.words)*len(next.words) > 0 && p.same(p.first(), next.words[0]) ||
		slices.ContainsFunc(p.flags, func(f flag) bool { return f.among(f.name, next) })
}

// hasEnv reports whether the variables of a pattern are set for a command.
func (p *Pattern) hasEnv(c *shell.Command, before []string) bool {
	return !slices.ContainsFunc(p.env, func(want string) bool {
		fits := func(got string) bool { return wild(want, got) }
		return !slices.ContainsFunc(c.Env, fits) && !slices.ContainsFunc(before, fits)
	})
}

// fed reports whether the program that feeds a command is the pattern's, and what it feeds is run.
func (p *Pattern) fed(l *shell.Line, at int, tail []string) bool {
	isShell, isLanguage := shell.In(shell.Shells, p.program), shell.In(shell.Languages, p.program)
	for i, w := range tail { // behind a script, the input is data
		if isShell && (w == "-s" || i > 0 && shell.IsCommandFlag(tail[i-1])) {
			break // the rest is for what it runs
		}
		script := !shell.IsFlag(w) && !shell.In("- /dev/stdin", w) && !strings.HasPrefix(w, "/dev/fd/") &&
			!strings.Contains(w, hole)
		if script && (isShell || isLanguage && w != "run") || isLanguage && w == "-m" {
			return false
		}
	}
	return slices.ContainsFunc(l.Sources(at), func(i int) bool { return len(p.feeds.fits(l, i)) > 0 })
}

// givenTo reports whether the program at a place gets more words than the line has.
func givenTo(c *shell.Command, at int) bool {
	return (c.Input == "" || strings.Contains(c.Input, hole)) &&
		slices.ContainsFunc(c.Words[:at], func(w string) bool { return shell.In(givers, shell.Base(w)) })
}

// scripted returns the words behind one of scripters as those behind npm: run, and a script.
func scripted(name string, tail []string) []string {
	if len(tail) > 1 && tail[0] == "workspace" { // yarn workspace api deploy
		tail = tail[2:]
	}
	if shell.In("nx moon concurrently", name) { // PROJECT:SCRIPT, npm:SCRIPT
		for _, w := range tail {
			_, w, _ = strings.Cut(w, ":")
			tail = append(slices.Clip(tail), w)
		}
	}
	at := slices.IndexFunc(tail, func(w string) bool { return shell.In("run run-script --run task", w) })
	switch {
	case shell.In("node deno", name) && (at != 0 || tail[0] == "run"):
		return nil
	case at == 0 || at > 0 && (shell.IsFlag(tail[0]) || tail[0] == "workspaces"): // what is before it selects packages
		return slices.Concat([]string{"run"}, tail[at+1:], tail[:at])
	case slices.ContainsFunc(tail, func(w string) bool { return shell.In(shell.ManagerWords, w) }):
		return nil
	}
	return append([]string{"run"}, tail...)
}

// hasWords reports whether the words and flags behind a program are the pattern's, and what is not certain.
func (p *Pattern) hasWords(name string, tail []string, given bool) (ok bool, unsure string) {
	script := shell.In(scripters, p.program) && p.first() == "run" && !shell.In("node deno", p.program)
	switch {
	case script:
		tail = scripted(name, tail)
	case p.first() == "compose" && strings.HasSuffix(name, "-compose"): // docker-compose x is docker compose x
		tail = append([]string{"compose"}, tail...)
	case !shell.In(family("docker"), p.program) || len(tail) < 2 || p.first() == tail[0]:
	case p.first() == "rmi" && tail[0] == "image" && shell.In("rm remove", tail[1]):
		tail = append([]string{"rmi"}, tail[2:]...)
	case tail[0] == "container", tail[0] == "compose" && strings.HasSuffix(p.program, "-compose"):
		tail = tail[1:] // docker container rm is docker rm
	}
	o := p.operands(tail)
	at := 0
	for i, want := range p.words {
		same := func(got string) bool { return p.same(want.text, got) }
		joined := func(flag string) bool { return flag[1] != '-' && flag[2:] == want.text } // -XDELETE
		if want.value && (slices.ContainsFunc(o.words, same) || slices.ContainsFunc(o.flags, joined)) {
			continue
		}
		found := false
		for ; at < len(o.words) && !found; at++ {
			got := o.words[at]
			switch {
			case same(got):
				found = true
			case shell.In("/ /*", want.text) && strings.HasPrefix(got, hole) &&
				shell.In("/ /* /.", strings.ReplaceAll(got, hole, "")):
				found, unsure = true, "a variable in "+strings.ReplaceAll(got, hole, "$…")+" may be empty"
			case script && i == 1 && shell.In(shell.Managers, name) && !o.behind[at]: // words behind a script are its own
				return false, ""
			case shell.In("run-all run", got) && shell.In(family("terraform"), p.program): // terragrunt run-all destroy
			case !want.loose && !o.behind[at] && !shell.IsAssignment(got) && !strings.HasPrefix(got, "+"):
				return false, ""
			}
		}
		switch {
		case !found && i > 0 && given:
			unsure = "another command gives it words"
		case !found:
			return false, ""
		}
	}
	return !slices.ContainsFunc(p.flags, func(f flag) bool {
		return !slices.ContainsFunc(p.namesOf(f.name), func(n string) bool { return f.among(n, o) })
	}), unsure
}

// excepts reports whether an exception names a command completely, if it names more than a subcommand.
func (p *Pattern) excepts(l *shell.Line, at int) bool {
	open := len(p.words) == 0 ||
		len(p.words) == 1 && !p.words[0].value && isPlain(p.first()) && !shell.In(writesAll, p.program)
	named := func(got string) bool {
		return slices.ContainsFunc(p.words, func(w word) bool { return p.same(w.text, got) }) ||
			slices.ContainsFunc(p.flags, func(f flag) bool { return f.value != "" && wild(f.value, got) })
	}
	return slices.ContainsFunc(p.fits(l, at), func(f fit) bool {
		words := p.operands(l.Commands[at].Words[f.at+1:]).words
		return f.unsure == "" && (open || !slices.ContainsFunc(words, func(w string) bool { return !named(w) }))
	})
}
