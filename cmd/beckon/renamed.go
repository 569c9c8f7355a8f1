package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// renaming is a command of an earlier release, and what does the same now.
type renaming struct {
	was, is []string
	written bool // setup or init writes it into files, whose output nobody expects
}

// renamings are the commands that earlier releases had. They work as before.
var renamings = []renaming{
	{was: []string{"aside"}, is: []string{"mark", "--aside"}},
	{was: []string{"backburner"}, is: []string{"mark", "--aside"}},
	{was: []string{"back"}, is: []string{"away", "off"}},
	{was: []string{"completion"}, is: []string{"init", "--completion"}, written: true},
	{was: []string{"digest"}, is: []string{"stats", "--since=away"}},
	{was: []string{"explain"}, is: []string{"show", "--why"}},
	{was: []string{"fsck", "--rebuild"}, is: []string{"doctor", "--repair"}},
	{was: []string{"fsck"}, is: []string{"doctor"}},
	{was: []string{"install"}, is: []string{"setup"}},
	{was: []string{"link"}, is: []string{"fleet", "link"}, written: true},
	{was: []string{"man"}, is: []string{"help", "--man"}, written: true},
	{was: []string{"pick"}, is: []string{"watch"}},
	{was: []string{"remove"}, is: []string{"mark", "--remove"}},
	{was: []string{"replay"}, is: []string{"demo", "--list"}},
	{was: []string{"seen", "--pane"}, is: []string{"mark", "--seen", "--pane"}, written: true},
	{was: []string{"seen"}, is: []string{"mark", "--seen"}},
	{was: []string{"uninstall"}, is: []string{"setup", "--undo"}},
}

// renamed returns the renaming of the words that a command line begins with.
func renamed(args []string) (renaming, bool) {
	i := slices.IndexFunc(renamings, func(r renaming) bool {
		return len(args) >= len(r.was) && slices.Equal(args[:len(r.was)], r.was)
	})
	if i < 0 {
		return renaming{}, false
	}
	return renamings[i], true
}

// renew returns the command line with the words of today, and says on a terminal what they are.
func (a *app) renew(args []string) []string {
	r, ok := renamed(args)
	if !ok {
		return args
	}
	if f, ok := a.Stderr.(*os.File); ok && !r.written && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(f, "beckon: %s is now: beckon %s\n", strings.Join(r.was, " "), strings.Join(r.is, " "))
	}
	rest := args[len(r.was):]
	if r.was[0] == "install" {
		rest = steps(rest)
	}
	return slices.Concat(r.is, rest)
}

// steps returns the arguments of `beckon install` as those of `beckon setup`: flags are steps now.
func steps(args []string) (out []string) {
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--agent") }) {
		out = append(out, "hooks")
	}
	for _, arg := range args {
		if slices.Contains([]string{"--answers", "--mod", "--statusline"}, arg) {
			arg = arg[2:]
		}
		out = append(out, arg)
	}
	return out
}
