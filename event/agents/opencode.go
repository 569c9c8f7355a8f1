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
	Aliases:  []string{"open-code"},
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
		{Path: "type", Is: EventName},
		{Path: "properties.sessionID", Is: Session},
		{Path: "properties.info.sessionID", Is: Session},
		{Path: "properties.info.id", Is: NewSession},
		{Path: "properties.info.parentID", Is: Parent},
		{Path: "properties.parentID", Is: Parent},
		{Path: "properties.info.directory", Is: Cwd},
		{Path: "properties.directory", Is: Cwd},
		{Path: "properties.info.agent", Is: AgentType},
		{Path: "properties.tool", Is: Tool},
		{Path: "properties.permission", Is: Tool},
		{Path: "properties.type", Is: Tool},
		{Path: "properties.callID", Is: UseID},
		{Path: "properties.tool.callID", Is: UseID},
		{Path: "properties.args", Is: Input},
		{Path: "properties.metadata", Is: Input},
		{Path: "properties.requestID", Is: FormID},
		{Path: "properties.id", Is: FormID},
		{Path: "properties.questions", Is: Questions},
		{Path: "properties.error.name", Is: Error},
		{Path: "properties.error.message", Is: Details},
		{Path: "properties.error.data.message", Is: Details},
		{Path: "properties.prompt", Is: Prompt},
		{Path: "properties.text", Is: Message},
	},
	Home:    ".config/opencode",
	Install: Install{Program: "opencode", Title: "OpenCode", File: "plugins/beckon.js", Shape: Plugin},
	Tools: []Called{
		{Name: "bash", Means: "Bash", Inputs: []Renamed{{Name: "workdir", Means: Workdir}}},
		{Name: "read", Means: "Read", Inputs: path},
		{Name: "write", Means: "Write", Inputs: path},
		{Name: "edit", Means: "Edit", Inputs: path, Files: "files"},
		{Name: "multiedit", Means: "MultiEdit", Inputs: path},
		{Name: "apply_patch", Means: "Edit", Patch: "patchText"},
		{Name: "patch", Means: "Edit", Patch: "patchText"},
		{Name: "list", Means: "LS"},
		{Name: "glob", Means: "Glob"},
		{Name: "grep", Means: "Grep", Inputs: []Renamed{{Name: "include", Means: "glob"}}},
		{Name: "webfetch", Means: "WebFetch"},
		{Name: "websearch", Means: "WebSearch"},
		{Name: "todowrite", Means: "TodoWrite"},
		{Name: "question", Means: "AskUserQuestion"},
		{Name: "task", Means: "Agent"},
		{Name: "skill", Means: "Skill", Inputs: []Renamed{{Name: "name", Means: "skill"}}},
		{Name: "external_directory", Means: "external_directory"},
		{Name: "doom_loop", Means: "doom_loop"},
		{Name: "plan_enter", Means: "EnterPlanMode"},
		{Name: "plan_exit", Means: "ExitPlanMode"},
	},
	Joint: "_",
	Answers: []Answer{ // in the format of beckon's own plugin
		{Event: "tool.execute.before", Means: "PreToolUse", Says: pluginBefore},
		{Event: "tool.execute.after", Means: "PostToolUse", Says: pluginAfter},
		{Event: "permission.asked", Means: "PermissionRequest", Waits: true, Says: []Say{
			{When: Deny, Path: "reply", Value: `"reject"`, Reason: "message"},
			{When: Allow, Path: "reply", Value: `"once"`},
		}},
	},
}

// path is the name of the file in the tools' inputs; their permissions have it in small
// letters.
var path = []Renamed{{Name: "filepath", Means: "file_path"}, {Name: "filePath", Means: "file_path"}}
