package agents

// gemini holds the names that Google's Gemini CLI 0.61.0 uses.
//
// A subagent's events have the parent's session_id and nothing that identifies the subagent:
// they count as the main conversation's. PreCompress with trigger auto comes in every turn,
// whether or not anything is compressed; a manual compression has no end event, so it is not a
// compaction here: the terminal's title shows that it works. An answer without text is an API
// error.
var gemini = Agent{
	Name:     "gemini",
	Aliases:  []string{"gemini-cli"},
	Measured: "0.61.0",
	Package:  "@google/gemini-cli",
	ShellVar: "GEMINI_CLI",
	Events: []Event{
		{Name: "BeforeAgent", Means: "UserPromptSubmit"},
		{Name: "AfterAgent", Where: "prompt_response", Is: "[no response text]", Means: "StopFailure"},
		{Name: "AfterAgent", Means: "Stop"},
		{Name: "BeforeTool", Means: "PreToolUse"},
		{Name: "AfterTool", Means: "PostToolUse"},
		{Name: "BeforeToolSelection", Means: "PostToolBatch"},
		{Name: "BeforeModel", Means: "PostToolBatch"},
		{Name: "AfterModel", Means: "PostToolBatch"},
		{Name: "PreCompress", Where: "trigger", Is: "auto", Means: "PostToolBatch"},
		{Name: "PreCompress"},
	},
	Fields: []Member{
		{Path: "prompt_response", Is: "last_assistant_message"},
		{Path: "llm_request.model", Is: "model"},
	},
	Dialog: "ToolPermission",
	Forms:  []string{"ask_user"},
	Home:   ".gemini",
	Install: Install{
		Program: "gemini",
		Title:   "Gemini CLI",
		File:    "settings.json",
		Shape:   Milliseconds,
		Events: []string{
			"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent", "SessionEnd",
		},
		Denies: true,
	},
	Tools: []Called{
		{Name: "run_shell_command", Means: "Bash", Inputs: []string{"dir_path", Workdir}},
		{Name: "read_file", Means: "Read"},
		{Name: "write_file", Means: "Write"},
		{Name: "replace", Means: "Edit"},
		{Name: "list_directory", Means: "LS", Inputs: []string{"dir_path", "path"}},
		{Name: "glob", Means: "Glob", Inputs: []string{"dir_path", "path"}},
		{Name: "grep_search", Means: "Grep", Inputs: []string{"dir_path", "path", "include_pattern", "glob"}},
		{Name: "google_web_search", Means: "WebSearch"},
		{Name: "write_todos", Means: "TodoWrite"},
		{Name: "ask_user", Means: "AskUserQuestion"},
		{Name: "invoke_agent", Means: "Agent", Inputs: []string{"agent_name", "subagent_type"}},
		{Name: "activate_skill", Means: "Skill", Inputs: []string{"name", "skill"}},
	},
	Answers: []Answer{
		{Means: "PreToolUse", Says: []Say{
			{When: Deny, Path: "decision", Value: `"deny"`, Reason: "reason"},
			{When: Ask, Path: "decision", Value: `"ask"`, Reason: "systemMessage"},
			{When: Rewrite, Path: out + "tool_input", Value: Text},
			{When: System, Path: "systemMessage", Value: Text},
			{When: Halt, Path: "continue", Value: "false", Reason: "stopReason"},
		}},
		{Means: "PostToolUse", Says: geminiSays},
		{Means: "UserPromptSubmit", Says: geminiSays},
		{Means: "Stop", Says: geminiSays[:1]},
		{Means: "SessionStart", Says: geminiSays[1:]},
	},
}

var geminiSays = []Say{
	{When: Deny, Path: "decision", Value: `"deny"`, Reason: "reason"},
	{When: Context, Path: out + "additionalContext", Value: Text},
}
