package hook

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/policy"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// waitFlag, before a request's id and digest, makes beckon-hook wait for its answer.
const waitFlag = "--wait"

// Start is beckon-hook's entry. Without a policy it only observes. Rules that may concern the event
// are evaluated here; where the policy starts programs, this process becomes the one that can
// start them.
func Start(args []string, stdin, stdout, stderr *os.File, getenv func(string) string) int {
	switch {
	case len(args) == 3 && args[0] == waitFlag:
		return wait(args[1], args[2], stdout, stderr, getenv)
	case len(args) > 0 && args[0] == ModFlag:
		return Mod(args[1:], getenv, time.Now())
	}
	a := ParseArgs(args)
	if a.Waits() {
		return Main(args, stdin, stdout, stderr, getenv, nil)
	}
	if !a.Judged() {
		return observe(a, stdin, stdout, getenv, nil)
	}
	if getenv = a.Env(getenv); !guarded(true, func() bool { return Policied(getenv) }) && !a.Refused() {
		return observe(a, stdin, stdout, getenv, nil)
	}
	in := io.Reader(stdin)
	needs, rules := covered(a, getenv)
	switch needs {
	case trust.None:
	case trust.Rules:
		given := []byte(nil)
		if event.KindOf(a.Agent, a.Event) == event.PreToolUse {
			given = first(stdin)
		}
		in = io.MultiReader(bytes.NewReader(given), stdin)
		if !silent(rules, a, given, getenv) {
			return Main(args, in, stdout, stderr, getenv, nil)
		}
	default:
		if code, ok := becomeHook(args); ok {
			return code
		}
	}
	var warning []byte
	if !a.Foreign() && (a.Event == "SessionStart" || a.Event == "UserPromptSubmit") {
		if _, err := os.Stat(home.Beside("beckon")); err != nil {
			warning = []byte(unasked)
		}
	}
	return observe(a, in, stdout, getenv, warning)
}

// wait waits at a request and has the answer given to the client. Without an answer it is
// silent, and the session's own dialog decides. digest is the request's, which stays on the command
// line: files may be changed while it waits.
func wait(id, digest string, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	var fault error // not printed: the client would take a trace for an answer
	defer Guard(&fault)
	dir, err := store.Dir(getenv)
	if err != nil {
		return 0
	}
	st := store.Open(dir)
	given := make(chan os.Signal, 1)
	signal.Notify(given, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	var ending sync.Mutex // whoever ends the wait writes everything before the process exits
	go func() {
		<-given
		ending.Lock()
		request.In(st.Dir).Close(id, request.WhyStopped)
		os.Exit(0)
	}()
	r, a, why := request.Wait(st, id, digest, getenv, func() {
		if err := StartBeckon(st.Dir, []string{"notify", "ask", id}); err != nil {
			st.Log(errors.New("notifying of a request: " + err.Error()))
		}
	})
	ending.Lock()
	if why != "" {
		request.In(st.Dir).Close(id, why)
		return 0
	}
	f := invocation{getenv: getenv, ev: policy.Event{At: time.Now()}, st: st}
	return f.give(&r, &a, stdout, stderr)
}

// Policied reports whether there may be a policy to evaluate: a file exists, or may exist, or
// existed and the user has not accepted its removal. Without a policy it costs three stat calls.
func Policied(getenv func(string) string) bool { return policied(getenv, os.Stat) }

// guarded returns what do returns, or otherwise if it panics, which by its exit code would refuse.
func guarded(otherwise bool, do func() bool) (is bool) {
	is = otherwise
	var fault error // the program that answers gets the event instead
	defer Guard(&fault)
	return do()
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
	return there(string(kept)) && (kept.Allows() || kept.HasCopy(trust.Good, global) || trusted(kept, project))
}

// trusted reports whether the user trusts a project's policy file.
func trusted(kept trust.Dir, file string) bool {
	return kept.HasCopy(trust.Trusted, kept.NameOf(file, evidence.Worktree))
}

// unasked warns the user of a policy without a program that can evaluate it.
const unasked = `{"systemMessage":"beckon: there is a policy, but the program beckon is not beside beckon-hook, ` +
	`so it is NOT in force: run beckon doctor"}` + "\n"

// silent reports whether no rule decides a tool call, under any name that its tool may have.
func silent(rules []byte, a Args, payload []byte, getenv func(string) string) bool {
	return guarded(false, func() bool {
		if len(rules) == 0 || !gjson.ValidBytes(payload) {
			return false
		}
		if a.Foreign() {
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
				Project: cmp.Or(getenv(ProjectVar), cwd), Home: home.Dir(getenv)})
		})
	})
}

// becomeHook makes this process `beckon hook`, by the program next to this one. It returns only if
// that is missing or, on a system without exec, when it has ended: with its exit code.
func becomeHook(args []string) (code int, ok bool) {
	return Become(home.Beside("beckon"), append([]string{"hook"}, args...))
}

// covered returns what is known about the policy's part in an event; nothing after a panic.
func covered(a Args, getenv func(string) string) (needs trust.Needs, rules []byte) {
	guarded(false, func() bool {
		dir, err := store.Dir(getenv)
		if err != nil {
			return false
		}
		kept := trust.In(dir)
		needs, rules = Coverage(getenv).Of(kept, string(event.KindOf(a.Agent, a.Event)))
		if a.Refused() || needs != trust.Unknown && a.Event == string(event.PreToolUse) && kept.Allows() {
			needs, rules = trust.Rules, nil // the user may have allowed the call
		}
		return true
	})
	return needs, rules
}

// Coverage returns what the policy files here cover, for this program in this place.
func Coverage(getenv func(string) string) trust.Coverage {
	global, project := trust.Files(getenv)
	place := home.Beside("")
	for _, name := range []string{"beckon-hook", "beckon"} { // versions differ in their packs and rules
		if info, err := os.Stat(home.Beside(name)); err == nil {
			place += "\x00" + strconv.FormatInt(info.ModTime().UnixNano(), 10) + "," + strconv.FormatInt(info.Size(), 10)
		}
	}
	return trust.CoverageOf(global, project, place+"\x00"+home.Dir(getenv)+"\x00"+getenv("CLAUDE_CONFIG_DIR"))
}

// Foreign reports whether an agent other than Claude Code sends the event.
func (a Args) Foreign() bool { return a.Agent != "" && event.Agent(a.Agent) != event.ClaudeCode }

// Judged reports whether a policy may concern the event: any event of Claude Code, and the
// events of another agent at which it accepts a hook's answer.
func (a Args) Judged() bool {
	return !a.Foreign() || a.heeded() != nil
}

// heeded returns the answer that an agent other than Claude Code accepts at the event, or nil.
func (a Args) heeded() *agents.Answer {
	if agent := event.AgentOf(a.Agent); agent != nil {
		return agent.AnswerTo(string(event.KindOf(a.Agent, a.Event)))
	}
	return nil
}

// Waits reports whether the hook waits for the user's answer to the event, if somebody may give
// one. It does not wait for an MCP server's form: meanwhile the client would show no dialog for it.
func (a Args) Waits() bool {
	if a.Foreign() {
		row := a.heeded()
		return a.Answers && row != nil && row.Waits
	}
	return a.Reply || a.Answers && a.Event == string(event.PermissionRequest)
}

// Refused reports whether the client's own check refused a call, which the user can allow.
func (a Args) Refused() bool { return !a.Foreign() && a.Event == string(event.PermissionDenied) }

// Env returns the environment with the project whose policy is in force: the nearest directory,
// from the one that the agent names or the hook's own upwards, that has or had one.
func (a Args) Env(getenv func(string) string) func(string) string {
	dir := getenv(ProjectVar)
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.Getwd(); err != nil || !a.Foreign() {
			return getenv
		}
	}
	state, _ := store.Dir(getenv) // without one nothing is trusted
	return home.WithVar(getenv, ProjectVar, trust.ProjectAround(dir, trust.In(state), evidence.Worktree))
}

// ProjectVar is the variable in which Claude Code names the project.
const ProjectVar = "CLAUDE_PROJECT_DIR"
