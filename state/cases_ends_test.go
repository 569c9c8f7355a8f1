package state

// CASES 13 to 24: Stop hooks, failures, silence, unseen turns, two installs.
var casesOfEnds = []situation{
	{"13 a stop hook that blocks", `
		100   UserPromptSubmit
		900   Stop tasks=-
		      is idle done
		950   PreToolUse Bash id=1
		      is working since=950 unseen=false
		990   PostToolUse Bash id=1
		1900  Stop tasks=-
		      is idle done since=1900 turns=1`},
	{"13 a subagent's stop hook that blocks", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		900   SubagentStop agent=a tasks=a
		950   PreToolUse Bash agent=a id=1
		9000  is working running=1`},

	{"14 StopFailure ends the turn", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		900   StopFailure reason=rate_limit
		      is failed rate_limit since=900 unseen=true
		1300  look idle@950
		      is failed rate_limit
		61000 Notification notice=idle_prompt
		      is failed rate_limit
		62000 UserPromptSubmit
		      is working`},
	{"14 a failed subagent does not fail the session", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   StopFailure agent=a reason=overloaded
		      is working running=0
		300   Stop tasks=-
		      is idle done`},

	{"15 a day-old wait is a wait while its process lives", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		210   PermissionRequest Bash
		      process alive
		90000000 is permission Bash since=210
		90000000 process unread
		      is unknown silent`},
	{"15 looking is no sign of a session", `
		100   UserPromptSubmit
		40000000 user seen
		43300000 process unread
		      is unknown silent`},
	{"15 the registry alone keeps a silent session known", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		210   PermissionRequest Bash
		90000000 look waiting@215
		      is permission Bash`},

	{"21 done and unseen", `
		100   UserPromptSubmit
		200   Stop tasks=-
		      is idle done unseen=true
		300   user seen
		      is idle done unseen=false
		400   UserPromptSubmit prompt=client
		500   Stop tasks=-
		      is idle done unseen=true
		600   UserPromptSubmit
		700   look idle@650
		900   look
		      is idle interrupted unseen=false`},

	{"auto mode refuses two calls, and the turn ends", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		250   PermissionDenied Bash id=1 reason=unsafe
		      is working refused=1 call=
		300   SubagentStart agent=a
		310   PreToolUse Bash agent=a id=2
		320   PermissionDenied Bash agent=a id=2 reason=unsafe
		350   SubagentStop agent=a tasks=-
		      is working refused=2
		900   Stop tasks=-
		9000  is idle done refused=2 edge=refused
		9100  UserPromptSubmit prompt=client
		9900  Stop tasks=-
		      is idle done refused=2 edge=done
		10000 UserPromptSubmit
		      is working refused=0
		10900 Stop tasks=-
		      is idle done refused=0 edge=done`},
	{"auto mode asks after three refusals", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		250   PermissionDenied Bash id=1
		300   PreToolUse Bash id=2
		350   PermissionDenied Bash id=2
		400   PreToolUse Bash id=3
		450   PermissionDenied Bash id=3
		500   PreToolUse Bash id=4
		510   PermissionRequest Bash
		      is permission Bash call=4 refused=3 edge=permission`},
	{"a refusal that another agent reports is the user's own", `
		100   UserPromptSubmit sender=opencode
		200   PreToolUse Bash id=1 sender=opencode
		250   PermissionDenied Bash id=1 sender=opencode
		      is working refused=0`},
	{"a resumed session forgets what was refused", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		250   PermissionDenied Bash id=1
		9000  SessionStart source=resume
		      is idle started refused=0`},

	{"24 two installs are one event", `
		100   UserPromptSubmit
		101   UserPromptSubmit via=plugin
		200   PreToolUse Bash id=1
		201   PreToolUse Bash id=1 via=plugin
		210   PermissionRequest Bash via=plugin
		212   PermissionRequest Bash
		900   PostToolUse Bash id=1
		901   PostToolUse Bash id=1 via=plugin
		      is working turns=1
		950   Stop tasks=-
		951   Stop tasks=- via=plugin
		      is idle done since=950`},
	{"24 the copies of a second firing are no third copy of the first", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		201   PreToolUse Bash id=2
		210   PermissionRequest Bash
		211   PermissionRequest Bash via=plugin
		212   PermissionRequest Bash via=plugin
		900   PostToolUse Bash id=2
		      is permission Bash call=1`},
	{"24 thirty parallel calls of two installs", parallelCopies(30)},
}
