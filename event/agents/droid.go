package agents

// droid holds the names that Factory's Droid 0.215.0 uses: Claude Code's names and payloads,
// without PermissionRequest, PostToolUseFailure, StopFailure and ids of calls.
//
// A dialog opens with a notification. Refusal, Esc and an API error are all reported as Stop:
// the session's file distinguishes them, and has the last words.
var droid = Agent{
	Name:     "droid",
	Aliases:  []string{"factory", "factory-droid"},
	Measured: "0.215.0",
	Package:  "@factory/cli",
	Dialog:   "permission_prompt",
	Forms:    []string{"AskUser"},
	Home:     ".factory",
	Install: Install{
		Program: "droid",
		Title:   "Droid",
		File:    "settings.json",
		Shape:   Seconds,
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "SubagentStop", "PreCompact",
			"Stop", "SessionEnd",
		},
	},
	Tools: []Called{
		{Name: "Execute", Means: "Bash"},
		{Name: "Create", Means: "Write"},
		{Name: "ApplyPatch", Means: "Edit", Patch: "input"},
		{Name: "FetchUrl", Means: "WebFetch"},
		{Name: "AskUser", Means: "AskUserQuestion"},
		{Name: "ExitSpecMode", Means: "ExitPlanMode"},
	},
	Joint: "___",
	Answers: []Answer{
		{Means: "PreToolUse", Says: []Say{
			{When: Deny, Path: out + "permissionDecision", Value: `"deny"`, Reason: out + "permissionDecisionReason"},
			{When: Rewrite, Path: out + "updatedInput", Value: Text},
		}},
	},
}
