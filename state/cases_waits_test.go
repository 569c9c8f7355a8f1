package state

// CASES 1 to 4: Esc, refusals, permissions, questions.
var casesOfWaits = []situation{
	{"a question stands while the client's own turns report progress", `
		100   UserPromptSubmit
		200   Stop means=question tasks=a
		      is question text since=200 agents=1 task=awaiting_input
		300   SubagentStop agent=a tasks=-
		      is question text since=200 task=awaiting_input
		400   UserPromptSubmit prompt=client
		      is question text since=200
		450   PreToolUse Read id=1
		      is question text since=200
		460   PostToolUse Read id=1
		500   Stop means=progress tasks=-
		      is question text since=200 task=awaiting_input
		600   user seen
		700   UserPromptSubmit prompt=client
		800   Stop tasks=-                      // without a word
		      is question text since=200 task=awaiting_input
		900   UserPromptSubmit
		      is working task=processing
		1000  Stop means=progress
		      is idle done task=complete`},
	{"what the client's own turn asks takes the question's place, what it finishes does not", `
		100   UserPromptSubmit
		200   Stop means=question
		300   UserPromptSubmit prompt=client
		400   Stop means=question
		      is question text since=400 task=awaiting_input
		500   UserPromptSubmit prompt=client
		600   Stop means=completion
		      is question text since=400 task=awaiting_input
		700   UserPromptSubmit
		800   Stop means=completion
		      is idle done task=complete`},
	{"a question asked while a background agent runs, and the registry is busy for it", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop means=question tasks=a
		900   look busy@110
		      is question text since=200 agents=1 running=1
		3000  is question text since=200
		3100  PreToolUse Bash agent=a id=1
		3110  PermissionRequest Bash agent=a
		      is permission Bash actor=a
		4000  PostToolUse Bash agent=a id=1
		      is question text since=200
		5000  SubagentStop agent=a tasks=a
		5010  look idle@5005
		      is question text
		5100  UserPromptSubmit prompt=client
		5400  look busy@5105
		      is question text since=200
		6000  UserPromptSubmit
		      is working`},
	{"an API error while a background agent runs, until a turn succeeds", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop tasks=a
		300   UserPromptSubmit
		900   StopFailure reason=overloaded
		      is failed overloaded since=900 agents=1
		4000  look busy@110
		      is failed overloaded since=900 unseen=true
		5000  SubagentStop agent=a tasks=a
		5100  UserPromptSubmit prompt=client
		5200  is failed overloaded since=900
		5950  look idle@5940
		6000  Stop means=progress tasks=-
		      is idle done since=6000`},
	{"a turn that ends in a plain message while agents run is at work", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop means=progress tasks=a
		      is working
		900   UserPromptSubmit
		1000  StopFailure reason=overloaded
		      is failed
		1100  UserPromptSubmit
		      is working`},
	{"a Stop hook that blocks a question lets the agent go on", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop means=question tasks=a
		      is question
		300   PreToolUse Bash id=1
		      is working
		400   PostToolUse Bash id=1
		500   Stop means=completion tasks=-
		      is idle done`},
	{"another hook of Stop takes ten seconds", `
		100   UserPromptSubmit
		150   look busy@110
		900   Stop tasks=-
		      is working
		2950  is working
		9900  is working
		10950 look idle@10900
		      is idle done since=900 unseen=true`},
	{"an API error after which a hook takes ten seconds", `
		100   UserPromptSubmit
		150   look busy@110
		900   StopFailure reason=overloaded
		      is failed overloaded`},
	{"Esc in the client's own turn after a failed one, while another agent runs", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		160   SubagentStart agent=b
		200   Stop means=progress tasks=a,b
		300   UserPromptSubmit
		900   StopFailure reason=overloaded
		1000  SubagentStop agent=a tasks=a,b
		1050  UserPromptSubmit prompt=client
		2000  look busy@110
		      is failed overloaded
		3000  marker 2500
		      is working subagent`},
	{"Esc in the client's own turn after a question, while another agent runs", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		160   SubagentStart agent=b
		200   Stop means=question tasks=a,b
		1000  SubagentStop agent=a tasks=a,b
		1050  UserPromptSubmit prompt=client
		2000  look busy@110
		      is question text
		3000  marker 2500
		      is working subagent`},
	{"a question stands at the end of the client's own turn, while the client is still busy", `
		100   UserPromptSubmit
		150   SubagentStart agent=a
		200   Stop means=question tasks=a
		1000  SubagentStop agent=a tasks=a
		3500  look busy@110
		      is question text since=200
		4100  UserPromptSubmit prompt=client
		4150  look busy@110
		      is question text since=200
		4500  Stop means=progress tasks=-
		4550  look busy@110
		      is question text since=200
		5000  is question text since=200
		5300  look idle@5090
		      is question text since=200`},
	{"an interrupt of an earlier turn ends no turn of the client's own", `
		100   UserPromptSubmit
		160   SubagentStart agent=b
		900   StopFailure reason=overloaded
		1050  UserPromptSubmit prompt=client
		2000  look busy@110
		3000  marker 1000
		      is failed overloaded`},
	{"a question that the user broke off does not come back", `
		100   UserPromptSubmit
		200   Stop means=question
		300   UserPromptSubmit prompt=client
		3000  look idle@390
		      is idle interrupted
		5000  UserPromptSubmit prompt=client
		6000  Stop means=progress
		      is idle done`},
	{"1 Esc while text streams", `
		0     SessionStart source=startup
		100   UserPromptSubmit
		900   look idle@650
		      is idle interrupted since=650 unseen=false
		5000  UserPromptSubmit
		5300  look busy@5001
		      is working turns=2`},
	{"1 Esc on hooks alone, told by the idle prompt", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		9000  is working
		61000 Notification notice=idle_prompt
		      is idle interrupted since=61000`},
	{"1 Esc on a permission", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		500   look waiting@225
		      is permission Bash since=220
		3300  look idle@3000
		      is idle interrupted since=3000
		3400  look none               // every view agrees, also one that cannot read the registry
		      is idle interrupted source=registry`},
	{"1 a refusal with feedback: the turn goes on", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		3300  look busy@3000
		      is working
		4000  PreToolUse Read id=2
		4010  PostToolUse Read id=2 ms=5
		4500  Stop tasks=-
		4700  look idle@4550
		      is idle done`},
	{"1 an approved long command", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		3300  look busy@3000
		      is working call=1
		99000 look none
		      is working call=1
		99500 PostToolUse Bash id=1
		      is working`},
	{"1 kill -9", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		      look busy@101
		900   process gone
		      is lost
		901   process unread
		      is lost
		902   look idle@800           // the file it left behind
		      is lost`},
	{"1 kill -9, then resume", `
		100   UserPromptSubmit
		900   process gone
		      is lost
		9000  process alive
		      SessionStart source=resume
		      is idle started
		9100  look
		      is idle started`},

	{"1 kill -9, then resume by a client nobody looked at", `
		100   UserPromptSubmit pid=1
		900   process gone
		9000  process unread
		      SessionStart source=resume pid=2
		      is idle started
		9500  process gone
		      is lost`},
	{"1 a process believed gone by mistake", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		900   glance busy@600
		      process gone
		      is lost
		1000  glance none
		      process alive
		      process unread
		      is permission Bash`},
	{"1 a Stop that is told after a reader saw the turn over", `
		100   UserPromptSubmit
		900   look idle@650
		      is idle interrupted
		640   Stop tasks=-
		950   is idle done since=640 unseen=true`},
	{"1 a reader that cannot fold sees the same", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		900   glance idle@650
		      is idle interrupted since=650 source=registry
		1000  Stop tasks=a
		1900  glance idle@1650
		      is idle done since=1000 source=registry`},

	{"2 a sibling's event never releases a wait", `
		100   UserPromptSubmit
		200   PreToolUse Agent id=1
		210   SubagentStart agent=a
		220   SubagentStart agent=b
		230   PostToolUse Agent id=1
		300   PreToolUse Bash agent=a id=2
		320   PermissionRequest Bash agent=a
		330   PreToolUse Bash agent=b id=3
		900   PostToolUse Bash agent=b id=3
		910   PreToolUse Write id=4
		920   PostToolUse Write id=4
		      is permission Bash actor=a since=320
		950   Stop tasks=a,b
		      is permission Bash actor=a
		1000  UserPromptSubmit
		      is permission Bash actor=a
		1100  SubagentStop agent=b tasks=a,b
		      is permission Bash actor=a
		1200  UserPromptSubmit prompt=client
		      is permission Bash actor=a
		1300  Stop tasks=a
		      is permission Bash actor=a
		1400  PostToolUse Bash agent=a id=2
		      is working
		1500  SubagentStop agent=a tasks=a
		1600  UserPromptSubmit prompt=client
		1700  Stop tasks=-
		      is idle done`},
	{"2 a stopped subagent waits no more", `
		100   UserPromptSubmit
		300   PreToolUse Bash agent=a id=2
		320   PermissionRequest Bash agent=a
		400   SubagentStop agent=a tasks=a
		      is working running=0`},
	{"2 an old client's Stop, without a snapshot, keeps a subagent's wait", `
		100   UserPromptSubmit
		300   PreToolUse Bash agent=a id=2
		320   PermissionRequest Bash agent=a
		330   PreToolUse Bash agent=b id=3
		400   Stop
		      is permission Bash actor=a running=1`},
	{"2 the user's next prompt releases the main conversation's waits", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		9000  UserPromptSubmit
		      is working`},

	{"2 a prompt of before the request, told late, releases nothing", `
		200   PreToolUse Bash id=1
		220   PermissionRequest Bash
		100   UserPromptSubmit
		300   is permission Bash since=220`},

	{"3 three permissions at once end with the last", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=a
		201   PreToolUse Bash id=2 hash=b
		202   PreToolUse Bash id=3 hash=c
		205   PermissionRequest Bash hash=a
		206   PermissionRequest Bash hash=b
		207   PermissionRequest Bash hash=c
		      is permission Bash call=1
		3000  PostToolUse Bash id=1 hash=a
		      is permission Bash call=2
		4000  PostToolUseFailure Bash id=2 hash=b
		      is permission Bash call=3
		5000  PostToolUse Bash id=3 hash=c
		      is working`},
	{"3 three identical permissions end with the last", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		201   PermissionRequest Bash
		202   PreToolUse Bash id=2
		203   PreToolUse Bash id=3
		204   PermissionRequest Bash
		205   PermissionRequest Bash
		3000  PostToolUse Bash id=1
		4000  PostToolUse Bash id=2
		      is permission Bash call=3
		5000  PostToolUse Bash id=3
		      is working`},
	{"3 busy between two dialogs", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=a
		201   PreToolUse Bash id=2 hash=b
		205   PermissionRequest Bash hash=a
		206   PermissionRequest Bash hash=b
		3001  look busy@3000          // for some 3 ms
		      is permission Bash
		3300  look waiting@3003
		      is permission Bash`},
	{"3 the first of two runs for long before the second dialog", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1 hash=a
		201   PreToolUse Bash id=2 hash=b
		205   PermissionRequest Bash hash=a
		206   PermissionRequest Bash hash=b
		3300  look busy@3000
		      is working
		9000  PostToolUse Bash id=1 hash=a
		9300  look waiting@9002
		      is permission Bash call=2 source=hook
		9400  look none
		      is permission Bash call=2
		9900  look busy@9500
		      is working`},

	{"4 a question is not a permission", `
		100   UserPromptSubmit
		200   PreToolUse AskUserQuestion id=1
		220   PermissionRequest AskUserQuestion
		6200  Notification notice=permission_prompt
		      is question question since=200
		7000  PostToolUse AskUserQuestion id=1
		      is working`},
	{"4 a plan waits, and EnterPlanMode only when it asks", `
		100   UserPromptSubmit
		200   PreToolUse EnterPlanMode id=1
		      is working
		210   PermissionRequest EnterPlanMode
		      is question plan since=210
		900   PostToolUse EnterPlanMode id=1
		      is working
		1000  PreToolUse ExitPlanMode id=2
		      is question plan since=1000
		1020  PermissionRequest ExitPlanMode
		      is question plan since=1000
		2000  PostToolUse ExitPlanMode id=2
		      is working`},
	{"4 a question whose PermissionRequest came first", `
		100   UserPromptSubmit
		220   PermissionRequest AskUserQuestion
		200   PreToolUse AskUserQuestion id=1
		220   is question question since=200 call=1
		7000  PostToolUse AskUserQuestion id=1
		      is working`},
	{"4 a question without ids: its answers change the input", `
		100   UserPromptSubmit
		200   PreToolUse AskUserQuestion hash=a
		220   PermissionRequest AskUserQuestion hash=a
		7000  PostToolUse AskUserQuestion hash=b
		      is working
		8000  PreToolUse ExitPlanMode hash=c
		8010  is question plan
		9000  PostToolUse ExitPlanMode hash=d
		      is working`},
	{"4 a question whose PreToolUse was lost", `
		100   UserPromptSubmit
		220   PermissionRequest AskUserQuestion hash=a
		7000  PostToolUse AskUserQuestion id=1 hash=b
		      is working`},
	{"4 two questions without ids end with the last", `
		100   UserPromptSubmit
		200   PreToolUse AskUserQuestion hash=a
		201   PreToolUse AskUserQuestion hash=b
		7000  PostToolUse AskUserQuestion hash=c
		      is question
		8000  PostToolUse AskUserQuestion hash=d
		      is working`},
	{"3 a permission without ids whose input was edited, beside calls that run", `
		100   UserPromptSubmit
		200   PreToolUse Edit hash=a
		201   PreToolUse Edit hash=b
		210   PermissionRequest Edit hash=b
		500   PostToolUse Edit hash=a
		      is permission Edit
		900   PostToolUse Edit hash=c
		      is working`},
	{"3 without ids and PreToolUse another call's end is not an answer", `
		100   UserPromptSubmit
		210   PermissionRequest Bash hash=b
		500   PostToolUse Bash hash=a
		      is permission Bash
		900   PostToolUse Bash hash=b
		      is working`},
	{"3 without ids and inputs the tool's name has to do", `
		100   UserPromptSubmit
		200   PermissionRequest Bash hash=
		500   PostToolUse Read hash=
		      is permission Bash
		900   PostToolUse Bash hash=
		      is working`},
}
