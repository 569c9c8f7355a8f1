package command

import (
	"slices"
	"strings"
)

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
