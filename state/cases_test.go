package state

import (
	"fmt"
	"strings"
	"testing"
)

// TestCases tells the situations of CASES part I, and the faults once made in
// them. Each is a story; see story_test.go for its lines.
func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { tell(t, c.script) })
	}
}

var cases = []struct{ name, script string }{
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

	{"4 a question is no permission", `
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

	{"5 compaction in the middle of a turn", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		300   PostToolUse Bash id=1
		400   PreCompact source=auto
		      is compacting auto
		500   SubagentStop agent=x kind=none tasks=-
		      is compacting auto
		600   SessionStart source=compact
		      is working since=100
		610   PostCompact source=auto
		      is working since=100
		900   Stop tasks=-
		      is idle done unseen=true`},
	{"5 compaction while idle", `
		100   UserPromptSubmit
		200   Stop tasks=-
		5000  PreCompact source=manual
		      is compacting manual
		5100  SubagentStop agent=x kind=none tasks=-
		5200  SessionStart source=compact
		      is idle done since=200 unseen=false
		5210  PostCompact source=manual
		      is idle done`},
	{"5 Esc during a compaction", `
		100   UserPromptSubmit
		200   Stop tasks=-
		5000  PreCompact source=manual
		6300  look idle@6000
		      is idle done
		6400  look none
		      is idle done`},
	{"5 a compaction that failed, told by the idle prompt", `
		100   UserPromptSubmit
		200   Stop tasks=-
		5000  PreCompact source=manual
		65000 is compacting manual
		66000 Notification notice=idle_prompt
		      is idle done`},
	{"5 a subagent that compacts is at work", `
		100   UserPromptSubmit
		200   PreToolUse Bash agent=a id=1
		300   PreCompact source=auto agent=a
		      is working
		400   Stop tasks=a
		      is working
		500   PostCompact source=auto agent=a
		      is working running=1`},
	{"5 a resumed session keeps what it was asked", `
		100   UserPromptSubmit prompt=fix
		200   Stop tasks=-
		300   SessionEnd reason=prompt_input_exit
		      is ended prompt_input_exit
		9000  SessionStart source=resume
		      is idle started unseen=false
		9100  UserPromptSubmit
		      is working turns=2`},
	{"5 killed in a compaction, then resumed", `
		100   UserPromptSubmit
		400   PreCompact source=auto
		9000  SessionStart source=resume
		      is idle started`},

	{"6 /clear is no end and nothing to look at", `
		100   UserPromptSubmit
		200   Stop tasks=-
		      is idle done unseen=true
		5000  SessionEnd reason=clear
		5010  is idle started unseen=false
		7000  is ended clear`},

	{"7 a late hook does not bring a session back", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		5000  SessionEnd reason=other
		5001  PostToolUse Bash id=1
		5002  PreToolUse Bash id=2
		5003  SubagentStop agent=a tasks=-
		5004  Stop tasks=-
		      is ended other
		5005  Notification notice=idle_prompt
		      UserPromptSubmit
		      is ended other
		9000  SessionStart source=resume
		      is idle started`},
	{"7 the end of the run before a resume, told late", `
		100   UserPromptSubmit
		9000  SessionStart source=resume
		8990  SessionEnd reason=other
		9100  is idle started`},

	{"8 SubagentStop of an agent that never started", `
		100   UserPromptSubmit
		200   Stop tasks=-
		300   SubagentStop agent=x kind=none tasks=-
		301   is idle done running=0`},
	{"8 SubagentStop before its SubagentStart", `
		100   UserPromptSubmit
		310   SubagentStop agent=a tasks=a
		300   SubagentStart agent=a
		      is working running=0
		400   Stop tasks=-
		9000  is idle done running=0`},
	{"8 a killed subagent, told by the next snapshot", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   Stop tasks=a
		      is working agents=1
		5000  UserPromptSubmit
		6000  Stop tasks=-
		      is idle done agents=0 running=0`},
	{"8 a killed subagent, told by the registry", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   Stop tasks=a
		      is working agents=1
		5300  look idle@5000
		      is idle done since=300 agents=0 running=0
		5400  look none
		      is idle done`},
	{"8 a killed background agent without events of its own, told by the registry", `
		100   UserPromptSubmit
		300   Stop tasks=a,$sh
		      is working agents=1
		5300  look shell@5000
		      is idle done agents=0
		5400  look none
		      is idle done`},
	{"8 a subagent that a sibling's snapshot still lists", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		210   SubagentStart agent=b
		300   Stop tasks=a,b
		1000  SubagentStop agent=a tasks=a,b
		1005  SubagentStop agent=b tasks=a,b
		9000  is idle done agents=0`},
	{"8 an old client's SubagentStop names no agent", `
		100   UserPromptSubmit
		200   PreToolUse Bash id=1
		300   SubagentStop
		      is working`},
	{"8 a late event of a forgotten subagent", `
		100   UserPromptSubmit
		200   Stop tasks=-
		300   PostToolUse Bash agent=gone id=7
		9000  is idle done running=0`},
	{"8 a subagent that is sent a message runs again", `
		100   UserPromptSubmit
		200   SubagentStart agent=a
		300   SubagentStop agent=a tasks=a
		900   SubagentStart agent=a
		950   Stop tasks=a
		      is working since=900 agents=1
		1900  SubagentStop agent=a tasks=a
		9000  is idle done agents=0`},

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
		1000  look busy@110
		      is idle done`},
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

// parallelCopies is a story of n parallel calls that ask, each event seen by
// two installs, one far behind the other.
func parallelCopies(n int) string {
	var b strings.Builder
	b.WriteString("100 UserPromptSubmit\n")
	for _, via := range []string{"", "plugin"} {
		for i := range n {
			fmt.Fprintf(&b, "%d PreToolUse Bash id=%d via=%s\n", 200+i, i, via)
		}
	}
	for range n {
		b.WriteString("400 PermissionRequest Bash via=\n500 PermissionRequest Bash via=plugin\n")
	}
	for i := range n {
		fmt.Fprintf(&b, "%d is permission Bash\n%d PostToolUse Bash id=%d via=\n", 1000+i, 1000+i, i)
	}
	b.WriteString("2000 is working\n")
	return b.String()
}

// A subagent may work in a worktree of its own and in another mode.
func TestSubagentDoesNotSpeakForTheSession(t *testing.T) {
	s := tell(t, `
		100 SessionStart cwd=/p mode=default model=m1
		200 PreToolUse Bash agent=a id=1 cwd=/p/.worktrees/a mode=acceptEdits model=m2`).s
	if s.Cwd != "/p" || s.Mode != "default" || s.Model != "m1" {
		t.Errorf("got %s %s %s", s.Cwd, s.Mode, s.Model)
	}
}

// The model is told by SessionStart alone, which may come late.
func TestLateSessionStartTellsTheModel(t *testing.T) {
	if s := tell(t, "120 UserPromptSubmit\n100 SessionStart model=m1").s; s.Model != "m1" {
		t.Errorf("model %q", s.Model)
	}
}
