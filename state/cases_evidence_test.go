package state

// Situations without a number: the backburner, clocks, evidence from registry and transcript,
// odd agents.
var casesOfEvidence = []situation{
	{"backburner stays through everything but the user's own prompt", `
		50    SessionStart source=startup
		100   UserPromptSubmit
		200   user backburner
		300   PreToolUse Bash id=1
		310   PermissionRequest Bash
		700   look waiting@315
		      is backburner since=200
		1300  look idle@1000
		      is backburner
		2000  PreCompact source=manual
		2100  SessionStart source=compact
		3000  SessionStart source=resume
		3100  UserPromptSubmit prompt=client
		3200  StopFailure reason=overloaded
		4000  Notification notice=idle_prompt
		      user seen
		      is backburner
		5000  UserPromptSubmit
		      is working
		6000  SessionEnd reason=other
		      user backburner
		      is ended`},
	{"backburner until it needs the user", `
		100   UserPromptSubmit
		150   PreToolUse Bash id=1
		160   PermissionRequest Bash
		200   user backburner until=needed
		      is backburner
		300   PostToolUse Bash id=1
		400   PreToolUse Bash id=2
		      is backburner
		410   PermissionRequest Bash
		      is permission Bash
		500   PostToolUse Bash id=2
		600   Stop
		      is backburner
		700   StopFailure reason=overloaded
		      is failed
		800   UserPromptSubmit
		      is working`},
	{"undo takes back the newest mark alone", `
		100   UserPromptSubmit
		200   Stop
		      is idle done unseen=true
		300   user seen
		      is idle done unseen=false
		400   user undo
		      is idle done unseen=true
		500   user undo
		      is idle done unseen=true
		600   user backburner
		700   user backburner until=9000
		800   user undo
		9500  is backburner since=600
		9600  user unburner
		      is idle done unseen=true
		9700  user undo
		      is backburner since=600
		9800  user unburner
		9900  UserPromptSubmit
		10000 user undo
		      is working`},
	{"backburner until its time", `
		100   UserPromptSubmit
		200   user backburner until=5000
		4999  is backburner
		5000  is working`},
	{"backburner does not hide that the process is gone", `
		100   UserPromptSubmit
		200   user backburner
		300   process gone
		      is lost`},

	{"the clock is set back by an hour", `
		3600000 UserPromptSubmit
		3600100 SubagentStart agent=a
		3600200 PreToolUse Bash agent=a id=1
		3600300 Stop tasks=a
		3600400 is working
		1000    PermissionRequest Bash agent=a
		        is permission Bash actor=a since=1000
		1100    PostToolUse Bash agent=a id=1
		        is working running=1
		1200    SubagentStop agent=a tasks=a
		1300    UserPromptSubmit prompt=client
		1400    Stop tasks=-
		        is idle done turns=1 unseen=true`},
	{"the clock is ahead for a moment", `
		100     UserPromptSubmit
		200     PreToolUse Bash id=1
		220     PermissionRequest Bash
		3600000 PreToolUse Read agent=a id=2
		400     is permission Bash since=220
		500     PostToolUse Bash id=1
		        is working since=100
		600     Stop tasks=-
		        is idle done since=600`},
	{"the registry is a constraint: a stale reading says nothing", `
		100   UserPromptSubmit
		500   look idle@50
		      is working
		600   look waiting@90
		      is working
		700   Stop tasks=-
		1000  look waiting@110
		      is idle done`},
	{"the mod tells of Esc before the registry does", `
		100   UserPromptSubmit
		150   PreToolUse Bash id=1
		400   glance busy@140
		1000  mod halt
		      is idle interrupted since=1000 source=mod
		1400  look idle@1150
		      is idle interrupted since=1000 source=mod
		2000  UserPromptSubmit
		      is working`},
	{"a registry that is newer than the mod's word counts", `
		100   UserPromptSubmit
		1000  mod halt
		2000  look busy@1500
		      is working registry source=registry`},
	{"the mod tells of a refusal, and a subagent in the background goes on", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		300   UserPromptSubmit
		400   PreToolUse Bash id=1
		410   PermissionRequest Bash
		900   mod halt
		      is working subagent actor=a`},
	{"what the mod says late does not touch the next turn", `
		100   UserPromptSubmit id=p1
		500   UserPromptSubmit id=p2
		480   mod halt
		510   is working`},
	{"the mod tells of an API error where no hook does, and a hook tells why", `
		100   UserPromptSubmit
		500   mod failed
		      is failed error since=500 source=mod
		520   StopFailure reason=overloaded
		      is failed overloaded since=520 source=hook
		530   mod failed
		      is failed overloaded since=520`},
	{"the mod tells that a Stop was blocked", `
		100   UserPromptSubmit
		500   Stop tasks=-
		      is idle done
		560   mod goes on
		      is working
		4000  look busy@90
		      is working
		5000  mod halt
		      is idle interrupted source=mod`},
	{"that the mod is there says nothing of the turn", `
		100   SessionStart source=startup
		110   mod loaded
		      is idle started
		200   UserPromptSubmit
		      is working`},
	{"the registry's blip of idle", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		1000  SubagentStop agent=a tasks=a
		1003  look idle@1001
		      is working
		1100  UserPromptSubmit prompt=client
		1400  look busy@1102
		      is working`},
	{"the registry's half second of idle on a busy machine", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		1000  SubagentStop agent=a tasks=a
		1450  look idle@1010
		      is working
		2000  UserPromptSubmit prompt=client
		2100  Stop tasks=-
		      is idle done`},
	{"no task notification follows after all", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		1000  SubagentStop agent=a tasks=a
		2400  look idle@1010
		      is working
		2500  is idle done since=200`},
	{"registry busy between a request and its dialog, on a busy machine", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		910   PermissionRequest Bash
		1250  look busy@1000
		1800  look waiting@1507
		      is permission Bash call=1 since=910
		5000  look busy@4700
		      is working`},
	{"a status that an older client writes is not used", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		210   PermissionRequest Bash
		9000  look running@8000
		      is permission Bash`},
	{"the registry knows of a dialog that no hook told", `
		100   UserPromptSubmit
		900   look waiting@500
		      is permission registry source=registry
		      look waiting@500 input needed
		      is question registry source=registry`},
	{"a shell in the background is no work", `
		100   UserPromptSubmit
		200   Stop tasks=$sh
		900   look shell@250
		      is idle done unseen=true shells=1 agents=0
		950   UserPromptSubmit prompt=client
		990   Stop tasks=$sh,a
		      is working shells=1 agents=1`},

	{"the transcript's marker stops the turn, not a background agent", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		300   PreToolUse Bash agent=a id=1
		310   PermissionRequest Bash agent=a
		400   UserPromptSubmit
		900   marker 600
		      is permission Bash actor=a running=1`},
	{"the transcript's marker stops a subagent that the turn waits for", `
		100   UserPromptSubmit
		150   PreToolUse Agent id=1
		160   SubagentStart agent=a
		300   PreToolUse Bash agent=a id=2
		310   PermissionRequest Bash agent=a
		900   marker 600
		      is idle interrupted running=0`},
	{"the transcript's marker of the turn before", `
		100   UserPromptSubmit
		900   marker 600
		      is idle interrupted source=transcript
		1000  UserPromptSubmit
		      marker 600
		      is working`},

	{"hooks go on though the process was seen to be gone", `
		100   UserPromptSubmit
		200   process gone
		      is lost
		300   PreToolUse Bash id=1
		310   PermissionRequest Bash
		400   process gone
		      is permission Bash
		20000 is unknown contradiction
		20100 PostToolUse Bash id=1
		      is working
		20200 process alive
		40000 is working
		50000 process gone
		      is lost`},

	{"PostToolBatch ends calls that say nothing themselves", `
		100   UserPromptSubmit
		200   PreToolUse AskUserQuestion id=1      // a hook of someone else's denies it
		      is question
		300   PostToolBatch
		      is working call=`},
	{"a hook that rewrites the input parts a call from its request", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=a
		220   PermissionRequest Bash hash=b
		      is permission Bash
		900   PostToolUse Bash id=1 hash=b
		      is working`},
	{"an agent whose PermissionRequest names the call", `
		100   UserPromptSubmit
		200   PreToolUse bash id=1 hash=a
		220   PermissionRequest shell id=1 hash=b
		      is permission call=1
		900   PostToolUse bash id=1 hash=a
		      is working`},
	{"an agent that tells of the answer", `
		100   UserPromptSubmit
		200   PreToolUse bash id=1
		220   PermissionRequest bash
		      is permission
		400   PostToolBatch name=permission.replied
		      is working call=1`},
	{"an agent whose calls have no id", `
		100   UserPromptSubmit
		200   PreToolUse shell
		220   PermissionRequest shell
		      is permission since=220
		900   PostToolUse shell
		      is working`},
	{"an MCP form", `
		100   UserPromptSubmit
		200   PreToolUse mcp__s__t id=1
		300   Elicitation s
		      is question form since=300
		900   ElicitationResult s
		      is working
		950   Elicitation s id=f1
		951   ElicitationResult s id=f1
		      is working`},
	{"a permission hides a question, and the oldest comes first", `
		100   UserPromptSubmit
		200   PreToolUse AskUserQuestion id=1
		300   PreToolUse Bash agent=a id=2
		310   PermissionRequest Bash agent=a
		320   PreToolUse Edit agent=b id=3
		330   PermissionRequest Edit agent=b
		      is permission Bash actor=a
		400   PostToolUse Bash agent=a id=2
		      is permission Edit actor=b
		500   PostToolUse Edit agent=b id=3
		      is question question`},
}
