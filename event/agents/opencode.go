package agents

// openCode holds the names that OpenCode 1.18.33 uses in its plugin's events:
// {"type":...,"properties":{...}}, or with the name outside (event.ParseEnvelope).
// session.status has its status in properties.status.type; beckon's plugin sends it as
// session.status.WORD.
//
// A subagent has a session of its own: session.created names the parent, and beckon's plugin
// adds it to every later event, as properties.parentID. To an answer the plugin adds the id of
// its call (properties.callID), and to the end of a turn the last words (properties.text).
// What ends a turn may come before or after session.idle.
var openCode = Agent{
	Name:     "opencode",
	Measured: "1.18.33",
	Package:  "opencode-ai",
	ShellVar: "OPENCODE",
	Events: []Event{
		{Name: "session.created", Means: "SessionStart"},
		{Name: "session.deleted", Means: "SessionEnd"},
		{Name: "server.instance.disposed", Means: "SessionEnd"},
		{Name: "chat.message", Means: "UserPromptSubmit"},
		{Name: "session.status.busy", Means: "UserPromptSubmit", Says: Client},
		{Name: "session.status.retry", Means: "PostToolBatch"},
		{Name: "session.status.idle", Means: "Stop", Says: Idle},
		{Name: "session.idle", Means: "Stop", Says: Idle},
		{Name: "session.error", Where: "properties.error.name", Is: "MessageAbortedError", Means: "Stop", Says: Interrupted},
		{Name: "session.error", Means: "StopFailure"},
		{Name: "session.compacting", Means: "PreCompact"},
		{Name: "experimental.session.compacting", Means: "PreCompact"},
		{Name: "session.compacted", Means: "PostCompact"},
		{Name: "tool.execute.before", Means: "PreToolUse"},
		{Name: "tool.execute.after", Means: "PostToolUse"},
		{Name: "permission.asked", Means: "PermissionRequest"},
		{Name: "permission.updated", Means: "PermissionRequest"},
		{Name: "permission.replied", Where: "properties.reply", Is: "reject", Means: "PermissionDenied"},
		{Name: "permission.replied", Means: "PostToolBatch"},
		{Name: "question.asked", Means: "Elicitation"},
		{Name: "question.replied", Means: "ElicitationResult"},
		{Name: "question.rejected", Means: "ElicitationResult"},
	},
	Fields: []Member{
		{Path: "type", Is: "hook_event_name"},
		{Path: "properties.sessionID", Is: "session_id"},
		{Path: "properties.info.sessionID", Is: "session_id"},
		{Path: "properties.info.id", Is: NewSession},
		{Path: "properties.info.parentID", Is: Parent},
		{Path: "properties.parentID", Is: Parent},
		{Path: "properties.info.directory", Is: "cwd"},
		{Path: "properties.directory", Is: "cwd"},
		{Path: "properties.info.agent", Is: "agent_type"},
		{Path: "properties.tool", Is: "tool_name"},
		{Path: "properties.permission", Is: "tool_name"},
		{Path: "properties.type", Is: "tool_name"},
		{Path: "properties.callID", Is: "tool_use_id"},
		{Path: "properties.tool.callID", Is: "tool_use_id"},
		{Path: "properties.args", Is: "tool_input"},
		{Path: "properties.metadata", Is: "tool_input"},
		{Path: "properties.requestID", Is: "elicitation_id"},
		{Path: "properties.id", Is: "elicitation_id"},
		{Path: "properties.questions", Is: Questions},
		{Path: "properties.error.name", Is: "error"},
		{Path: "properties.error.message", Is: "error_details"},
		{Path: "properties.error.data.message", Is: "error_details"},
		{Path: "properties.prompt", Is: "prompt"},
		{Path: "properties.text", Is: "last_assistant_message"},
	},
	Home:    ".config/opencode",
	Install: Install{Program: "opencode", Title: "OpenCode", File: "plugins/beckon.js", Shape: Plugin},
	Tools: []Called{
		{Name: "bash", Means: "Bash", Inputs: []string{"workdir", Workdir}},
		{Name: "read", Means: "Read", Inputs: path},
		{Name: "write", Means: "Write", Inputs: path},
		{Name: "edit", Means: "Edit", Inputs: path, Files: "files"},
		{Name: "multiedit", Means: "MultiEdit", Inputs: path},
		{Name: "apply_patch", Means: "Edit", Patch: "patchText"},
		{Name: "patch", Means: "Edit", Patch: "patchText"},
		{Name: "list", Means: "LS"},
		{Name: "grep", Means: "Grep", Inputs: []string{"include", "glob"}},
		{Name: "question", Means: "AskUserQuestion"},
		{Name: "task", Means: "Agent"},
		{Name: "skill", Means: "Skill", Inputs: []string{"name", "skill"}},
		{Name: "external_directory", Means: "external_directory"},
		{Name: "doom_loop", Means: "doom_loop"},
		{Name: "plan_enter", Means: "EnterPlanMode"},
		{Name: "plan_exit", Means: "ExitPlanMode"},
	},
	Joint: "_",
	Answers: []Answer{ // in the format of beckon's own plugin
		{Means: "PreToolUse", Says: pluginBefore},
		{Means: "PostToolUse", Says: pluginAfter},
		{Means: "PermissionRequest", Waits: true, Says: []Say{
			{When: Deny, Path: "reply", Value: `"reject"`, Reason: "message"},
			{When: Allow, Path: "reply", Value: `"once"`},
		}},
	},
}

// path is the name of the file in the tools' inputs; their permissions have it in small
// letters.
var path = []string{"filepath", "file_path", "filePath", "file_path"}
