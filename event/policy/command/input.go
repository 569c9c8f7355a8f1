package command

import (
	"slices"
	"strings"
)

// input is for programs that take commands from their input.
func (w *walker) input(at int, s *spec, in stream) {
	c := w.line.Commands[at]
	if s.stdin == "" || c.Args.rest > 0 || slices.ContainsFunc(c.Args.Flags, func(f Flag) bool { return f.kind == "sh" || f.kind == "code" }) {
		return
	}
	script := len(c.Args.Operands) > 0 && !c.Args.Has("-s") && runs(kindOf(s.operands(c.Args), 0, len(c.Args.Operands)))
	if script && strings.HasPrefix(c.Args.Operands[0].Text, "/dev/fd/") && c.To > c.From && !w.has(c.Args.Operands[0].Text) {
		w.unknown(c.Args.Program + " runs a text that is not in the line")
	}
	reads := s.stdin != "make" || slices.ContainsFunc(c.Args.Flags, func(f Flag) bool {
		return f.Name == "-f" && (f.Value.Text == "-" || f.Value.Text == "/dev/stdin")
	})
	if script || !in.some || !reads {
		return
	}
	switch {
	case s.stdin == "patch":
		w.patch(at, in.text)
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

// crontab walks over the commands of a crontab.
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
