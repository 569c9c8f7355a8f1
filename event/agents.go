package event

import "strings"

// ClaudeCode is the agent whose names this package speaks; every other
// agent's table maps onto them.
const ClaudeCode = "claude-code"

// agent is one coding agent: a new one is one more entry of agents.
// What its rows do not name is read as Claude Code's.
type agent struct {
	name    string
	aliases []string
	events  []eventRow
	fields  []fieldRow
	// notices translates notification types into Claude Code's.
	notices []nameRow
}

// eventRow says what the agent's event of that name means.
type eventRow struct {
	name   string
	kind   Kind
	client bool // a prompt that the client, not the user, started
}

// fieldRow says which member of the payload is which field.
type fieldRow struct {
	path  string // keys joined by dots
	field field
}

type nameRow struct{ name, means string }

// agents is the table of agents. A literal without calls: it lies in the
// binary's data and costs nothing at start.
var agents = [...]agent{
	{name: ClaudeCode, aliases: []string{"claude", "claude-code-cli"}},

	// Codex's hooks.json speaks Claude Code's names; its older `notify` program
	// gets one event as {"type":"agent-turn-complete","thread-id":...}.
	{name: "codex", aliases: []string{"codex-cli"},
		events: []eventRow{
			{name: "agent-turn-complete", kind: Stop},
			{name: "Interrupt", kind: Unknown},
		},
		fields: []fieldRow{
			{"type", fName},
			{"thread-id", fSession},
			{"turn-id", fPromptID},
			{"turn_id", fPromptID},
			{"last-assistant-message", fMessage},
		}},

	// Gemini CLI, docs/hooks/reference.md of its repository. It has no event
	// for the end of a compression: the next model call shows it.
	{name: "gemini", aliases: []string{"gemini-cli"},
		events: []eventRow{
			{name: "BeforeAgent", kind: UserPromptSubmit},
			{name: "AfterAgent", kind: Stop},
			{name: "BeforeTool", kind: PreToolUse},
			{name: "AfterTool", kind: PostToolUse},
			{name: "BeforeToolSelection", kind: PostToolBatch},
			{name: "BeforeModel", kind: PostToolBatch},
			{name: "AfterModel", kind: PostToolBatch},
			{name: "PreCompress", kind: PreCompact},
		},
		fields: []fieldRow{
			{"prompt_response", fMessage},
			{"llm_request.model", fModel},
		},
		notices: []nameRow{{"ToolPermission", "permission_prompt"}}},

	// OpenCode's plugin events, as {"type":...,"properties":{...}} or with the
	// name outside (ParseEnvelope). session.status carries its word in
	// properties.status.type; a plugin sends it as session.status.WORD.
	{name: "opencode", aliases: []string{"open-code"},
		events: []eventRow{
			{name: "session.created", kind: SessionStart},
			{name: "session.deleted", kind: SessionEnd},
			{name: "server.instance.disposed", kind: SessionEnd},
			{name: "chat.message", kind: UserPromptSubmit},
			{name: "session.status.busy", kind: UserPromptSubmit, client: true},
			{name: "session.status.retry", kind: PostToolBatch},
			{name: "session.status.idle", kind: Stop},
			{name: "session.idle", kind: Stop},
			{name: "session.error", kind: StopFailure},
			{name: "session.compacting", kind: PreCompact},
			{name: "experimental.session.compacting", kind: PreCompact},
			{name: "session.compacted", kind: PostCompact},
			{name: "tool.execute.before", kind: PreToolUse},
			{name: "tool.execute.after", kind: PostToolUse},
			{name: "permission.asked", kind: PermissionRequest},
			{name: "permission.updated", kind: PermissionRequest},
			{name: "permission.replied", kind: PostToolBatch},
			{name: "question.asked", kind: Elicitation},
			{name: "question.replied", kind: ElicitationResult},
			{name: "question.rejected", kind: ElicitationResult},
		},
		fields: []fieldRow{
			{"type", fName},
			{"properties.sessionID", fSession},
			{"properties.info.sessionID", fSession},
			{"properties.info.id", fNewSession},
			{"properties.info.directory", fCwd},
			{"properties.tool", fTool},
			{"properties.permission", fTool},
			{"properties.type", fTool},
			{"properties.callID", fUseID},
			{"properties.tool.callID", fUseID},
			{"properties.args", fInput},
			{"properties.metadata", fInput},
			{"properties.requestID", fFormID},
			{"properties.id", fFormID},
			{"properties.error.name", fError},
			{"properties.error.message", fDetails},
			{"properties.error.data.message", fDetails},
		}},

	// Cursor's hooks.json. Shell, MCP and file events stand beside the general
	// tool events of newer versions, so they only show that it goes on.
	{name: "cursor", aliases: []string{"cursor-agent", "cursor-cli"},
		events: []eventRow{
			{name: "beforeSubmitPrompt", kind: UserPromptSubmit},
			{name: "beforeShellExecution", kind: PostToolBatch},
			{name: "afterShellExecution", kind: PostToolBatch},
			{name: "beforeMCPExecution", kind: PostToolBatch},
			{name: "afterMCPExecution", kind: PostToolBatch},
			{name: "beforeReadFile", kind: PostToolBatch},
			{name: "afterFileEdit", kind: PostToolBatch},
			{name: "afterAgentThought", kind: PostToolBatch},
			{name: "afterAgentResponse", kind: PostToolBatch},
		},
		fields: []fieldRow{
			{"conversation_id", fSession},
			{"generation_id", fPromptID},
			{"workspace_roots", fRoots},
			{"status", fReason},
			{"error_message", fDetails},
			{"duration", fMs},
		}},

	// GitHub Copilot CLI. Its permissionRequest fires before any rule is
	// looked at, also for calls that nobody is asked about: only the
	// notification proves a prompt.
	{name: "copilot", aliases: []string{"copilot-cli", "github-copilot"},
		events: []eventRow{
			{name: "userPromptSubmitted", kind: UserPromptSubmit},
			{name: "agentStop", kind: Stop},
			{name: "permissionRequest", kind: Unknown},
			{name: "PermissionRequest", kind: Unknown},
		},
		fields: []fieldRow{
			{"sessionId", fSession},
			{"transcriptPath", fTranscript},
			{"toolName", fTool},
			{"toolArgs", fInput},
			{"agentId", fAgentID},
			{"agentType", fAgentType},
			{"agentName", fAgentType},
			{"agent_name", fAgentType},
			{"response", fMessage},
			{"stopReason", fReason},
			{"stop_reason", fReason},
		}},
}

// claudeFields names the members of a Claude Code payload: CONTRACT.md section
// 1.6 (common) and section 1.11 (per event).
var claudeFields = [...]fieldRow{
	{"session_id", fSession},
	{"prompt_id", fPromptID},
	{"transcript_path", fTranscript},
	{"cwd", fCwd},
	{"permission_mode", fMode},
	{"effort.level", fEffort},
	{"hook_event_name", fName},
	{"agent_id", fAgentID},
	{"agent_type", fAgentType},
	{"model", fModel},
	{"model.id", fModel},
	{"session_title", fTitle},
	{"tool_name", fTool},
	{"tool_input", fInput},
	{"tool_use_id", fUseID},
	{"duration_ms", fMs},
	{"prompt", fPrompt},
	{"last_assistant_message", fMessage},
	{"stop_hook_active", fStopHook},
	{"background_tasks", fBackground},
	{"session_crons", fCrons},
	{"message", fNotice},
	{"notification_type", fNotification},
	{"source", fSource},
	{"trigger", fSource},
	{"reason", fReason},
	{"action", fReason},
	{"error", fError},
	{"error_details", fDetails},
	{"is_interrupt", fInterrupt},
	{"task_id", fTaskID},
	{"task_subject", fTaskSubject},
	{"new_cwd", fNewCwd},
	{"to_model", fNewModel},
	{"mcp_server_name", fServer},
	{"elicitation_id", fFormID},
	{"requested_schema", fSchema},
	{"permission_suggestions", fSuggestions},
}

// agentByName returns the table of the agent called name, letter case and the
// separators "-" and "_" ignored, else Claude Code's.
func agentByName(name string) *agent {
	for i := range agents {
		if sameName(agents[i].name, name) {
			return &agents[i]
		}
		for _, alias := range agents[i].aliases {
			if sameName(alias, name) {
				return &agents[i]
			}
		}
	}
	return &agents[0]
}

// Agent returns the canonical form of an agent's name: that of its table, the
// name itself if no table knows it, ClaudeCode if it is empty.
func Agent(name string) string {
	if name == "" {
		return ClaudeCode
	}
	if a := agentByName(name); a != &agents[0] || sameName(name, a.name) || sameName(name, a.aliases[0]) {
		return a.name
	}
	return Cut(strings.ToValidUTF8(name, "\ufffd"), MaxID)
}

// kind returns what the agent's event of that name means.
func (a *agent) kind(name string) (k Kind, client bool) {
	for i := range a.events {
		if a.events[i].name == name {
			return a.events[i].kind, a.events[i].client
		}
	}
	return ByName(name), false
}

func (a *agent) notice(name string) string {
	for i := range a.notices {
		if a.notices[i].name == name {
			return a.notices[i].means
		}
	}
	return name
}

// match finds the row for the member key inside the object at prefix ("" or
// "a.b."). It returns the field, or fNone, and the prefix under
// which rows name members of that member, "" if none does.
func (a *agent) match(prefix, key string) (field, string) {
	f, inside := matchRows(a.fields, prefix, key)
	g, deeper := matchRows(claudeFields[:], prefix, key)
	if f == fNone {
		f = g
	}
	if inside == "" {
		inside = deeper
	}
	return f, inside
}

func matchRows(rows []fieldRow, prefix, key string) (found field, inside string) {
	for i := range rows {
		rest, ok := strings.CutPrefix(rows[i].path, prefix)
		if !ok || !strings.HasPrefix(rest, key) {
			continue
		}
		switch {
		case len(rest) == len(key):
			found = rows[i].field
		case rest[len(key)] == '.':
			inside = rows[i].path[:len(prefix)+len(key)+1]
		}
	}
	return found, inside
}
