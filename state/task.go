package state

import (
	"cmp"

	"beckon/event"
	"beckon/event/intent"
)

// TaskState is the state of a task, a unit of work that one command of the user began.
type TaskState string

// The five task states.
const (
	TaskIdle       TaskState = "idle"           // nothing is asked for
	TaskCommanded  TaskState = "commanded"      // asked for, the agent has not spoken
	TaskProcessing TaskState = "processing"     // the agent is at it
	TaskAwaiting   TaskState = "awaiting_input" // the agent asked, the user has to answer
	TaskComplete   TaskState = "complete"       // over for good: the next command begins a new task
)

// Speaker is the author of a turn that moves a task. The client's own prompts move none.
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
	// ID is the number of the change that opened the task, and the command_id of its turns.
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

// transitions are the rows of the task machine: in state from, a turn of actor with the intent
// leads to state to. Behind the 13 of the specification stand those that really happen besides.
var transitions = [...]struct {
	from   TaskState
	actor  Speaker
	intent Intent
	to     TaskState
}{
	{TaskIdle, SpeakerUser, intent.IntentCommand, TaskCommanded},
	{TaskCommanded, SpeakerAgent, intent.IntentProgress, TaskProcessing},
	{TaskCommanded, SpeakerAgent, intent.IntentQuestion, TaskAwaiting},
	{TaskCommanded, SpeakerAgent, intent.IntentCompletion, TaskComplete},
	{TaskCommanded, SpeakerAgent, intent.IntentEndOfTask, TaskComplete},
	{TaskProcessing, SpeakerAgent, intent.IntentProgress, TaskProcessing},
	{TaskProcessing, SpeakerAgent, intent.IntentQuestion, TaskAwaiting},
	{TaskProcessing, SpeakerAgent, intent.IntentCompletion, TaskComplete},
	{TaskProcessing, SpeakerAgent, intent.IntentEndOfTask, TaskComplete},
	{TaskProcessing, SpeakerUser, intent.IntentAnswer, TaskProcessing},
	{TaskAwaiting, SpeakerUser, intent.IntentAnswer, TaskProcessing},
	{TaskAwaiting, SpeakerAgent, intent.IntentCompletion, TaskComplete},
	{TaskAwaiting, SpeakerAgent, intent.IntentEndOfTask, TaskComplete},

	// The user typed on before the agent spoke, or queued a prompt in the middle of the turn.
	{TaskCommanded, SpeakerUser, intent.IntentCommand, TaskCommanded},
	{TaskProcessing, SpeakerUser, intent.IntentCommand, TaskProcessing},
	// A background agent's second Stop comes while the question waits; its text is kept.
	{TaskAwaiting, SpeakerAgent, intent.IntentQuestion, TaskAwaiting},
	{TaskAwaiting, SpeakerAgent, intent.IntentProgress, TaskAwaiting},
	// The session was running before beckon was installed, or the client prompted it.
	{TaskIdle, SpeakerAgent, intent.IntentProgress, TaskProcessing},
	{TaskIdle, SpeakerAgent, intent.IntentQuestion, TaskAwaiting},
	{TaskIdle, SpeakerAgent, intent.IntentCompletion, TaskComplete},
	{TaskIdle, SpeakerAgent, intent.IntentEndOfTask, TaskComplete},
}

// Transition returns the state to which a turn of actor with intent what takes a task in state
// from, and whether the task accepts it. It is pure and total. A refused transition keeps the
// state; the turn is still worth keeping. The end of a session, a lost process and a Stop close a
// task without asking.
func Transition(from TaskState, actor Speaker, what Intent) (to TaskState, ok bool) {
	for i := range transitions {
		if t := &transitions[i]; t.from == from && t.actor == actor && t.intent == what {
			return t.to, true
		}
	}
	return from, false
}
