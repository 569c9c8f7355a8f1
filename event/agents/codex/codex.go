// Package codex holds the names that OpenAI's Codex CLI 0.169.0 uses.
//
// Its hooks.json has Claude Code's names; the older `notify` program gets one event as
// {"type":"agent-turn-complete","thread-id":...}. A subagent's events have the parent's
// session_id and an agent_id of their own.
//
// No hook reports: anything before the first prompt, an approval (between PermissionRequest
// and PostToolUse), an API error, the end of the terminal (SessionEnd comes a minute after
// it). A background process that several terminals share may run its hooks.
package codex

import "beckon/event/agents"

// Agent is Codex.
var Agent = agents.Agent{
	Name:     "codex",
	Aliases:  []string{"codex-cli"},
	Measured: "0.169.0",
	Package:  "@openai/codex",
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
	Tools: []agents.Called{
		{Name: "apply_patch", Means: "Edit", Patch: "command"},
		{Name: "write_stdin", Means: "Bash", Inputs: []agents.Renamed{{Name: "chars", Means: "command"}}, Types: true},
		{Name: "view_image", Means: "Read", Inputs: []agents.Renamed{{Name: "path", Means: "file_path"}}},
		{Name: "update_plan", Means: "TodoWrite"},
		{Name: "request_user_input", Means: "AskUserQuestion"},
		{Name: "spawn_agent", Means: "Agent", Inputs: []agents.Renamed{{Name: "message", Means: "prompt"}}},
		{Name: "web_search", Means: "WebSearch"},
	},
	Answers: []agents.Answer{
		{Event: "PreToolUse", Means: "PreToolUse", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PreToolUse"`},
			{When: agents.Deny, Path: "hookSpecificOutput.permissionDecision", Value: `"deny"`, Reason: "hookSpecificOutput.permissionDecisionReason"},
			{When: agents.Rewrite, Path: "hookSpecificOutput.permissionDecision", Value: `"allow"`, Reason: "hookSpecificOutput.updatedInput"},
			{When: agents.Context, Path: "hookSpecificOutput.additionalContext", Value: agents.Text},
			{When: agents.System, Path: "systemMessage", Value: agents.Text},
		}},
		{Event: "PermissionRequest", Means: "PermissionRequest", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PermissionRequest"`},
			{When: agents.Deny, Path: "hookSpecificOutput.decision.behavior", Value: `"deny"`, Reason: "hookSpecificOutput.decision.message"},
			{When: agents.Allow, Path: "hookSpecificOutput.decision.behavior", Value: `"allow"`},
		}},
		{Event: "PostToolUse", Means: "PostToolUse", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PostToolUse"`},
			{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
			{When: agents.Context, Path: "hookSpecificOutput.additionalContext", Value: agents.Text},
		}},
		{Event: "UserPromptSubmit", Means: "UserPromptSubmit", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"UserPromptSubmit"`},
			{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
			{When: agents.Context, Path: "hookSpecificOutput.additionalContext", Value: agents.Text},
		}},
		{Event: "SessionStart", Means: "SessionStart", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"SessionStart"`},
			{When: agents.Context, Path: "hookSpecificOutput.additionalContext", Value: agents.Text},
		}},
		{Event: "Stop", Means: "Stop", Says: []agents.Say{{When: agents.Deny, Path: "decision", Value: `"block"`, Reason: "reason"}}},
	},
	Cannot: []string{
		"a call cannot be asked about, so it is refused: allow it once with the code that the reason gives",
		"a call cannot be allowed before it asks you: put an approval under PermissionRequest",
		"its dialog cannot be answered from elsewhere: the hook at PermissionRequest runs before it opens, and holds it back",
	},
}
