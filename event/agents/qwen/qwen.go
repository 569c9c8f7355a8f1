// Package qwen holds the names that Qwen Code 0.24.4 uses: Claude Code's names and payloads,
// in another order.
//
// PreToolUse comes after the user's approval, and so reports it. After every batch of tools
// the client sends a UserPromptSubmit with an empty prompt. A subagent's events have an
// agent_id.
//
// No hook reports a kill. chats/ID.runtime.json has the process.
package qwen

import "beckon/event/agents"

// Agent is Qwen Code.
var Agent = agents.Agent{
	Name:     "qwen",
	Aliases:  []string{"qwen-code"},
	Measured: "0.24.4",
	Package:  "@qwen-code/qwen-code",
	ShellVar: "QWEN_CODE",
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
	Tools: []agents.Called{
		{Name: "run_shell_command", Means: "Bash", Inputs: []agents.Renamed{{Name: "directory", Means: agents.Workdir}}},
		{Name: "monitor", Means: "Monitor", Inputs: []agents.Renamed{{Name: "directory", Means: agents.Workdir}}},
		{Name: "read_file", Means: "Read"},
		{Name: "display_image", Means: "Read"},
		{Name: "artifact", Means: "Read"},
		{Name: "write_file", Means: "Write"},
		{Name: "edit", Means: "Edit"},
		{Name: "notebook_edit", Means: "NotebookEdit"},
		{Name: "list_directory", Means: "LS"},
		{Name: "glob", Means: "Glob"},
		{Name: "grep_search", Means: "Grep"},
		{Name: "web_fetch", Means: "WebFetch"},
		{Name: "web_search", Means: "WebSearch"},
		{Name: "todo_write", Means: "TodoWrite"},
		{Name: "ask_user_question", Means: "AskUserQuestion"},
		{Name: "agent", Means: "Agent"},
		{Name: "skill", Means: "Skill"},
		{Name: "tool_search", Means: "ToolSearch"},
		{Name: "enter_plan_mode", Means: "EnterPlanMode"},
		{Name: "exit_plan_mode", Means: "ExitPlanMode"},
	},
	Answers: []agents.Answer{
		{Event: "PreToolUse", Means: "PreToolUse", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PreToolUse"`},
			{When: agents.Deny, Path: "hookSpecificOutput.permissionDecision", Value: `"deny"`, Reason: "hookSpecificOutput.permissionDecisionReason"},
			{When: agents.Ask, Path: "hookSpecificOutput.permissionDecision", Value: `"ask"`, Reason: "hookSpecificOutput.permissionDecisionReason"},
			{When: agents.Halt, Path: "continue", Value: "false", Reason: "stopReason"},
		}},
		{Event: "PermissionRequest", Means: "PermissionRequest", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PermissionRequest"`},
			{When: agents.Deny, Path: "hookSpecificOutput.decision.behavior", Value: `"deny"`, Reason: "hookSpecificOutput.decision.message"},
			{When: agents.Allow, Path: "hookSpecificOutput.decision.behavior", Value: `"allow"`},
			{When: agents.Rewrite, Path: "hookSpecificOutput.decision.updatedInput", Value: agents.Text},
		}},
		{Event: "PostToolUse", Means: "PostToolUse", Says: []agents.Say{
			{When: agents.Always, Path: "hookSpecificOutput.hookEventName", Value: `"PostToolUse"`},
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
		"PreToolUse comes after its dialog: what a rule there refuses, you are asked about first, and what it allows is asked about all the same; put an approval under PermissionRequest",
		"its dialog cannot be answered from elsewhere: it opens only when the hook at PermissionRequest has ended",
		"a hook cannot rewrite a call that needs no permission, and what a rule warns of does not reach the model before a call",
	},
}
