package agents

// copilot holds the names that GitHub Copilot CLI 1.0.102 uses.
//
// permissionRequest comes before any rule is checked, also for calls that need no approval:
// only the notification proves a dialog. A subagent's events have a sessionId of their own and
// the main session in parentAgentId; its permissionRequest and notification have the main
// session's id. errorOccurred comes at every try of a request and does not say which one is
// the last; a manual preCompact has no end. The session's events.jsonl has both.
var copilot = Agent{
	Name:     "copilot",
	Aliases:  []string{"copilot-cli", "github-copilot"},
	Measured: "1.0.102",
	Package:  "@github/copilot",
	Events: []Event{
		{Name: "userPromptSubmitted", Means: "UserPromptSubmit"},
		{Name: "agentStop", Means: "Stop"},
		{Name: "permissionRequest"},
		{Name: "PermissionRequest"},
		{Name: "preCompact", Where: "trigger", Is: "manual"},
	},
	Fields: []Member{
		{Path: "sessionId", Is: "session_id"},
		{Path: "parentAgentId", Is: Parent},
		{Path: "transcriptPath", Is: "transcript_path"},
		{Path: "toolName", Is: "tool_name"},
		{Path: "toolArgs", Is: "tool_input"},
		{Path: "agentId", Is: "agent_id"},
		{Path: "agentType", Is: "agent_type"},
		{Path: "agentName", Is: "agent_type"},
		{Path: "agent_name", Is: "agent_type"},
		{Path: "response", Is: "last_assistant_message"},
		{Path: "stopReason", Is: "reason"},
		{Path: "stop_reason", Is: "reason"},
	},
	Dialog:  "permission_prompt",
	Forms:   []string{"ask_user"},
	HomeVar: "COPILOT_HOME",
	Home:    ".copilot",
	Install: Install{
		Program: "copilot",
		Title:   "GitHub Copilot CLI",
		File:    "hooks/beckon.json",
		Shape:   Commands,
		Events: []string{
			"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "notification", "subagentStart", "subagentStop",
			"preCompact", "agentStop", "sessionEnd",
		},
	},
	Tools: []Called{
		{Name: "write_bash", Means: "Bash", Inputs: []string{"input", "command"}, Types: true},
		{Name: "write_powershell", Means: "PowerShell", Inputs: []string{"input", "command"}, Types: true},
		{Name: "view", Means: "Read", Inputs: []string{"path", "file_path"}},
		{Name: "create", Means: "Write", Inputs: []string{"path", "file_path", "file_text", "content"}},
		{Name: "edit", Means: "Edit", Inputs: []string{"path", "file_path"}},
		{Name: "str_replace_editor", Means: "Edit", Inputs: []string{"path", "file_path"}},
		{Name: "apply_patch", Means: "Edit", Patch: "input"},
		{Name: "grep", Means: "Grep", Inputs: []string{"paths", "path"}},
		{Name: "glob", Means: "Glob", Inputs: []string{"paths", "path"}},
		{Name: "ask_user", Means: "AskUserQuestion"},
		{Name: "task", Means: "Agent", Inputs: []string{"agent_type", "subagent_type"}},
	},
	Joint: "-",
	Answers: []Answer{
		{Means: "PreToolUse", Says: []Say{
			{When: Deny, Path: "permissionDecision", Value: `"deny"`, Reason: "permissionDecisionReason"},
			{When: Ask, Path: "permissionDecision", Value: `"ask"`, Reason: "permissionDecisionReason"},
			{When: Allow, Path: "permissionDecision", Value: `"allow"`, Reason: "permissionDecisionReason"},
			{When: Rewrite, Path: "modifiedArgs", Value: Text},
			{When: Context, Path: "additionalContext", Value: Text},
		}},
		{Means: "PostToolUse", Says: copilotSays},
		{Means: "UserPromptSubmit", Says: copilotSays},
		{Means: "SessionStart", Says: copilotSays[1:]},
		{Means: "Stop", Says: BlockSays[:1]},
	},
}

var copilotSays = []Say{
	{When: Deny, Path: "decision", Value: `"block"`, Reason: "reason"},
	{When: Context, Path: "additionalContext", Value: Text},
}
