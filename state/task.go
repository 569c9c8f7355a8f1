package state

import (
	"cmp"

	"beckon/event"
	"beckon/event/intent"
)

// TaskState is the state of a task, a unit of work that one command of the user began. It is
// independent of the session's state. Each turn carries the state of its task.
type TaskState string

// The five task states.
const (
	TaskIdle       TaskState = "idle"           // nothing is asked for
	TaskCommanded  TaskState = "commanded"      // asked for, the agent has not spoken
	TaskProcessing TaskState = "processing"     // the agent is at it
	TaskAwaiting   TaskState = "awaiting_input" // the agent asked, the user has to answer
	TaskComplete   TaskState = "complete"       // over for good: the next command begins a new task
)

// Speaker is the author of a turn that moves a task. The client's own prompts have no
// speaker and move nothing.
type Speaker string

// The speakers.
const (
	SpeakerUser  Speaker = "user"
	SpeakerAgent Speaker = "agent"
)

// Intent is what a turn means (package intent). Commands and answers come from the user, the
// others from the agent.
type Intent = intent.Intent

// Task is the newest unit of work of a session. Its zero value is idle.
type Task struct {
	// ID is the number of the change that opened the task, and the command_id of its
	// turns.
	ID      int64        `json:"id,omitempty"`
	State   TaskState    `json:"state,omitempty"`
	Started event.Millis `json:"started,omitempty"`
	Ended   event.Millis `json:"ended,omitempty"`
}

// Now returns the task's state, or TaskIdle if there has been no task.
func (t Task) Now() TaskState { return cmp.Or(t.State, TaskIdle) }

// Open reports whether the task is neither idle nor complete.
func (t Task) Open() bool { return t.Now() != TaskIdle && t.State != TaskComplete }

// TaskState returns the state of the session's task to show: a complete task that the user has
// looked at is idle.
func (s *Session) TaskState() TaskState {
	if t := s.Task; t.State != TaskComplete || s.Seen < t.Ended {
		return t.Now()
	}
	return TaskIdle
}

// Result is the outcome of one Transition.
type Result struct {
	To TaskState // the state it was in, when refused
	OK bool
	// Reason says why the transition was refused, or which of keptStates allowed it; it is
	// empty for the 13 rows. The texts are constants, so they can be shown and compared.
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

// Reasons of transitions that keptStates allows.
const (
	ReasonFollowUp   = "the command was added to before the agent spoke"
	ReasonQueued     = "the prompt joins the open task"
	ReasonStillAsked = "the question still stands"
	ReasonUncalled   = "the agent works without a command"
)

// transition is one row of a table: in state from, a turn of actor with the intent leads to
// state to.
type transition struct {
	from   TaskState
	actor  Speaker
	intent Intent
	to     TaskState
	reason string
}

// transitions are the 13 rows of the task machine.
var transitions = [...]transition{
	{TaskIdle, SpeakerUser, intent.IntentCommand, TaskCommanded, ""},
	{TaskCommanded, SpeakerAgent, intent.IntentProgress, TaskProcessing, ""},
	{TaskCommanded, SpeakerAgent, intent.IntentQuestion, TaskAwaiting, ""},
	{TaskCommanded, SpeakerAgent, intent.IntentCompletion, TaskComplete, ""},
	{TaskCommanded, SpeakerAgent, intent.IntentEndOfTask, TaskComplete, ""},
	{TaskProcessing, SpeakerAgent, intent.IntentProgress, TaskProcessing, ""},
	{TaskProcessing, SpeakerAgent, intent.IntentQuestion, TaskAwaiting, ""},
	{TaskProcessing, SpeakerAgent, intent.IntentCompletion, TaskComplete, ""},
	{TaskProcessing, SpeakerAgent, intent.IntentEndOfTask, TaskComplete, ""},
	{TaskProcessing, SpeakerUser, intent.IntentAnswer, TaskProcessing, ""},
	{TaskAwaiting, SpeakerUser, intent.IntentAnswer, TaskProcessing, ""},
	{TaskAwaiting, SpeakerAgent, intent.IntentCompletion, TaskComplete, ""},
	{TaskAwaiting, SpeakerAgent, intent.IntentEndOfTask, TaskComplete, ""},
}

// keptStates is consulted if transitions has no row. Each of these really happens:
//
//   - A further command stays in its task: the user typed on before the agent
//     spoke, or queued a prompt in the middle of the turn.
//   - What the agent says besides its open question does not answer it: a
//     background agent's second Stop comes while the question waits. Refusing
//     that Stop once lost the agent's text.
//   - An agent that speaks without a command opens the task itself: its session
//     was running before beckon was installed, or the client prompted it (at the
//     end of background work).
var keptStates = [...]transition{
	{TaskCommanded, SpeakerUser, intent.IntentCommand, TaskCommanded, ReasonFollowUp},
	{TaskProcessing, SpeakerUser, intent.IntentCommand, TaskProcessing, ReasonQueued},
	{TaskAwaiting, SpeakerAgent, intent.IntentQuestion, TaskAwaiting, ReasonStillAsked},
	{TaskAwaiting, SpeakerAgent, intent.IntentProgress, TaskAwaiting, ReasonStillAsked},
	{TaskIdle, SpeakerAgent, intent.IntentProgress, TaskProcessing, ReasonUncalled},
	{TaskIdle, SpeakerAgent, intent.IntentQuestion, TaskAwaiting, ReasonUncalled},
	{TaskIdle, SpeakerAgent, intent.IntentCompletion, TaskComplete, ReasonUncalled},
	{TaskIdle, SpeakerAgent, intent.IntentEndOfTask, TaskComplete, ReasonUncalled},
}

// Transition returns the state to which a turn of actor with intent what takes a task in state
// from: by the 13 transitions, then by the kept states. It is pure and total.
//
// A refused transition keeps the state. The turn is still worth keeping, so save its text
// first. Some callers must be able to close a task in any state, and need not ask: the end of
// a session, a lost process, a Stop (every Stop ends processing).
func Transition(from TaskState, actor Speaker, what Intent) Result {
	for _, table := range [...][]transition{transitions[:], keptStates[:]} {
		for _, t := range table {
			if t.from == from && t.actor == actor && t.intent == what {
				return Result{To: t.to, OK: true, Reason: t.reason}
			}
		}
	}
	return Result{To: from, Reason: refusal(from, actor, what)}
}

// refusal returns the reason for which a transition that is in neither table is refused.
func refusal(from TaskState, actor Speaker, what Intent) string {
	usersWord := what == intent.IntentCommand || what == intent.IntentAnswer
	switch {
	case !knownState(from) || !knownIntent(what) || actor != SpeakerUser && actor != SpeakerAgent:
		return ReasonUnknown
	case from == TaskComplete:
		return ReasonComplete
	case actor == SpeakerUser && !usersWord:
		return ReasonAgentOnly
	case actor == SpeakerAgent && usersWord:
		return ReasonUserOnly
	case what == intent.IntentAnswer:
		return ReasonUnasked
	}
	return ReasonNewTask // the only case left: a command while a question waits
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
	case intent.IntentCommand, intent.IntentAnswer, intent.IntentQuestion, intent.IntentProgress, intent.IntentCompletion, intent.IntentEndOfTask:
		return true
	}
	return false
}
