package command

import (
	"encoding/base64"
	"slices"
	"strings"
)

// carry walks over the commands that a command runs: by its words, by the value
// of a flag, by its input.
func (w *walker) carry(at int, in stream) {
	c := w.line.Commands[at]
	if text, ok := w.file(c.Words[0]); ok {
		w.script(at, text, c.Words[1:])
	}
	if len(c.Args.specs) == 0 || w.depth >= maxDepth {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	s := c.Args.specs[len(c.Args.specs)-1]
	for _, f := range c.Args.Flags {
		w.flagCarries(at, f)
	}
	kinds := s.operands(c.Args)
	for i, word := range c.Args.Operands {
		switch kindOf(kinds, i, len(c.Args.Operands)) {
		case "sh":
			w.shell(at, word)
		case "code":
			w.code(at, word)
		case "script":
			if text, ok := w.fileText(word, in); ok {
				w.script(at, text, c.Args.Operands[i+1:])
			}
		}
	}
	if slices.Contains(kinds, "keys...") {
		if n := slices.Index(kinds, "keys..."); n < len(c.Args.Operands) { // behind the first nothing is a flag
			first := slices.IndexFunc(c.Words, func(v Word) bool { return v == c.Args.Operands[n] })
			w.shell(at, typed(c.Words[max(first, 0):]))
		}
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

// sameShell run their text in the shell itself, whose state it changes.
var sameShell = []string{"eval", "source", ".", "builtin", "command"}

// within does something as a part of the command at hand.
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
	w.remote = w.remote || slices.ContainsFunc(c.Args.specs, func(s *spec) bool { return s.remote })
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
	w.line.Code = append(w.line.Code, Code{Language: w.line.Commands[at].Args.Program, Text: text.all(), By: at})
}

// fileText is what the line tells of a file that is run.
func (w *walker) fileText(name Word, in stream) (Word, bool) {
	if !name.Known {
		return Word{}, false
	}
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

func (w *walker) flagCarries(at int, f Flag) {
	switch f.kind {
	case "sh":
		w.shell(at, f.Value)
	case "code":
		w.code(at, f.Value)
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
	case "sshopt":
		if key, text, ok := strings.Cut(f.Value.Text, "="); ok && strings.HasSuffix(strings.ToLower(key), "command") {
			w.shell(at, known(text))
		}
	case "gitopt":
		w.gitOption(at, f.Value)
	}
}

// typed is the text of keys, of which some go by names.
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

// makefile runs the recipes of a makefile: the lines behind a tab, and what
// follows a semicolon behind a target.
func (w *walker) makefile(at int, text Word) {
	for line := range strings.Lines(text.all()) {
		recipe, ok := strings.CutPrefix(line, "\t")
		if target, rest, cut := strings.Cut(line, ";"); !ok && cut && strings.Contains(target, ":") {
			recipe, ok = rest, true
		}
		if recipe = strings.TrimLeft(recipe, "@-+ "); ok {
			w.shell(at, partly(recipe))
		}
	}
}

// crontab runs the lines of a crontab, behind their times.
func (w *walker) crontab(at int, text Word) {
	for line := range strings.Lines(text.all()) {
		times := 5
		if strings.HasPrefix(line, "@") {
			times = 1
		}
		if words := strings.Fields(line); len(words) > times && line[0] != '#' {
			w.shell(at, partly(strings.Join(words[times:], " ")))
		}
	}
}

// partly is a text that may have holes.
func partly(text string) Word {
	before, _, holed := strings.Cut(text, hole)
	if !holed {
		return known(text)
	}
	return Word{Text: before, shell: text}
}

// found is the path of a file that find finds: below where it begins.
func (w *walker) found(at int) Word {
	dir := "."
	if list := w.line.Commands[at].Args.Operands; len(list) == 1 {
		if one, named := w.line.Commands[at].Args.found(list[0]); named {
			return one
		}
	}
	if list := w.line.Commands[at].Args.Operands; len(list) == 1 && list[0].Known {
		dir = strings.TrimSuffix(list[0].Text, "/")
	}
	return Word{Text: dir + "/", shell: dir + "/" + hole}
}

// maxStrange is how many words behind a wrapper's flags may be their values.
const maxStrange = 6

// rest runs the words behind a wrapper.
func (w *walker) rest(at int, c Command, in stream, join bool) {
	words := c.Words[c.Args.rest:]
	if len(words) == 0 {
		return
	}
	if join {
		w.shell(at, joined(words, " "))
		return
	}
	s := c.Args.specs[len(c.Args.specs)-1]
	if !s.more {
		w.within(at, func() {
			w.run(words, nil, in)
			for n := 1; n <= min(3*c.Args.strange, maxStrange, len(words)-1); n++ {
				if words[n].Text != "--" { // where the words before are values
					w.run(words[n:], nil, in)
				}
			}
		})
		return
	}
	more := !in.some || !in.text.Known
	words = w.fed(c, words, in)
	w.within(at, func() {
		first := len(w.line.Commands)
		w.run(words, nil, stream{})
		if more && first < len(w.line.Commands) {
			w.line.Commands[first].More = true
			w.moreText(first)
		}
	})
}

// fed puts the words of the input where xargs does.
func (w *walker) fed(c Command, words []Word, in stream) []Word {
	if !in.some {
		return words
	}
	var list []Word
	if in.text.Known {
		for _, text := range strings.Fields(strings.ReplaceAll(in.text.Text, "\x00", " ")) {
			list = append(list, known(strings.Trim(text, `'"`)))
		}
	}
	at := slices.IndexFunc(c.Args.Flags, func(f Flag) bool { return f.Name == "-I" })
	if at < 0 {
		return append(slices.Clone(words), list...)
	}
	mark := c.Args.Flags[at].Value.Text
	if mark == "" {
		mark = "{}"
	}
	text := joined(list, " ")
	if !in.text.Known {
		text = nothing.words[0]
	}
	out := slices.Clone(words)
	for i, word := range out {
		if before, after, ok := strings.Cut(word.Text, mark); ok && word.Known {
			out[i] = joined([]Word{known(before), text, known(after)}, "")
		}
	}
	return out
}

// moreText: a shell or an interpreter whose text comes from xargs runs what the
// line does not tell.
func (w *walker) moreText(at int) {
	a := w.line.Commands[at].Args
	if len(a.specs) > 0 && len(a.Operands) == 0 && a.specs[0].stdin != "" {
		w.unknown(a.Program + " runs a text that is not in the line")
	}
}

// parallel runs its words with each of those that follow :::, or of its input.
func (w *walker) parallel(at int, c Command, in stream) {
	words := c.Words[1:]
	if c.Args.rest > 0 {
		words = c.Words[c.Args.rest:]
	}
	var inputs []Word
	if i := slices.IndexFunc(words, func(v Word) bool { return strings.HasPrefix(v.Text, ":::") }); i >= 0 {
		words, inputs = words[:i], words[i+1:]
	} else if in.some && in.text.Known {
		for line := range strings.Lines(in.text.Text) {
			inputs = append(inputs, known(strings.TrimSpace(line)))
		}
	}
	if len(words) > 0 && words[0].Known && strings.HasPrefix(words[0].Text, "-") {
		words = nil
	}
	text := joined(words, " ")
	if len(inputs) == 0 {
		inputs = []Word{nothing.words[0]}
	}
	for _, input := range inputs {
		before, after, ok := strings.Cut(text.all(), "{}")
		if !ok {
			before += " "
		}
		w.shell(at, joined([]Word{{Text: before, Known: text.Known, shell: before}, input, known(after)}, ""))
	}
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

// gitAlias runs what `git -c alias.x=TEXT x` stands for.
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

// input is for programs that take commands from their input.
func (w *walker) input(at int, s *spec, in stream) {
	c := w.line.Commands[at]
	if s.stdin == "" || c.Args.rest > 0 || slices.ContainsFunc(c.Args.Flags, func(f Flag) bool { return f.kind == "sh" || f.kind == "code" }) {
		return
	}
	script := len(c.Args.Operands) > 0 && !c.Args.Has("-s") && runs(kindOf(s.operands(c.Args), 0, len(c.Args.Operands)))
	if script && c.Args.Operands[0].Text == "/dev/fd/63" && c.To > c.From && !w.has("/dev/fd/63") {
		w.unknown(c.Args.Program + " runs a text that is not in the line")
	}
	reads := s.stdin != "make" || slices.ContainsFunc(c.Args.Flags, func(f Flag) bool {
		return f.Name == "-f" && (f.Value.Text == "-" || f.Value.Text == "/dev/stdin")
	})
	if script || !in.some || !reads {
		return
	}
	switch {
	case !in.text.Known && in.text.all() == hole:
		w.unknown(c.Args.Program + " reads commands that are not in the line")
	case s.stdin == "cron":
		w.crontab(at, in.text)
	case s.stdin == "make":
		w.makefile(at, in.text)
	case s.stdin == "sh":
		w.within(at, func() {
			w.args = slices.Clone(c.Args.Operands)
			w.shell(at, in.text)
		})
	default:
		w.code(at, in.text)
	}
}

func (w *walker) has(file string) bool { _, ok := w.written[file]; return ok }

// output is what a command writes, where its words and its input tell.
func (w *walker) output(at int, in stream) Word {
	c := w.line.Commands[at]
	a := c.Args
	unknown := nothing.words[0]
	switch a.Program {
	case "echo":
		return echo(c.Words[1:])
	case "printf":
		return printf(c.Words[1:])
	case "cat", "tee":
		if len(a.Operands) == 0 || a.Program == "tee" || a.Operands[0].Text == "-" {
			if a.Program == "tee" && len(a.Operands) == 1 {
				w.write(a.Operands[0], in.text)
			}
			return in.text
		}
		return w.content(a.Operands[0])
	case "base64":
		if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in.text.Text), "")); in.text.Known && a.Has("-d") && err == nil {
			return known(string(raw))
		}
	case "which", "type":
		if len(a.Operands) == 1 {
			return a.Operands[0]
		}
	case "command":
		if len(a.Operands) == 1 && a.Has("-v") {
			return a.Operands[0]
		}
	case "true", ":", "test", "[":
		return known("")
	}
	return unknown
}

func echo(args []Word) Word {
	end, escapes := "\n", false
	for len(args) > 0 && args[0].Known && len(args[0].Text) > 1 && args[0].Text[0] == '-' && strings.Trim(args[0].Text[1:], "neE") == "" {
		if strings.Contains(args[0].Text, "n") {
			end = ""
		}
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	out := joined(append(slices.Clone(args), known(end)), " ")
	if len(args) > 0 && out.Known {
		out.Text = strings.TrimSuffix(out.Text, " "+end) + end
	}
	if escapes && out.Known {
		out.Text = unescape(out.Text)
	}
	return out
}

// printf knows %s, %b, %d and %%, which is what command lines are made with.
func printf(args []Word) Word {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].Known || args[0].Text == "-v" {
		return nothing.words[0]
	}
	format, args := unescape(args[0].Text), args[1:]
	var out []Word
	for round := 0; round == 0 || len(args) > 0 && round < maxAlternatives; round++ {
		rest, used := format, false
		for {
			at := strings.IndexByte(rest, '%')
			if at < 0 || at+1 == len(rest) {
				break
			}
			out = append(out, known(rest[:at]))
			switch verb := rest[at+1]; {
			case verb == '%':
				out = append(out, known("%"))
			case strings.IndexByte("sbdq", verb) < 0:
				return nothing.words[0]
			case len(args) > 0:
				out = append(out, args[0])
				args, used = args[1:], true
			}
			rest = rest[at+2:]
		}
		out = append(out, known(rest))
		if !used {
			break
		}
	}
	return joined(out, "")
}
