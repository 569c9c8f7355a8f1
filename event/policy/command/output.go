package command

import (
	"encoding/base64"
	"slices"
	"strings"
)

// output returns a command's output, as far as its words and its input determine it.
func (w *walker) output(at int, in stream) Word {
	c := w.line.Commands[at]
	a := c.Args
	switch a.Program {
	case "echo":
		return echo(c.Words[1:])
	case "printf":
		return printf(c.Words[1:])
	case "tee":
		for _, name := range a.Operands {
			w.write(target{w.path(name), a.Has("-a")}, in.text)
		}
		return in.text
	case "cat":
		return w.contents(a.Operands, in)
	case "cp", "mv", "ln", "install":
		if len(a.Operands) == 2 {
			if text, ok := w.fileText(a.Operands[0], in); ok {
				w.write(target{path: w.path(a.Operands[1])}, text)
			}
		}
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
	return unknownWord
}

// contents returns what cat prints.
func (w *walker) contents(files []Word, in stream) Word {
	if len(files) == 0 {
		return in.text
	}
	list := make([]Word, len(files))
	for i, name := range files {
		if list[i] = in.text; name.Text != "-" {
			list[i] = w.content(name)
		}
	}
	if !slices.ContainsFunc(list, func(text Word) bool { return text.all() != hole }) {
		return unknownWord
	}
	out := joined(list, "")
	w.spend(len(out.all()))
	return out
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
	if escapes {
		out, _ = escaped(out)
	}
	return out
}

// escaped returns what echo -e and printf's %b make of a word, and whether it ends the output.
func escaped(w Word) (out Word, ended bool) {
	text, ended := unescaped(w.all(), 4)
	return partly(text), ended
}

// printf knows %s, %b, %d and %%, which are enough to build command lines.
func printf(args []Word) Word {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].Known || args[0].Text == "-v" {
		return unknownWord
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
				return unknownWord
			case len(args) > 0:
				arg, ended := args[0], false
				if verb == 'b' {
					arg, ended = escaped(arg)
				}
				if out = append(out, arg); ended {
					return joined(out, "")
				}
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
