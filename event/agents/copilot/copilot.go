// Package copilot holds the words of GitHub Copilot CLI, as 1.0.102 speaks them.
//
// permissionRequest comes before any rule is looked at, also for calls that
// nobody is asked about: the notification proves a dialog. A subagent's own
// events have a sessionId of its own and the main session in parentAgentId; its
// permissionRequest and notification have the main session's id. errorOccurred
// comes at every try of a request and does not say which one is the last;
// preCompact by hand has no end. Both are for the session's events.jsonl to
// tell.
//
// No hook tells of: what lies before the first prompt, an approval, a refusal,
// Esc, the end of a compaction, the last error of a turn, the last words.
package copilot

import "beckon/event/agents"

// Agent is GitHub Copilot CLI.
var Agent = agents.Agent{
	Name:    "copilot",
	Aliases: []string{"copilot-cli", "github-copilot"},
	Events: []agents.Event{
		{Name: "userPromptSubmitted", Means: "UserPromptSubmit"},
		{Name: "agentStop", Means: "Stop"},
		{Name: "permissionRequest"},
		{Name: "PermissionRequest"},
		{Name: "preCompact", Where: "trigger", Is: "manual"},
	},
	Fields: []agents.Member{
		{Path: "sessionId", Is: agents.Session},
		{Path: "parentAgentId", Is: agents.Parent},
		{Path: "transcriptPath", Is: agents.Transcript},
		{Path: "toolName", Is: agents.Tool},
		{Path: "toolArgs", Is: agents.Input},
		{Path: "agentId", Is: agents.AgentID},
		{Path: "agentType", Is: agents.AgentType},
		{Path: "agentName", Is: agents.AgentType},
		{Path: "agent_name", Is: agents.AgentType},
		{Path: "response", Is: agents.Message},
		{Path: "stopReason", Is: agents.Reason},
		{Path: "stop_reason", Is: agents.Reason},
	},
	Notices: []agents.Notice{{Type: "permission_prompt", Means: agents.Shown}},
	Forms:   []string{"ask_user"},
	HomeVar: "COPILOT_HOME",
	Home:    ".copilot",
	Install: agents.Install{
		Program: "copilot",
		Title:   "GitHub Copilot CLI",
		File:    "hooks/beckon.json",
		Shape:   agents.Commands,
		Events: []string{
			"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "notification", "subagentStart", "subagentStop",
			"preCompact", "agentStop", "sessionEnd",
		},
	},
	Silent: []string{
		"a session before its first prompt",
		"an approval, a refusal, Esc, an API error: its events.jsonl tells",
		"a compaction by hand",
	},
}
