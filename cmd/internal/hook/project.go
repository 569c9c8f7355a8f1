package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"beckon/event"
	"beckon/event/agents"
	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/event/policy/trust"
	"beckon/state/evidence"
	"beckon/state/store"
)

// Foreign reports whether an agent other than Claude Code sends the event.
func (a Args) Foreign() bool { return a.Agent != "" && event.Agent(a.Agent) != event.ClaudeCode }

// Judged reports whether a policy may concern the event: any event of Claude Code, and the
// events of another agent at which it accepts a hook's answer.
func (a Args) Judged() bool {
	return !a.Foreign() || a.heeded() != nil
}

// heeded returns the answer that an agent other than Claude Code accepts at the event, nil if
// none.
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
		return a.Answers && row != nil && row.Held
	}
	return a.Reply || a.Answers && a.Event == string(event.PermissionRequest)
}

// Env returns the environment with the project whose policy is in force: the nearest directory,
// from the one that the agent names or the hook's own upwards, that has or had one. If there is
// none it returns the hook's own environment.
func (a Args) Env(getenv func(string) string) func(string) string {
	dir := getenv(ProjectVar)
	if !filepath.IsAbs(dir) {
		var err error
		if dir, err = os.Getwd(); err != nil || !a.Foreign() {
			return getenv
		}
	}
	state, _ := store.Dir(getenv) // without one nothing is trusted
	return home.WithVar(getenv, ProjectVar, trust.ProjectAround(dir, trust.In(state), Worktree))
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

// ProjectVar is the variable in which Claude Code names the project.
const ProjectVar = "CLAUDE_PROJECT_DIR"
