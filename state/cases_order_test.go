package state

// CASES 9 to 12: the client's own prompts, late events, idle_prompt, queued prompts.
var casesOfOrder = []situation{
	{"9 a task notification is not the user", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   Stop tasks=a
		400   user backburner
		500   PreToolUse Bash agent=a id=1
		510   PermissionRequest Bash agent=a
		600   UserPromptSubmit prompt=client
		700   Stop tasks=a
		      is backburner turns=1
		800   user unburner
		      is permission Bash actor=a turns=1`},
	{"9 since when a turn of the client's own runs", `
		100   UserPromptSubmit
		300   Stop tasks=$sh
		5000  UserPromptSubmit prompt=client
		5100  PreToolUse Bash id=1
		5200  PostToolUse Bash id=1
		5300  PreToolUse Bash id=2
		      is working since=5000 turns=1`},

	{"10 PostToolUse after Stop", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		900   Stop tasks=-
		901   PostToolUse Bash id=1 ms=650
		      is idle done`},
	{"10 PostToolUse after Stop, its PreToolUse lost and no duration told", `
		50    SessionStart source=startup
		100   UserPromptSubmit
		900   Stop tasks=-
		901   PostToolUse Bash id=1
		      is idle done`},
	{"10 PreToolUse after its PermissionRequest", `
		100   UserPromptSubmit
		220   PermissionRequest Bash
		200   PreToolUse Bash id=1
		220   is permission Bash since=220 call=1
		900   PostToolUse Bash id=1
		      is working`},
	{"10 PreToolUse after its PermissionRequest, and another call ended between", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=x
		220   PermissionRequest Bash hash=y
		230   PostToolUse Bash id=1 hash=x
		      is working
		210   PreToolUse Bash id=2 hash=y
		240   is permission Bash since=220 call=2
		900   PostToolUse Bash id=2 hash=y
		      is working`},
	{"10 PreToolUse after its PermissionRequest, another call's end and its batch", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=x
		220   PermissionRequest Bash hash=y
		230   PostToolUse Bash id=1 hash=x
		250   PostToolBatch
		210   PreToolUse Bash id=2 hash=y
		260   is working`},
	{"10 PermissionRequest before the end of an earlier call with its input", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		420   PermissionRequest Bash
		300   PostToolUse Bash id=1
		      is permission Bash since=420
		400   PreToolUse Bash id=2
		430   is permission Bash since=420 call=2
		900   PostToolUse Bash id=2
		      is working`},
	{"10 PermissionRequests of a refused call and of its repetition, before the batch", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		400   PreToolUse Bash id=2
		220   PermissionRequest Bash
		420   PermissionRequest Bash
		350   PostToolBatch
		430   is permission Bash since=420 call=2
		900   PostToolUse Bash id=2
		      is working`},
	{"10 PermissionRequest before its PreToolUse and the end of another call of its tool", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=x
		420   PermissionRequest Bash hash=y
		300   PostToolUse Bash id=1 hash=x
		430   is permission Bash since=420`},
	{"10 two PreToolUse after their PermissionRequests, and another call ended between", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=x
		220   PermissionRequest Bash hash=y
		230   PostToolUse Bash id=1 hash=x
		235   PermissionRequest Bash hash=y
		212   PreToolUse Bash id=3 hash=y
		240   is permission Bash since=235 call=3
		210   PreToolUse Bash id=2 hash=y
		241   is permission Bash since=220 call=2
		900   PostToolUse Bash id=3 hash=y
		      is permission Bash since=220 call=2
		901   PostToolUse Bash id=2 hash=y
		      is working`},
	{"10 PreToolUse after its PermissionRequest and its PostToolUse", `
		100   UserPromptSubmit
		220   PermissionRequest Bash hash=y
		230   PostToolUse Bash id=2 hash=y
		210   PreToolUse Bash id=2 hash=y
		300   is working call=`},
	{"10 PermissionRequest after the call ended", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		900   PostToolUse Bash id=1
		220   PermissionRequest Bash
		1000  is working`},
	{"10 a question's PreToolUse after its PostToolUse", `
		100   UserPromptSubmit
		900   PostToolUse AskUserQuestion id=1 ms=5
		200   PreToolUse AskUserQuestion id=1
		910   is working`},
	{"10 what came before Stop, told after it", `
		100   UserPromptSubmit
		900   Stop tasks=-
		850   PreToolUse AskUserQuestion id=1
		860   PermissionRequest Bash
		950   is idle done`},
	{"10 a call is not taken for an older one whose PreToolUse was lost", `
		100   UserPromptSubmit
		220   PermissionRequest Bash
		5000  PreToolUse Bash id=2
		      is permission Bash since=220 call=`},
	{"10 a wait whose PreToolUse was lost is not the next call's", `
		100   UserPromptSubmit
		220   PermissionRequest Bash
		5000  UserPromptSubmit
		6000  PreToolUse Bash id=2
		6020  PermissionRequest Bash
		      is permission Bash since=6020 call=2
		7000  PostToolUse Bash id=2
		      is working`},
	{"10 Stop told after the next prompt", `
		100   UserPromptSubmit
		520   UserPromptSubmit
		500   Stop tasks=-
		600   is working turns=2 since=520`},
	{"10 SessionStart told after the first prompt", `
		120   UserPromptSubmit
		100   SessionStart source=startup model=m1
		200   is working since=120`},

	{"10 SessionStart in the millisecond of the first prompt", `
		100   SessionStart source=startup
		100   UserPromptSubmit
		100   PreToolUse Bash id=1
		      is working turns=1
		400   Stop
		      is idle done`},
	{"10 the first prompt in the millisecond of a SessionStart that is told later", `
		100   UserPromptSubmit
		100   PreToolUse Bash id=1
		100   SessionStart source=startup
		      is working turns=1`},
	{"11 idle_prompt proves idle", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		210   PermissionRequest Bash
		70000 Notification notice=idle_prompt
		      is idle interrupted`},
	{"11 idle_prompt of before the prompt proves nothing", `
		100   UserPromptSubmit
		90    Notification notice=idle_prompt
		200   is working`},
	{"11 idle_prompt while background agents run", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   Stop tasks=a
		400   PreToolUse Bash agent=a id=1
		60500 Notification notice=idle_prompt
		      is working running=1`},
	{"11 idle_prompt while an agent of a background agent asks", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   Stop tasks=a
		400   SubagentStart agent=b
		500   PreToolUse Bash agent=b id=1
		510   PermissionRequest Bash agent=b
		60500 Notification notice=idle_prompt
		      is permission Bash actor=b`},
	{"11 idle_prompt after a foreground subagent was cut off", `
		100   UserPromptSubmit
		200   PreToolUse Agent id=1
		210   SubagentStart agent=a
		300   PreToolUse Bash agent=a id=2
		60500 Notification notice=idle_prompt
		      is idle interrupted running=0`},
	{"11 auth_success proves nothing", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		300   Notification notice=auth_success
		      Notification notice=agent_completed
		      is working`},
	{"11 permission_prompt proves a wait only for an open call", `
		100   UserPromptSubmit
		200   Notification notice=permission_prompt
		      is working
		300   PreToolUse Bash id=1
		6300  Notification notice=permission_prompt
		      is permission Bash since=6300`},

	{"12 a prompt queued in the middle of a turn", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		300   UserPromptSubmit
		      is working since=100 turns=1 call=1
		900   PostToolUse Bash id=1
		1000  Stop tasks=-
		      is idle done turns=1`},

	{"12 a prompt queued in the middle of a turn has its id", `
		100   UserPromptSubmit turn=p1
		200   PreToolUse Bash id=1 turn=p1
		300   UserPromptSubmit turn=p1
		      is working since=100 turns=1 call=1`},
	{"12 a prompt with an id of its own shows an Esc that nobody saw", `
		100   UserPromptSubmit turn=p1
		200   PreToolUse Bash id=1 turn=p1
		210   PermissionRequest Bash turn=p1
		900   UserPromptSubmit turn=p2
		      is working since=900 turns=2 call=
		1000  Stop tasks=- turn=p2
		      is idle done turns=2`},
	{"12 a prompt queued in a turn of the client's own", `
		100   UserPromptSubmit turn=p1
		200   Stop tasks=$sh turn=p1
		300   UserPromptSubmit prompt=client turn=p2
		400   PreToolUse Bash id=1 turn=p2
		500   UserPromptSubmit turn=p2
		      is working since=300 call=1`},
}
