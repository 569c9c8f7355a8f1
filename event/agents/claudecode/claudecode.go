// Package claudecode holds the names that Claude Code uses, into which all other
// agents' are translated.
package claudecode

import "beckon/event/agents"

// Agent is Claude Code: the members of every payload (CONTRACT.md 6) and of each
// event (CONTRACT.md 11). Its events are the kinds themselves.
var Agent = agents.Agent{
	Name:     "claude-code",
	Aliases:  []string{"claude", "claude-code-cli"},
	Measured: "2.1.330",
	Fields: []agents.Member{
		{Path: "session_id", Is: agents.Session},
		{Path: "prompt_id", Is: agents.PromptID},
		{Path: "transcript_path", Is: agents.Transcript},
		{Path: "cwd", Is: agents.Cwd},
		{Path: "permission_mode", Is: agents.Mode},
		{Path: "effort.level", Is: agents.Effort},
		{Path: "hook_event_name", Is: agents.EventName},
		{Path: "agent_id", Is: agents.AgentID},
		{Path: "agent_type", Is: agents.AgentType},
		{Path: "model", Is: agents.Model},
		{Path: "model.id", Is: agents.Model},
		{Path: "session_title", Is: agents.Title},
		{Path: "tool_name", Is: agents.Tool},
		{Path: "tool_input", Is: agents.Input},
		{Path: "tool_use_id", Is: agents.UseID},
		{Path: "duration_ms", Is: agents.Ms},
		{Path: "prompt", Is: agents.Prompt},
		{Path: "last_assistant_message", Is: agents.Message},
		{Path: "stop_hook_active", Is: agents.StopHook},
		{Path: "background_tasks", Is: agents.Background},
		{Path: "session_crons", Is: agents.Crons},
		{Path: "message", Is: agents.NoticeText},
		{Path: "notification_type", Is: agents.Notification},
		{Path: "source", Is: agents.Source},
		{Path: "trigger", Is: agents.Source},
		{Path: "reason", Is: agents.Reason},
		{Path: "action", Is: agents.Reason},
		{Path: "error", Is: agents.Error},
		{Path: "error_details", Is: agents.Details},
		{Path: "is_interrupt", Is: agents.Interrupt},
		{Path: "task_id", Is: agents.TaskID},
		{Path: "task_subject", Is: agents.TaskSubject},
		{Path: "new_cwd", Is: agents.NewCwd},
		{Path: "to_model", Is: agents.NewModel},
		{Path: "mcp_server_name", Is: agents.Server},
		{Path: "elicitation_id", Is: agents.FormID},
		{Path: "requested_schema", Is: agents.Schema},
		{Path: "permission_suggestions", Is: agents.Suggestions},
	},
}
