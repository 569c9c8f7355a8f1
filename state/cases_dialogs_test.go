package state

// casesOfDialogs covers the client's own words for the open dialog, and dialogs without an
// event. "look waiting@T words" is a registry reading with those words as waitingFor.
var casesOfDialogs = []situation{
	{"a menu that the user opened changes nothing: idle", `
		100   SessionStart
		5000  look waiting@4000 dialog open
		      is idle started source=hook`},
	{"a dialog of a session that is being resumed: a summary is offered", `
		100   SessionStart source=resume
		1100  look waiting@800 dialog open
		      is question registry since=800 source=registry asks=asks_at_start
		5000  look idle@4000
		      is idle started
		9000  look waiting@8500 dialog open
		      is idle started`},
	{"a menu over a turn that is done", `
		100   UserPromptSubmit
		900   Stop
		5000  look waiting@4000 dialog open
		      is idle done unseen=true`},
	{"a menu over a turn that failed", `
		100   UserPromptSubmit
		900   StopFailure
		5000  look waiting@4000 dialog open
		      is failed`},
	{"a menu over a turn at work, as 2.1.197 tells it", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		5000  look waiting@4000 dialog open
		      is working
		9000  PostToolUse Bash id=1
		9100  Stop
		9500  is idle done`},
	{"a menu that comes up when the turn below it ends", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		1000  look busy@300
		9000  PostToolUse Bash id=1
		9100  Stop
		9500  look waiting@9120 dialog open
		      is idle done`},
	{"a menu over a turn that Esc ended, which the transcript tells", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		4500  look waiting@4000 dialog open
		      is working
		      marker 3000
		      is idle interrupted`},
	{"a permission stands under a menu", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		5000  look waiting@4000 dialog open
		      is permission Bash`},
	{"a menu brings no answered dialog back", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		3300  look busy@3000
		      is working
		5000  look waiting@4000 dialog open
		      is working`},
	{"a dialog of the client's own that it notified of is a question", `
		100   SessionStart
		5000  look waiting@4000 dialog open
		      is idle
		10000 Notification notice=agent_needs_input says=choose
		      is question registry source=registry asks=choose
		20000 look idle@19000
		      is idle started
		30000 look waiting@29000 dialog open
		      is idle`},
	{"a dialog in the middle of a turn, with the client's default kind of notification", `
		100   UserPromptSubmit
		5000  look waiting@4000 dialog open
		      is working
		10000 Notification notice=permission_prompt says=paused
		      is question registry asks=paused
		20000 look busy@19000
		      is working`},
	{"a dialog of the client's own in the middle of a turn, as 2.1.330 and later tell it", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		1000  look waiting@700 dialog open version=2.1.330
		      is question registry since=700 source=registry
		5000  look busy@4000 version=2.1.330
		      is working`},
	{"a menu after a turn, as 2.1.330 and later tell it", `
		100   UserPromptSubmit
		900   Stop
		1500  look waiting@1200 dialog open version=2.1.400
		      is idle done`},
	{"a notification about a background session is not a question of this one", `
		100   UserPromptSubmit
		900   Stop
		1500  look idle@950
		10000 Notification notice=agent_needs_input says=other
		      is idle done`},
	{"a request for the network is a permission, with the client's own words", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		2000  look waiting@1000 sandbox request
		      is permission registry asks=
		7000  Notification notice=permission_prompt says=network
		      is permission Bash`},
	{"what the leader's session is asked needs nobody here", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		2000  look waiting@1000 worker request
		      is working`},
	{"a goal that the agent proposes is a question", `
		100   UserPromptSubmit
		2000  look waiting@1000 goal proposal
		      is question registry source=registry`},
	{"a word of a newer client is a question, never a permission", `
		100   UserPromptSubmit
		2000  look waiting@1000 quota decision
		      is question registry source=inferred asks=quota_decision`},

	{"a call of claude -p that is denied is not a permission", `
		100   SessionStart entry=sdk-cli
		110   UserPromptSubmit
		200   PreToolUse Write id=1
		220   PermissionRequest Write
		      is working
		1300  answer given
		      is working
		8000  Stop
		      is idle done`},
	{"nor is a question that claude -p cannot ask", `
		100   SessionStart entry=sdk-cli
		110   UserPromptSubmit
		200   PreToolUse AskUserQuestion id=1
		220   PermissionRequest AskUserQuestion
		      is working`},
	{"a call of claude -p that a hook holds waits, and the one before it does not", `
		100   SessionStart entry=sdk-cli
		110   UserPromptSubmit
		200   PreToolUse Write id=1 hash=a
		220   PermissionRequest Write hash=a
		1500  PreToolUse Write id=2 hash=b
		1520  PermissionRequest Write hash=b
		      is working
		2600  answer awaited
		      is permission Write call=2
		6000  answer given
		      is working`},
	{"a program at the pipe of claude -p is asked, as the registry says", `
		100   SessionStart entry=sdk-cli
		110   UserPromptSubmit
		200   PreToolUse Write id=1
		220   PermissionRequest Write
		500   look waiting@230
		      is permission
		3000  look busy@2700
		      is working`},
	{"an application that embeds the client asks by itself", `
		100   SessionStart entry=sdk-ts
		110   UserPromptSubmit
		200   PreToolUse Write id=1
		220   PermissionRequest Write
		      is permission Write`},

	{"a teammate's request is asked of its leader", `
		100   UserPromptSubmit
		900   Stop
		7000  Notification notice=worker_permission_prompt says=needs
		      is permission
		9300  look idle@9000
		      is idle done`},
	{"a form that only its notification tells of", `
		100   UserPromptSubmit
		200   PreToolUse mcp__s__t id=1
		6300  Notification notice=elicitation_dialog says=Where
		      is question form since=6300
		9000  PostToolUse mcp__s__t id=1
		      is working`},
	{"a link that an MCP server wants opened, done", `
		100   UserPromptSubmit
		200   PreToolUse mcp__s__t id=1
		6300  Notification notice=elicitation_url_dialog
		      is question form
		9000  Notification notice=elicitation_complete
		      is working`},
	{"the notification of a form that its event told of", `
		100   UserPromptSubmit
		200   PreToolUse mcp__s__t id=1
		300   Elicitation s
		6300  Notification notice=elicitation_dialog
		      is question form since=300
		9000  ElicitationResult s
		      is working`},
	{"a form is answered when the registry says busy", `
		100   UserPromptSubmit
		200   PreToolUse mcp__s__t id=1
		6300  Notification notice=elicitation_dialog
		8300  look busy@8000
		      is working`},
}
