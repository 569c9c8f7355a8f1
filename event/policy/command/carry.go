package command

import (
	"slices"
	"strings"

	"beckon/event/agents"
)

// carry walks over the commands that a command runs: from its words, the value of a flag, or
// its input.
func (w *walker) carry(at int, in stream) {
	c := w.line.Commands[at]
	if text, ok := w.file(c.Words[0]); ok {
		w.executable(at, c.Words, text)
	}
	s := c.Args.spec()
	if w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	for _, set := range slices.Concat(c.Sets, c.Words[:c.Args.rest]) { // those of env precede its command
		w.setting(at, set)
	}
	if s == nil {
		return
	}
	for _, f := range c.Args.Flags {
		w.flagCarries(at, f)
	}
	kinds := s.operands(c.Args)
	for i, word := range c.Args.Operands {
		switch kindOf(kinds, i, len(c.Args.Operands)) {
		case "sh":
			behind := c.Words[1+slices.Index(c.Words, word):]
			w.script(at, word, behind[min(1, len(behind)):]) // the first is $0
		case "code":
			w.code(at, word)
		case "patch":
			w.patch(at, word)
		case "script":
			switch text, ok := w.fileText(word, in); {
			case !ok:
			case s.stdin == "code" && text.all() != hole:
				w.code(at, text)
			default:
				w.script(at, text, c.Args.Operands[i+1:])
			}
		}
	}
	if n := slices.Index(kinds, "keys..."); n >= 0 && n < len(c.Args.Operands) { // after the first nothing is a flag
		first := slices.Index(c.Words, c.Args.Operands[n])
		w.shell(at, typed(c.Words[max(first, 0):]))
	}
	switch {
	case c.Args.Program == "parallel":
		w.parallel(at, c, in)
	case c.Args.rest > 0:
		w.rest(at, c, in, slices.Contains(kinds, "join"))
	}
	if c.Args.Program == "git" {
		w.gitAlias(at, c)
	}
	w.input(at, s, in)
}

// sameShell are builtins that run their text in the shell itself, whose state it changes.
var sameShell = []string{"eval", "source", ".", "builtin", "command"}

// within runs do as a part of the command at index at.
func (w *walker) within(at int, do func()) {
	if w.spent() {
		return
	}
	c := w.line.Commands[at]
	before := w.save()
	defer func() {
		if slices.Contains(sameShell, c.Args.Program) {
			before.vars, before.dir = w.vars, w.dir
		}
		w.restore(before)
	}()
	w.by, w.top = at, false
	w.remote = w.remote || slices.ContainsFunc(c.Args.specs, func(s *spec) bool { return s.is("remote") })
	if c.To > c.From && w.from < 0 {
		w.from = c.From
	}
	do()
}

func (w *walker) shell(at int, text Word) {
	if c := &w.line.Commands[at]; !text.Known && c.To == 0 && c.By < 0 {
		c.From, c.To = w.began, at
	}
	w.within(at, func() {
		if text.Known {
			w.text(text.Text, stream{})
			return
		}
		if text.all() == hole {
			w.unknown(w.line.Commands[at].Args.Program + " runs a text that is not in the line")
			return
		}
		w.text(text.all(), stream{})
	})
}

func (w *walker) code(at int, text Word) {
	if text.all() == "" {
		return
	}
	if len(text.all()) > maxText {
		w.unknown("the line is too long or too deep to be read")
	}
	w.line.Code = append(w.line.Code, Code{Language: w.line.Commands[at].Args.Program, Text: text.all(), By: at})
}

// patch records the files that a patch names. An unknown part of it may name others.
func (w *walker) patch(at int, text Word) {
	if w.remote {
		return
	}
	names := agents.Patched(text.all())
	if !text.Known {
		names = append(names, hole)
	}
	for _, name := range names {
		w.spend(perItem)
		c := &w.line.Commands[at]
		c.Files = append(c.Files, File{Path: partly(name), Access: Read | Write, Dir: w.dir})
	}
}

// fileText returns the content of a file that is run, as far as the line contains it.
func (w *walker) fileText(name Word, in stream) (Word, bool) {
	if name.Text == "-" || name.Text == "/dev/stdin" {
		return in.text, in.some
	}
	return w.file(name)
}

func (w *walker) script(at int, text Word, args []Word) {
	w.within(at, func() {
		w.args = slices.Clone(args)
		w.shell(at, text)
	})
}

// executable walks over the text of a file that is run by its name: code for the program in
// its first line, else for a shell, or for Python if uv runs it.
func (w *walker) executable(at int, words []Word, text Word) {
	first, _, _ := strings.Cut(text.all(), "\n")
	if line, ok := strings.CutPrefix(first, "#!"); ok {
		for _, word := range strings.Fields(line) {
			if s := entry(Name(word)); s != nil && s.stdin == "code" {
				w.code(at, text)
				return
			}
		}
	}
	if strings.HasSuffix(words[0].Text, ".py") {
		w.code(at, text)
	}
	w.script(at, text, words[1:])
}

func (w *walker) flagCarries(at int, f Flag) {
	switch f.kind {
	case "sh":
		w.shell(at, f.Value)
	case "code":
		w.code(at, f.Value)
	case "patch":
		w.patch(at, f.Value)
	case "cmd":
		words := slices.Clone(f.command)
		for i := range words {
			if strings.Contains(words[i].Text, "{}") {
				words[i] = w.found(at)
			}
		}
		if len(words) > 0 {
			w.within(at, func() { w.run(words, nil, stream{}) })
		}
	case "split": // env -S: words before those that follow
		c := w.line.Commands[at]
		list := []Word{f.Value}
		if c.Args.rest > 0 {
			list = append(list, c.Words[c.Args.rest:]...)
		} else {
			list = append(list, c.Args.Operands...)
		}
		w.shell(at, joined(list, " "))
	case "make":
		w.makefile(at, f.Value)
	case "exec":
		if text, ok := strings.CutPrefix(f.Value.all(), "exec="); ok {
			w.shell(at, partly(text))
		}
	case "sshopt":
		if key, text, ok := strings.Cut(f.Value.Text, "="); ok && strings.HasSuffix(strings.ToLower(key), "command") {
			w.shell(at, known(text))
		}
	case "gitopt":
		w.gitOption(at, f.Value)
	}
}

// commandVars are variables whose value is a command line that programs, or the shell before
// each prompt, run.
var commandVars = []string{"PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "RSYNC_RSH",
	"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF",
	"GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS"}

// setting walks over the value of a NAME=value given to a command, if programs run it.
func (w *walker) setting(at int, word Word) {
	name, text, _ := strings.Cut(word.all(), "=")
	switch {
	case slices.Contains(commandVars, name):
		w.shell(at, partly(strings.TrimPrefix(text, "|"))) // LESSOPEN begins so
	case name == "EXINIT", name == "VIMINIT": // vi runs it
		w.code(at, partly(text))
	}
}

// typed returns the text of keys; some have names.
func typed(keys []Word) Word {
	names := map[string]string{"Space": " ", "Enter": "\n", "KPEnter": "\n", "C-m": "\n", "C-j": "\n", "Tab": "\t"}
	list := slices.Clone(keys)
	for i, k := range list {
		if text, ok := names[k.Text]; ok && k.Known {
			list[i] = known(text)
		} else if text, ok := strings.CutSuffix(k.Text, "^M"); ok && k.Known { // as screen has it
			list[i] = known(text + "\n")
		}
	}
	return joined(list, "")
}

// partly returns a text that may have holes.
func partly(text string) Word {
	before, _, holed := strings.Cut(text, hole)
	if !holed {
		return known(text)
	}
	return Word{Text: before, shell: text}
}

// found returns the path of a file that find finds: below its starting point.
func (w *walker) found(at int) Word {
	dir := "."
	if a := w.line.Commands[at].Args; len(a.Operands) == 1 {
		if one, named := a.found(a.Operands[0]); named {
			return one
		} else if one.Known {
			dir = strings.TrimSuffix(one.Text, "/")
		}
	}
	return Word{Text: dir + "/", shell: dir + "/" + hole}
}

// gitPrograms are settings of git whose value is a command line.
var gitPrograms = []string{"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "sequence.editor",
	"diff.external", "gpg.program", "credential.helper"}

func (w *walker) gitOption(at int, setting Word) {
	key, text, ok := strings.Cut(setting.all(), "=")
	key = strings.ToLower(key)
	if ok && (slices.Contains(gitPrograms, key) || strings.HasPrefix(key, "pager.")) && text != "" && text != "true" && text != "false" {
		w.shell(at, known(strings.TrimPrefix(text, "!")))
	}
}

// gitAlias walks over the expansion of `git -c alias.x=TEXT x`.
func (w *walker) gitAlias(at int, c Command) {
	if len(c.Args.Sub) == 0 {
		return
	}
	for _, f := range c.Args.Flags {
		key, text, ok := strings.Cut(f.Value.all(), "=")
		if f.kind != "gitopt" || !ok || !strings.EqualFold(key, "alias."+c.Args.Sub[0]) {
			continue
		}
		if w.spend(len(c.Words)); w.spent() {
			return
		}
		i := slices.IndexFunc(c.Words, func(v Word) bool { return v.Known && v.Text == c.Args.Sub[0] })
		args := joined(append([]Word{known("")}, c.Words[i+1:]...), " ")
		prefix := "git "
		if command, isShell := strings.CutPrefix(text, "!"); isShell {
			prefix, text = "", command
		}
		w.shell(at, joined([]Word{known(prefix + text), args}, ""))
	}
}
