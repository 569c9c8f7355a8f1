package jump

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"beckon/event/run"
	"beckon/render"
)

// Way says how to reach the sessions of machines whose names match a pattern.
type Way struct {
	Pattern string   // as for path.Match
	Words   []string // a command, or one address, with {host}, {user} and {session}
}

// ErrWay is wrapped by ParseWay's errors.
var ErrWay = errors.New("it looks like HOST=COMMAND or HOST=ADDRESS, with {session} and {host} in it")

// ParseWay parses a way from the configuration: "pod-*=kubectl exec -it {host} -- beckon jump
// {session}". No shell reads the command: blanks separate its words.
func ParseWay(s string) (Way, error) {
	pattern, rest, ok := strings.Cut(s, "=")
	w := Way{strings.TrimSpace(pattern), strings.Fields(rest)}
	if _, err := path.Match(w.Pattern, ""); !ok || w.Pattern == "" || len(w.Words) == 0 || err != nil {
		return Way{}, fmt.Errorf("%q: %w", s, ErrWay)
	}
	return w, nil
}

// bySSH is the way to a machine without a configured one.
var bySSH = Way{"*", []string{"ssh", "-t", "{host}", "beckon", "jump", "{session}"}}

// fill inserts a row's names. A text from another machine may become part of a word only if it
// has only letters, digits and "._-@" and does not begin with "-".
func (w Way) fill(r *render.Row) ([]string, error) {
	line := strings.Join(w.Words, " ")
	for _, s := range []struct{ name, text string }{
		{"{host}", r.Remote.Name},
		{"{user}", r.Remote.User},
		{"{session}", r.SessionID},
	} {
		if !strings.Contains(line, s.name) {
			continue
		}
		if !plain(s.text, "") || s.text[0] == '-' {
			return nil, fmt.Errorf("%q cannot be a part of a command", render.OneLine(s.text))
		}
		line = strings.ReplaceAll(line, s.name, s.text)
	}
	return strings.Fields(line), nil
}

// way returns how to reach a row's machine: by the first of Ways whose pattern fits, else by ssh
// if the user named the machine: in the configuration, or to ask it for the row. A name that
// came through a fleet may be anybody's, and ssh would go there.
func (j *Jumper) way(r *render.Row, fits func(pattern, name string) bool) (Way, error) {
	name := r.Remote.Name
	if i := slices.IndexFunc(j.Ways, func(w Way) bool { return fits(w.Pattern, name) }); i >= 0 {
		return j.Ways[i], nil
	}
	if !r.Remote.Asked && !slices.Contains(j.Hosts, name) {
		return Way{}, &ByHand{fmt.Sprintf("%q is not one of your machines", render.OneLine(name)),
			`if it is, add it to config.json: "hosts": ["ssh:NAME"], or a "jump_by" for its name (beckon help fleet)`}
	}
	return bySSH, nil
}

// There returns the command that runs beckon with words for a row's session where it runs. A
// pattern that fits many names is not enough for that.
func (j *Jumper) There(r *render.Row, words ...string) (Command, error) {
	way, err := j.way(r, func(pattern, name string) bool { return pattern == name })
	if err != nil {
		return Command{}, err
	}
	at := slices.Index(way.Words, "jump")
	if at < 0 || at+1 >= len(way.Words) || way.Words[at+1] != "{session}" {
		why := fmt.Sprintf("the way to %s in jump_by does not run beckon jump {session} there", r.Remote.Name)
		return Command{}, &ByHand{why, "nothing else can be run there"}
	}
	way.Words = way.Words[:at]
	argv, err := way.fill(r)
	if err != nil {
		return Command{}, err
	}
	// It gives its words to a shell, also where another program runs it, as in "tailscale ssh".
	shell := slices.ContainsFunc(way.Words, func(w string) bool {
		return path.Base(w) == "ssh" || path.Base(w) == "autossh"
	})
	for _, w := range words {
		if shell {
			w = run.Quote(w)
		}
		argv = append(argv, w)
	}
	if _, err := j.Find(argv[0]); err != nil {
		return Command{}, &ByHand{argv[0] + " is not found", Command{Argv: argv}.String()}
	}
	return Command{Argv: argv}, nil
}

// remote goes to a session of another machine in the caller's own terminal; without a terminal it
// returns the command for the user.
func (j *Jumper) remote(r *render.Row) (Result, error) {
	name := render.OneLine(r.Remote.Name)
	it := fmt.Sprintf("it runs on %s", name)
	way, err := j.way(r, func(pattern, name string) bool { ok, _ := path.Match(pattern, name); return ok })
	if err != nil {
		return Result{}, err
	}
	words, err := way.fill(r)
	switch {
	case err != nil:
		return Result{}, &ByHand{it + ", and no way there is known: " + err.Error(),
			`"jump_by" in the configuration names one: see beckon help fleet`}
	case len(way.Words) == 1 && strings.Contains(way.Words[0], "://"): // for a browser
		return Result{}, &ByHand{it + "; open its address", words[0]}
	case !r.Remote.Asked && r.Terminal == nil && len(j.Ways) == 0:
		return Result{}, &ByHand{it + ", in no terminal that could be shown",
			"beckon answer, reply and stop --fleet reach it by ssh"}
	}
	c := Command{Argv: words}
	if !j.Attended && !j.DryRun {
		return Result{}, &ByHand{it, c.String()}
	}
	if _, err := j.Find(words[0]); err != nil {
		return Result{}, &ByHand{it + ", and the program that goes there is not found", c.String()}
	}
	return Result{Did: "going to " + name, Commands: []Command{c}, Become: &c}, nil
}
