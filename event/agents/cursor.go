package agents

// cursor holds the names of Cursor's hooks.json, from its documentation only: no
// recording of it was made. In newer versions shell, MCP and file events are sent in addition
// to the general tool events, so they only show activity.
var cursor = Agent{
	Name:    "cursor",
	Aliases: []string{"cursor-agent", "cursor-cli"},
	Home:    ".cursor",
	Install: Install{Program: "cursor-agent", Title: "Cursor"},
	Events: []Event{
		{Name: "beforeSubmitPrompt", Means: "UserPromptSubmit"},
		{Name: "beforeShellExecution", Means: "PostToolBatch"},
		{Name: "afterShellExecution", Means: "PostToolBatch"},
		{Name: "beforeMCPExecution", Means: "PostToolBatch"},
		{Name: "afterMCPExecution", Means: "PostToolBatch"},
		{Name: "beforeReadFile", Means: "PostToolBatch"},
		{Name: "afterFileEdit", Means: "PostToolBatch"},
		{Name: "afterAgentThought", Means: "PostToolBatch"},
		{Name: "afterAgentResponse", Means: "PostToolBatch"},
	},
	Fields: []Member{
		{Path: "conversation_id", Is: "session_id"},
		{Path: "generation_id", Is: "prompt_id"},
		{Path: "workspace_roots", Is: Roots},
		{Path: "status", Is: "reason"},
		{Path: "error_message", Is: "error_details"},
		{Path: "duration", Is: "duration_ms"},
	},
}
