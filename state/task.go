package state

// TaskState is where a task stands: a unit of work that one command of the
// user began. Each turn carries the state of its task (seed 001; DESIGN.md
// section 3 sets it beside the session's states).
type TaskState string

// The five task states.
const (
	TaskIdle       TaskState = "idle"           // nothing is asked for
	TaskCommanded  TaskState = "commanded"      // asked for, the agent has not spoken
	TaskProcessing TaskState = "processing"     // the agent is at it
	TaskAwaiting   TaskState = "awaiting_input" // the agent asked, the user has to answer
	TaskComplete   TaskState = "complete"       // over for good: the next command begins a new task
)

// Speaker is whose turn it is that moves a task. The client's own prompts
// (CASE 9) are nobody's and move nothing.
type Speaker string

// The speakers.
const (
	SpeakerUser  Speaker = "user"
	SpeakerAgent Speaker = "agent"
)

// Intent is what a turn means. Command and answer are the user's, the others
// the agent's.
type Intent string

// The intents.
const (
	IntentCommand    Intent = "command"
	IntentAnswer     Intent = "answer"
	IntentQuestion   Intent = "question"
	IntentProgress   Intent = "progress"
	IntentCompletion Intent = "completion"
	IntentEndOfTask  Intent = "end_of_task"
)

// Result is the outcome of one Transition.
type Result struct {
	To TaskState // the state it was in, when refused
	OK bool
	// Reason says why the transition was refused, or which rule beyond the 13
	// rows let it pass; empty for the 13. The texts are constants, fit to be
	// shown and compared.
	Reason string
}

// Reasons of refusals.
const (
	ReasonNewTask   = "a new task is due"
	ReasonComplete  = "the task is complete"
	ReasonUnasked   = "nothing was asked"
	ReasonAgentOnly = "only the agent says that"
	ReasonUserOnly  = "only the user says that"
	ReasonUnknown   = "not a task state, speaker or intent known here"
)

// Reasons of what passes by keptStates.
const (
	ReasonFollowUp   = "the command was added to before the agent spoke"
	ReasonQueued     = "the prompt joins the open task"
	ReasonStillAsked = "the question still stands"
	ReasonUncalled   = "the agent works without a command"
)

// transition is one row of a table: in state from, a turn of actor that means
// intent leads to state to.
type transition struct {
	from   TaskState
	actor  Speaker
	intent Intent
	to     TaskState
	reason string
}

// transitions are the 13 rows of seed 001, in its order.
var transitions = [...]transition{
	{TaskIdle, SpeakerUser, IntentCommand, TaskCommanded, ""},
	{TaskCommanded, SpeakerAgent, IntentProgress, TaskProcessing, ""},
	{TaskCommanded, SpeakerAgent, IntentQuestion, TaskAwaiting, ""},
	{TaskCommanded, SpeakerAgent, IntentCompletion, TaskComplete, ""},
	{TaskCommanded, SpeakerAgent, IntentEndOfTask, TaskComplete, ""},
	{TaskProcessing, SpeakerAgent, IntentProgress, TaskProcessing, ""},
	{TaskProcessing, SpeakerAgent, IntentQuestion, TaskAwaiting, ""},
	{TaskProcessing, SpeakerAgent, IntentCompletion, TaskComplete, ""},
	{TaskProcessing, SpeakerAgent, IntentEndOfTask, TaskComplete, ""},
	{TaskProcessing, SpeakerUser, IntentAnswer, TaskProcessing, ""},
	{TaskAwaiting, SpeakerUser, IntentAnswer, TaskProcessing, ""},
	{TaskAwaiting, SpeakerAgent, IntentCompletion, TaskComplete, ""},
	{TaskAwaiting, SpeakerAgent, IntentEndOfTask, TaskComplete, ""},
}

// keptStates is consulted when transitions has no row. All eight DEV rows of
// CASES part II 3.2 are here, for each of them really happens:
//
//   - A further command keeps the task it falls into: the user typed on before
//     the agent spoke, or queued a prompt in the middle of the turn (CASE 12).
//   - What the agent says beside its open question does not answer it: a
//     background agent's second Stop comes while the question waits, and to
//     refuse it once lost the agent's text.
//   - An agent that speaks with no command opens the task itself: its session
//     was running before beckon was installed, or the client prompted it (the
//     end of background work, CASE 9).
var keptStates = [...]transition{
	{TaskCommanded, SpeakerUser, IntentCommand, TaskCommanded, ReasonFollowUp},
	{TaskProcessing, SpeakerUser, IntentCommand, TaskProcessing, ReasonQueued},
	{TaskAwaiting, SpeakerAgent, IntentQuestion, TaskAwaiting, ReasonStillAsked},
	{TaskAwaiting, SpeakerAgent, IntentProgress, TaskAwaiting, ReasonStillAsked},
	{TaskIdle, SpeakerAgent, IntentProgress, TaskProcessing, ReasonUncalled},
	{TaskIdle, SpeakerAgent, IntentQuestion, TaskAwaiting, ReasonUncalled},
	{TaskIdle, SpeakerAgent, IntentCompletion, TaskComplete, ReasonUncalled},
	{TaskIdle, SpeakerAgent, IntentEndOfTask, TaskComplete, ReasonUncalled},
}

// Transition says where a turn of actor that means intent takes a task in
// state from: the 13 rows of seed 001, then the kept states of CASES part II
// 3.2. It is pure and total.
//
// A refused transition keeps the state, and is no reason to drop the turn:
// save its text first, then ask (CASES part II 3.2, LESSON). Nor does it bind
// whoever must be able to close a task whatever was said: the end of a
// session, a lost process, a Stop (CASES part II 3.8: every Stop ends
// processing one way or the other).
func Transition(from TaskState, actor Speaker, intent Intent) Result {
	for _, table := range [...][]transition{transitions[:], keptStates[:]} {
		for _, t := range table {
			if t.from == from && t.actor == actor && t.intent == intent {
				return Result{To: t.to, OK: true, Reason: t.reason}
			}
		}
	}
	return Result{To: from, Reason: refusal(from, actor, intent)}
}

// refusal says why a transition that no table has is refused.
func refusal(from TaskState, actor Speaker, intent Intent) string {
	usersWord := intent == IntentCommand || intent == IntentAnswer
	switch {
	case !knownState(from) || !knownIntent(intent) || actor != SpeakerUser && actor != SpeakerAgent:
		return ReasonUnknown
	case from == TaskComplete:
		return ReasonComplete
	case actor == SpeakerUser && !usersWord:
		return ReasonAgentOnly
	case actor == SpeakerAgent && usersWord:
		return ReasonUserOnly
	case intent == IntentAnswer:
		return ReasonUnasked
	}
	return ReasonNewTask // the one pair left: a command while a question waits
}

func knownState(s TaskState) bool {
	switch s {
	case TaskIdle, TaskCommanded, TaskProcessing, TaskAwaiting, TaskComplete:
		return true
	}
	return false
}

func knownIntent(i Intent) bool {
	switch i {
	case IntentCommand, IntentAnswer, IntentQuestion, IntentProgress, IntentCompletion, IntentEndOfTask:
		return true
	}
	return false
}
