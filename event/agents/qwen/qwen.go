// Package qwen holds the words of Qwen Code, as 0.24.4 speaks them: Claude Code's
// names and payloads, in another order.
//
// PreToolUse comes after the user's approval, so it tells of it. After every
// batch of tools comes a UserPromptSubmit with an empty prompt, which is the
// client's. A subagent's events have an agent_id.
//
// No hook tells of: a kill. chats/ID.runtime.json has the process.
package qwen

import "beckon/event/agents"

// Agent is Qwen Code.
var Agent = agents.Agent{
	Name:    "qwen",
	Aliases: []string{"qwen-code"},
	Events: []agents.Event{
		{Name: "UserPromptSubmit", Where: "prompt", Is: "", Means: "UserPromptSubmit", Says: agents.Client},
		{Name: "PreToolUse", Means: "PreToolUse", Says: agents.Approved},
	},
	Forms: []string{"ask_user_question"},
	Home:  ".qwen",
	Install: agents.Install{
		Program: "qwen",
		Title:   "Qwen Code",
		File:    "settings.json",
		Shape:   agents.Milliseconds,
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PermissionRequest", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
			"Notification", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "StopFailure", "SessionEnd",
		},
	},
	Silent: []string{
		"a kill: the process tells",
	},
}
