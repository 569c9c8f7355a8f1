package agents

// codex holds the names that OpenAI's Codex CLI 0.169.0 uses.
//
// Its hooks.json has Claude Code's names; the older `notify` program gets one event as
// {"type":"agent-turn-complete","thread-id":...}. A subagent's events have the parent's
// session_id and an agent_id of their own.
var codex = Agent{
	Name:     "codex",
	Aliases:  []string{"codex-cli"},
	Measured: "0.169.0",
	Package:  "@openai/codex",
	Events: []Event{
		{Name: "agent-turn-complete", Means: "Stop"},
		{Name: "Interrupt", Means: "Stop", Says: Interrupted},
		{Name: "PermissionRequest", Means: "PermissionRequest", Says: Described},
	},
	Fields: []Member{
		{Path: "type", Is: "hook_event_name"},
		{Path: "thread-id", Is: "session_id"},
		{Path: "turn-id", Is: "prompt_id"},
		{Path: "turn_id", Is: "prompt_id"},
		{Path: "last-assistant-message", Is: "last_assistant_message"},
	},
	Forms:   []string{"request_user_input"},
	HomeVar: "CODEX_HOME",
	Home:    ".codex",
	Daemon:  "app-server-daemon/daemon.pid",
	Install: Install{
		Program: "codex",
		Title:   "Codex",
		File:    "hooks.json",
		Shape:   Seconds,
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact",
			"SubagentStart", "SubagentStop", "Stop", "SessionEnd", "Interrupt",
		},
		Then: "codex runs no hook that you have not trusted: start it, and at \"Hooks need review\" choose to trust them",
	},
	Tools: []Called{
		{Name: "apply_patch", Means: "Edit", Patch: "command"},
		{Name: "write_stdin", Means: "Bash", Inputs: []string{"chars", "command"}, Types: true},
		{Name: "view_image", Means: "Read", Inputs: []string{"path", "file_path"}},
		{Name: "update_plan", Means: "TodoWrite"},
		{Name: "request_user_input", Means: "AskUserQuestion"},
		{Name: "spawn_agent", Means: "Agent", Inputs: []string{"message", "prompt"}},
	},
	Answers: []Answer{
		{Means: "PreToolUse", Says: []Say{
			{When: Deny, Path: out + "permissionDecision", Value: `"deny"`, Reason: out + "permissionDecisionReason"},
			{When: Rewrite, Path: out + "permissionDecision", Value: `"allow"`, Reason: out + "updatedInput"},
			{When: Context, Path: out + "additionalContext", Value: Text},
			{When: System, Path: "systemMessage", Value: Text},
		}},
		{Means: "PermissionRequest", Says: DecisionSays[:2]},
		{Means: "PostToolUse", Says: BlockSays},
		{Means: "UserPromptSubmit", Says: BlockSays},
		{Means: "SessionStart", Says: BlockSays[1:]},
		{Means: "Stop", Says: BlockSays[:1]},
	},
}
