package state

// CASES 5 to 8: compaction, /clear, resume, subagents.
var casesOfRuns = []situation{
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

	{"8 a teammate at work", `
		100   UserPromptSubmit
		200   Stop tasks=+mate
		      is working agents=1 shells=0
		5300  look idle@5000
		      is idle done agents=0`},
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
	{"5 a start after a compaction from a sender that tells no source", `
		100   UserPromptSubmit
		200   PreCompact
		      is compacting
		300   SessionStart
		      is working
		400   Stop
		500   SessionStart
		      is idle started`},
}
