package hook

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state/evidence"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// Policied reports whether there may be a policy to evaluate: either file exists, or may
// exist, or existed and the user has not accepted its removal. Without a policy it costs three
// stat calls.
func Policied(getenv func(string) string) bool { return policied(getenv, os.Stat) }

// guarded returns what do returns, or otherwise if it panics: the event is then left to a
// program that can read the policy. A process that panics would refuse the event by its exit
// code.
func guarded[T any](otherwise T, do func() T) (is T) {
	is = otherwise
	var fault error // the program that answers gets the event instead
	defer Guard(&fault)
	return do()
}

func mayBePolicied(getenv func(string) string) bool {
	return guarded(true, func() bool { return Policied(getenv) })
}

func policied(getenv func(string) string, stat func(string) (os.FileInfo, error)) bool {
	there := func(path string) bool {
		if path == "" {
			return false
		}
		_, err := stat(path)
		return err == nil || !os.IsNotExist(err)
	}
	global, project := trust.Files(getenv)
	if there(global) || there(project) {
		return true
	}
	dir, err := store.Dir(getenv)
	if err != nil {
		return false
	}
	kept := trust.In(dir)
	return there(string(kept)) &&
		(kept.HasCopy(trust.Good, global) || kept.HasCopy(trust.Trusted, kept.NameOf(project, Worktree)))
}

// unasked warns the user of a policy without a program that can evaluate it.
const unasked = `{"systemMessage":"beckon: there is a policy, but the program beckon is not beside beckon-hook, ` +
	`so it is NOT in force: run beckon doctor"}` + "\n"

// NoOp, as the only argument, makes beckon-hook exit at once, so that `beckon doctor` can
// measure the process itself.
const NoOp = "--nothing"

// Judge evaluates the policy in this process and returns the exit code. It calls become where
// the policy starts programs.
type Judge func(args []string, stdin io.Reader, become func([]string) (int, bool)) int

// Start is beckon-hook's entry. Without a policy it is Main. Rules that may concern the event
// are evaluated here; where the policy starts programs, this process becomes the one that can
// start them.
func Start(args []string, stdin *os.File, stdout *os.File, getenv func(string) string, judge Judge) int {
	if len(args) == 1 && args[0] == NoOp {
		return 0
	}
	if len(args) > 1 && args[0] == waitFlag {
		return wait(args[1:], getenv, judge)
	}
	if len(args) > 0 && args[0] == modFlag {
		return modSays(args[1:], getenv, time.Now())
	}
	a := ParseArgs(args)
	if a.Holds() {
		return judge(args, stdin, BecomeHook)
	}
	if !a.Judged() {
		return Main(args, stdin, stdout, getenv)
	}
	if getenv = a.Env(getenv); !mayBePolicied(getenv) {
		return Main(args, stdin, stdout, getenv)
	}
	in := io.Reader(stdin)
	needs, rules := covered(string(event.KindOf(a.Agent, a.Event)), getenv)
	switch needs {
	case trust.None:
	case trust.Rules:
		given := []byte(nil)
		if event.KindOf(a.Agent, a.Event) == event.PreToolUse {
			given = first(stdin)
		}
		in = io.MultiReader(bytes.NewReader(given), stdin)
		if !silent(rules, a, given, getenv) {
			// The policy may have changed in this moment, and start programs now.
			return judge(args, in, func(args []string) (int, bool) { return runHook(args, in) })
		}
	default:
		if code, ok := BecomeHook(args); ok {
			return code
		}
	}
	var warning []byte
	if !a.foreign() && (a.Event == "SessionStart" || a.Event == "UserPromptSubmit") {
		if _, err := os.Stat(home.Beside("beckon")); err != nil {
			warning = []byte(unasked)
		}
	}
	return say(warning, args, in, stdout, getenv)
}

// silent reports whether none of the rules decides a tool call, under any of the names that its
// tool may have.
func silent(rules []byte, a Args, payload []byte, getenv func(string) string) bool {
	return guarded(false, func() bool {
		if len(rules) == 0 || !gjson.ValidBytes(payload) {
			return false
		}
		if a.foreign() {
			d, hears := wire.DialectOf(a.Agent)
			e, err := event.Parse(a.Agent, a.Event, payload)
			if !hears || err != nil || e.Kind != event.PreToolUse {
				return false
			}
			if payload, err = d.Payload(&e, payload); err != nil {
				return false
			}
		}
		get := func(name string) gjson.Result { return gjson.GetBytes(payload, name) }
		names := append(get(wire.ToolNames).Array(), get("tool_name"))
		cwd := get("cwd").Str
		return get("tool_input").IsObject() && !slices.ContainsFunc(names, func(name gjson.Result) bool {
			return rule.May(rules, &rule.Call{Tool: name.Str, Input: []byte(get("tool_input").Raw), Cwd: cwd,
				Project: cmp.Or(getenv(projectVar), cwd), Home: home.Dir(getenv)})
		})
	})
}

// BecomeHook makes this process `beckon hook`, by the program next to this one, which answers
// what only it can. It returns only if that program is missing or, on a system without exec,
// when it has ended: with its exit code.
func BecomeHook(args []string) (code int, ok bool) {
	return Become(home.Beside("beckon"), append([]string{"hook"}, args...))
}

// runHook runs `beckon hook` with what is read from in, since this process has read a part of
// its stdin. It returns the exit code; ok is false if the program did not start.
func runHook(args []string, in io.Reader) (code int, ok bool) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, false
	}
	program := home.Beside("beckon")
	files := &os.ProcAttr{Files: []*os.File{r, os.Stdout, os.Stderr}}
	p, err := os.StartProcess(program, append([]string{program, "hook"}, args...), files)
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return 0, false
	}
	go func() {
		_, _ = io.Copy(w, in) // it may end before it has read all
		_ = w.Close()
	}()
	state, err := p.Wait()
	if err != nil {
		return 0, true
	}
	return state.ExitCode(), true
}

// covered returns what is known about the policy's part in an event; nothing after a panic.
func covered(event string, getenv func(string) string) (needs trust.Needs, rules []byte) {
	needs = trust.Unknown
	var fault error // as in guarded
	defer Guard(&fault)
	dir, err := store.Dir(getenv)
	if err != nil {
		return trust.Unknown, nil
	}
	return Coverage(getenv).Of(trust.In(dir), event)
}

// Coverage returns what the policy files here cover, for this program in this place.
func Coverage(getenv func(string) string) trust.Coverage {
	global, project := trust.Files(getenv)
	place := []string{home.Beside("") + builds(), home.Dir(getenv), getenv("CLAUDE_CONFIG_DIR")}
	return trust.CoverageOf(global, project, strings.Join(place, "\x00"))
}

// builds distinguishes versions of the programs: their packs and rules may differ.
func builds() (versions string) {
	for _, name := range []string{"beckon-hook", "beckon"} {
		if info, err := os.Stat(home.Beside(name)); err == nil {
			versions += "\x00" + strconv.FormatInt(info.ModTime().UnixNano(), 10) + "," + strconv.FormatInt(info.Size(), 10)
		}
	}
	return versions
}

// foreign reports whether an agent other than Claude Code sends the event.
func (a Args) foreign() bool { return a.Agent != "" && event.Agent(a.Agent) != event.ClaudeCode }

// Judged reports whether a policy may concern the event: any event of Claude Code, and the
// events of another agent at which it accepts a hook's answer.
func (a Args) Judged() bool {
	return !a.foreign() || a.heeded() != nil
}

// heeded returns the answer that an agent other than Claude Code accepts at the event, nil if
// none.
func (a Args) heeded() *agents.Answer {
	if agent := event.AgentOf(a.Agent); agent != nil {
		return agent.AnswerTo(string(event.KindOf(a.Agent, a.Event)))
	}
	return nil
}

// Env returns the environment with the project whose policy is in force: the nearest directory,
// from the one that the agent names or the hook's own upwards, that has or had one. If there is
// none it returns the hook's own environment.
func (a Args) Env(getenv func(string) string) func(string) string {
	dir := getenv(projectVar)
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.Getwd(); err != nil || !a.foreign() {
			return getenv
		}
	}
	state, _ := store.Dir(getenv) // without one nothing is trusted
	return home.WithVar(getenv, projectVar, trust.ProjectAround(dir, trust.In(state), Worktree))
}

// Worktree is the trust.Tree of git's worktrees: those that their repository names, too. A folder
// that only says that it is a worktree of a trusted project is none.
func Worktree(dir string) (at, root, main string) {
	g := evidence.Git(dir)
	if !g.Linked {
		return "", "", ""
	}
	buf := make([]byte, 4<<10) // each file has one line
	link, err := plainfile.Head(filepath.Join(g.Worktree, ".git"), buf, 0)
	gitDir := inGit(g.Worktree, strings.TrimPrefix(string(link), "gitdir: "))
	back, errBack := plainfile.Head(filepath.Join(gitDir, "gitdir"), buf, 0)
	named, errNamed := filepath.EvalSymlinks(filepath.Dir(inGit(gitDir, string(back))))
	at, errAt := filepath.EvalSymlinks(dir)
	if errors.Join(err, errBack, errNamed, errAt) != nil || named != g.Worktree {
		return "", "", ""
	}
	if main = g.Common; filepath.Base(main) == ".git" {
		main = filepath.Dir(main)
	}
	return at, g.Worktree, main
}

// inGit returns a path in one of git's files, relative to a directory.
func inGit(dir, line string) string {
	p := filepath.FromSlash(strings.TrimRight(line, "\r\n"))
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// projectVar is the variable in which Claude Code names the project.
const projectVar = "CLAUDE_PROJECT_DIR"
