// Package codex holds the words of OpenAI's Codex CLI, as 0.169.0 speaks them.
//
// Its hooks.json has Claude Code's names; the older `notify` program gets one
// event as {"type":"agent-turn-complete","thread-id":...}. A subagent's events
// come with the parent's session_id and an agent_id of their own.
//
// No hook tells of: what lies before the first prompt, an approval (between
// PermissionRequest and PostToolUse), an API error, the end of the terminal
// (SessionEnd comes a minute after it). Its hooks may be run by a background
// process that several terminals share.
package codex

import "beckon/event/agents"

// Agent is Codex.
var Agent = agents.Agent{
	Name:    "codex",
	Aliases: []string{"codex-cli"},
	Events: []agents.Event{
		{Name: "agent-turn-complete", Means: "Stop"},
		{Name: "Interrupt", Means: "Stop", Says: agents.Interrupted},
		{Name: "PermissionRequest", Means: "PermissionRequest", Says: agents.Described},
	},
	Fields: []agents.Member{
		{Path: "type", Is: agents.EventName},
		{Path: "thread-id", Is: agents.Session},
		{Path: "turn-id", Is: agents.PromptID},
		{Path: "turn_id", Is: agents.PromptID},
		{Path: "last-assistant-message", Is: agents.Message},
	},
	Forms:   []string{"request_user_input"},
	HomeVar: "CODEX_HOME",
	Home:    ".codex",
	Daemon:  "app-server-daemon/daemon.pid",
	Install: agents.Install{
		Program: "codex",
		Title:   "Codex",
		File:    "hooks.json",
		Shape:   agents.Seconds,
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact",
			"SubagentStart", "SubagentStop", "Stop", "SessionEnd", "Interrupt",
		},
		Then: "codex runs no hook that you have not trusted: start it, and at \"Hooks need review\" choose to trust them",
	},
	Silent: []string{
		"a session before its first prompt",
		"an approval: the title of a tmux pane tells",
		"an API error: the rollout file tells",
		"the end of its terminal: the process tells, where there is one to be found",
	},
}
