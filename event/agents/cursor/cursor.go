// Package cursor holds the names of Cursor's hooks.json, from its documentation only: no
// recording of it was made. In newer versions shell, MCP and file events are sent in addition
// to the general tool events, so they only show activity.
package cursor

import "beckon/event/agents"

// Agent is Cursor.
var Agent = agents.Agent{
	Name:    "cursor",
	Aliases: []string{"cursor-agent", "cursor-cli"},
	Home:    ".cursor",
	Install: agents.Install{Program: "cursor-agent", Title: "Cursor"},
	Events: []agents.Event{
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
	Fields: []agents.Member{
		{Path: "conversation_id", Is: agents.Session},
		{Path: "generation_id", Is: agents.PromptID},
		{Path: "workspace_roots", Is: agents.Roots},
		{Path: "status", Is: agents.Reason},
		{Path: "error_message", Is: agents.Details},
		{Path: "duration", Is: agents.Ms},
	},
}
