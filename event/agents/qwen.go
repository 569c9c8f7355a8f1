package agents

// qwen holds the names that Qwen Code 0.24.4 uses: Claude Code's names and payloads,
// in another order.
//
// PreToolUse comes after the user's approval, and so reports it. After every batch of tools
// the client sends a UserPromptSubmit with an empty prompt. A subagent's events have an
// agent_id.
var qwen = Agent{
	Name:     "qwen",
	Aliases:  []string{"qwen-code"},
	Measured: "0.24.4",
	Package:  "@qwen-code/qwen-code",
	ShellVar: "QWEN_CODE",
	Events: []Event{
		{Name: "UserPromptSubmit", Where: "prompt", Is: "", Means: "UserPromptSubmit", Says: Client},
		{Name: "PreToolUse", Means: "PreToolUse", Says: Approved},
	},
	Forms: []string{"ask_user_question"},
	Home:  ".qwen",
	Install: Install{
		Program: "qwen",
		Title:   "Qwen Code",
		File:    "settings.json",
		Shape:   Milliseconds,
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PermissionRequest", "PreToolUse", "PostToolUse", "PostToolUseFailure",
			"PostToolBatch", "Notification", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "StopFailure",
			"SessionEnd",
		},
	},
	Tools: []Called{
		{Name: "run_shell_command", Means: "Bash", Inputs: []string{"directory", Workdir}},
		{Name: "monitor", Means: "Monitor", Inputs: []string{"directory", Workdir}},
		{Name: "read_file", Means: "Read"},
		{Name: "display_image", Means: "Read"},
		{Name: "artifact", Means: "Read"},
		{Name: "write_file", Means: "Write"},
		{Name: "list_directory", Means: "LS"},
		{Name: "grep_search", Means: "Grep"},
	},
	Answers: []Answer{
		{Means: "PreToolUse", Says: []Say{
			{When: Deny, Path: out + "permissionDecision", Value: `"deny"`, Reason: out + "permissionDecisionReason"},
			{When: Ask, Path: out + "permissionDecision", Value: `"ask"`, Reason: out + "permissionDecisionReason"},
			{When: Halt, Path: "continue", Value: "false", Reason: "stopReason"},
		}},
		{Means: "PermissionRequest", Says: DecisionSays},
		{Means: "PostToolUse", Says: BlockSays[1:]},
		{Means: "UserPromptSubmit", Says: BlockSays},
		{Means: "SessionStart", Says: BlockSays[1:]},
		{Means: "Stop", Says: BlockSays[:1]},
	},
}
