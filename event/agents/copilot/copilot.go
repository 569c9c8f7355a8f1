// Package copilot holds the names that GitHub Copilot CLI 1.0.102 uses.
//
// permissionRequest comes before any rule is checked, also for calls that need no approval:
// only the notification proves a dialog. A subagent's events have a sessionId of their own and
// the main session in parentAgentId; its permissionRequest and notification have the main
// session's id. errorOccurred comes at every try of a request and does not say which one is
// the last; a manual preCompact has no end. The session's events.jsonl has both.
//
// No hook reports: anything before the first prompt, an approval, a refusal, Esc, the end of a
// compaction, the last error of a turn, the last words.
package copilot

import "beckon/event/agents"

// Agent is GitHub Copilot CLI.
var Agent = agents.Agent{
	Name:     "copilot",
	Aliases:  []string{"copilot-cli", "github-copilot"},
	Measured: "1.0.102",
	Package:  "@github/copilot",
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
	Tools: []agents.Called{
		{Name: "bash", Means: "Bash"},
		{Name: "write_bash", Means: "Bash", Inputs: []agents.Renamed{{Name: "input", Means: "command"}}, Types: true},
		{Name: "powershell", Means: "PowerShell"},
		{Name: "write_powershell", Means: "PowerShell", Inputs: []agents.Renamed{{Name: "input", Means: "command"}}, Types: true},
		{Name: "view", Means: "Read", Inputs: []agents.Renamed{{Name: "path", Means: "file_path"}}},
		{Name: "create", Means: "Write", Inputs: []agents.Renamed{{Name: "path", Means: "file_path"}, {Name: "file_text", Means: "content"}}},
		{Name: "edit", Means: "Edit", Inputs: []agents.Renamed{{Name: "path", Means: "file_path"}}},
		{Name: "str_replace_editor", Means: "Edit", Inputs: []agents.Renamed{{Name: "path", Means: "file_path"}}},
		{Name: "apply_patch", Means: "Edit", Patch: "input"},
		{Name: "grep", Means: "Grep", Inputs: []agents.Renamed{{Name: "paths", Means: "path"}}},
		{Name: "glob", Means: "Glob", Inputs: []agents.Renamed{{Name: "paths", Means: "path"}}},
		{Name: "web_fetch", Means: "WebFetch"},
		{Name: "web_search", Means: "WebSearch"},
		{Name: "ask_user", Means: "AskUserQuestion"},
		{Name: "task", Means: "Agent", Inputs: []agents.Renamed{{Name: "agent_type", Means: "subagent_type"}}},
		{Name: "skill", Means: "Skill"},
	},
	Joint: "-",
	Answers: []agents.Answer{
		{Event: "preToolUse", Means: "PreToolUse", Says: []agents.Say{
			{When: agents.Deny, Path: "permissionDecision", Value: `"deny"`, Reason: "permissionDecisionReason"},
			{When: agents.Ask, Path: "permissionDecision", Value: `"ask"`, Reason: "permissionDecisionReason"},
			{When: agents.Allow, Path: "permissionDecision", Value: `"allow"`, Reason: "permissionDecisionReason"},
			{When: agents.Rewrite, Path: "modifiedArgs", Value: agents.Text},
			{When: agents.Context, Path: "additionalContext", Value: agents.Text},
		}},
		{Event: "postToolUse", Means: "PostToolUse", Says: []agents.Say{
			{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
			{When: agents.Context, Path: "additionalContext", Value: agents.Text},
		}},
		{Event: "userPromptSubmitted", Means: "UserPromptSubmit", Says: []agents.Say{
			{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
			{When: agents.Context, Path: "additionalContext", Value: agents.Text},
		}},
		{Event: "sessionStart", Means: "SessionStart", Says: []agents.Say{{When: agents.Context, Path: "additionalContext", Value: agents.Text}}},
		{Event: "agentStop", Means: "Stop", Says: []agents.Say{{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"}}},
	},
	Cannot: []string{
		"its dialog cannot be answered from elsewhere: while a hook at permissionRequest runs it is not open",
		"what a policy has under PermissionRequest: permissionRequest comes also for calls that nobody is asked about, so it is not registered; an approval under PreToolUse opens no dialog",
		"a text for you: only what refuses or asks is shown",
		"a server's tool is called server-tool, which may be read in several ways: what refuses under one of them refuses, what allows must do so under all of them",
	},
}
