package installer

import (
	"bytes"
	"embed"
	"path/filepath"
	"regexp"
	"strings"

	"beckon/event/agents"
	"beckon/event/run"
)

//go:embed agents/*.js
var plugins embed.FS

// AgentSpec returns which entries the file of an agent other than Claude Code must hold.
// command is the absolute path of beckon-hook.
func AgentSpec(a *agents.Agent, command string) Spec {
	return Spec{Command: command, Events: a.Install.Events, KeepAnswers: true, agent: a}
}

// AgentTarget returns the file that an agent reads its hooks from. home is the user's; keep is
// a private directory for records.
func AgentTarget(a *agents.Agent, home, keep string, getenv func(string) string) (Target, error) {
	path, err := filepath.Abs(filepath.Join(a.Dir(home, getenv), filepath.FromSlash(a.Install.File)))
	return Target{Scope: User, Path: path, Keep: filepath.Join(keep, a.Name), agent: a}, err
}

// ownFile reports whether the agent's file belongs to beckon alone.
func ownFile(a *agents.Agent) bool {
	return a != nil && (a.Install.Shape == agents.Commands || a.Install.Shape == agents.Plugin)
}

// lax reports whether an agent's settings are lax, as parse has it: Gemini CLI's and those of
// Qwen Code, which comes from it.
func lax(a *agents.Agent) bool { return a != nil && a.Install.Shape == agents.Milliseconds }

// The plugin's line that says whether requests to the user wait for an answer.
const holdsNot, holds = "const answers = false\n", "const answers = true\n"

// agentArgs returns the arguments in an agent's entry.
func (s Spec) agentArgs(event string) []string { return []string{event, "--agent", s.agent.Name} }

// endsWell, appended to a command for sh, makes it exit 0 and print nothing but its answer.
const endsWell = " 2>/dev/null || true"

// whole returns a file that belongs to beckon alone, in the place of old. Its commands cannot fail:
// their program may be gone one day, and Copilot denies every call whose hook fails.
func (s Spec) whole(old []byte) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	program := slashed(s.Command)
	if s.agent.Install.Shape == agents.Plugin {
		plugin, err := plugins.ReadFile("agents/" + s.agent.Name + ".js")
		text := strings.Replace(string(plugin), `"@PROGRAM@"`, scriptString(program), 1)
		if s.Answers || s.KeepAnswers && bytes.Contains(old, []byte(holds)) {
			text = strings.Replace(text, holdsNot, holds, 1)
		}
		return []byte(text), err
	}
	type command struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		TimeoutSec int    `json:"timeoutSec"`
	}
	hooks := map[string][]command{}
	for _, e := range s.Events {
		line := run.CommandLine(append([]string{program}, s.agentArgs(e)...)...)
		words := strings.ReplaceAll(s.Command, "'", "''") + "' " + strings.Join(s.agentArgs(e), " ")
		shell := "try { & '" + words + " 2>$null } catch {}; exit 0"
		hooks[e] = []command{{"command", line + endsWell, shell, timeout}}
	}
	return encode(map[string]any{"version": 1, "hooks": hooks}, "  "), nil
}

// ours reports whether beckon wrote a file that belongs to it alone.
func ours(text []byte) bool { return bytes.Contains(text, []byte("beckon-hook")) }

// wholeEntries returns an entry for a file that belongs to beckon alone, with the program that it names.
func wholeEntries(text []byte) []Entry {
	if m := regexp.MustCompile(`"'?([^"'\n]*/beckon-hook(?:\.exe)?)`).FindSubmatch(text); m != nil {
		return []Entry{{Program: string(m[1])}}
	}
	return nil
}
