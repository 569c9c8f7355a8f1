package state

import (
	"cmp"
	"strings"

	"beckon/event"
	"beckon/event/intent"
)

// MaxTurn is how much of a turn's text is kept, in bytes: the head of a prompt, or the tail of
// the agent's message, which says what the agent wants.
const MaxTurn = 512

// Turn is one thing said in a session: a prompt, a question, an answer, the end of a turn.
// Apply makes turns together with the facts; folding one changes only what the transcript adds.
type Turn struct {
	Command    int64        `json:"command_id,omitempty"` // Task.ID, or 0 if the turn was read too late to know
	Actor      Speaker      `json:"actor,omitempty"`
	Intent     Intent       `json:"intent,omitempty"`
	Confidence int          `json:"confidence,omitempty"` // percent
	Rule       string       `json:"rule,omitempty"`       // of package intent, or one of the Turn constants below
	Text       string       `json:"text,omitempty"`       // at most MaxTurn bytes
	At         event.Millis `json:"timestamp,omitempty"`
	Source     TimeSource   `json:"timestamp_source,omitempty"`
	Task       TaskState    `json:"task,omitempty"`    // the state of its task afterwards
	Refused    string       `json:"refused,omitempty"` // why it did not move its task
}

// TimeSource says which clock a turn's time comes from.
type TimeSource string

// The sources of a turn's time.
const (
	TimeServer     TimeSource = "server" // the hook's
	TimeTranscript TimeSource = "jsonl"  // the transcript entry's own
)

// Rules of turns that are not classified by their text.
const (
	TurnFailure  = "failure"  // StopFailure; the text is its reason
	TurnAnswered = "answered" // the call of a question ended
	TurnProgress = "transcript"
)

// percent converts c, from 0 to 1, to whole percent.
func percent(c float64) int { return int(c*100 + 0.5) }

// say adds a turn of this change and moves the task. The turn is kept even if the task refuses it.
func (f *fold) say(t Turn) {
	t.Refused = f.move(t.Actor, t.Intent)
	f.addTurn(t)
}

// addTurn adds a turn of this change to the task.
func (f *fold) addTurn(t Turn) {
	t.At, t.Source = f.at, TimeServer
	if t.Actor == SpeakerUser {
		t.Text = event.Cut(t.Text, MaxTurn)
	} else {
		t.Text = event.CutTail(t.Text, MaxTurn)
	}
	t.Command = f.s.Task.ID
	f.turns = append(f.turns, t)
}

// move moves the task as a turn of actor with intent what does, and returns why it did not, or
// "". A command that the task refuses closes it and begins the next one.
func (f *fold) move(actor Speaker, what Intent) string {
	t := &f.s.Task
	to, ok := Transition(t.Now(), actor, what)
	if !ok && (what == intent.IntentCommand || t.State == TaskComplete && actor == SpeakerAgent) {
		f.closeTask()
		to, ok = Transition(TaskIdle, actor, what)
	}
	if !ok {
		return "the task is " + string(t.Now())
	}
	if !t.Open() {
		*t = Task{ID: f.seq, Started: f.at}
	}
	t.State = to
	if to == TaskComplete {
		t.Ended = f.at
	}
	return ""
}

// closeTask ends the task in any state.
func (f *fold) closeTask() {
	if t := &f.s.Task; t.Open() {
		t.State, t.Ended = TaskComplete, f.at
	}
}

// prompted adds the user's turn for a prompt. fresh means that nothing ran when it came.
func (f *fold) prompted(e *event.Event, fresh bool) {
	t := &f.s.Task
	_, text := asked(f.view())
	switch awaits := t.State == TaskAwaiting; {
	case awaits && text: // the prompt is the answer
	case fresh:
		f.closeTask() // an interruption that no hook reported cut the open task off
	case awaits:
		f.move(SpeakerUser, intent.IntentAnswer) // the dialog is gone, so the turn goes on
	}
	r := intent.OfPrompt(e.Prompt, t.State == TaskAwaiting, t.State == TaskProcessing)
	f.say(Turn{Actor: SpeakerUser, Intent: r.Intent, Confidence: percent(r.Confidence), Rule: r.Name, Text: e.Prompt})
}

// asks counts a call that begins to wait for the user, and adds the agent's turn.
func (f *fold) asks(c *Call) {
	if c.Kind == WaitPermission {
		f.s.Counts.Permissions++
	} else {
		f.s.Counts.Questions++
	}
	if !c.waiting() {
		return
	}
	text := c.Summary
	if c.Ask != nil && len(c.Ask.Questions) > 0 {
		var all []string
		for _, q := range c.Ask.Questions {
			all = append(all, q.Text)
		}
		text = strings.Join(all, " | ")
	}
	f.say(Turn{Actor: SpeakerAgent, Intent: intent.IntentQuestion, Confidence: 100, Rule: string(c.Kind), Text: text})
}

// answered adds the user's turn when a call that asked ends. A permission is not worth a turn.
func (f *fold) answered(c *Call, e *event.Event) {
	text := e.Answer
	switch {
	case c.Asked == 0 || c.Kind == WaitPermission || e.Kind == event.PostToolUseFailure:
		return
	case e.Kind == event.ElicitationResult:
		text = e.Reason
	case c.Kind == WaitPlan:
		text = "plan approved"
	}
	if f.s.Task.State == TaskAwaiting {
		f.say(Turn{Actor: SpeakerUser, Intent: intent.IntentAnswer, Confidence: 100, Rule: TurnAnswered, Text: text})
	}
}

// stopped adds the agent's turn for a Stop. While something of the session still runs or asks,
// the message does not close the task.
func (f *fold) stopped(e *event.Event) {
	if e.Message == "" && e.Meaning == nil {
		return
	}
	m := Means(e)
	t := Turn{Actor: SpeakerAgent, Intent: Intent(m.Intent), Confidence: m.Confidence, Rule: m.Rule, Text: e.Message}
	over := f.view().turn().State
	if f.s.Task.Open() && over != Idle && t.Intent != intent.IntentQuestion {
		f.addTurn(t)
		return
	}
	f.say(t)
}

// FinalWords makes a turn from the final message in a transcript, for a Stop that came without
// one (Session.Wordless).
func (s *Session) FinalWords(text string, at event.Millis) Turn {
	m := Means(&event.Event{Message: text, Background: s.Stop.Background})
	return Turn{Actor: SpeakerAgent, Intent: Intent(m.Intent), Confidence: m.Confidence, Rule: m.Rule,
		Text: event.CutTail(text, MaxTurn), At: at, Source: TimeTranscript}
}

// Wordless reports whether the session's newest turn ended in a Stop without a message, and
// the transcript is not known to have none either. Not every sender passes the message on.
func (s *Session) Wordless() bool {
	main, p := s.Main(), &s.Stop
	return p.At != 0 && p.Intent == "" && main.How == EndStop && main.Ended == p.At && !main.running() &&
		s.Saw(FromTranscript, SawNothing) < p.At
}

// finalWords sets the message of a Stop that came without one. If it is a question, it opens the task again.
func (f *fold) finalWords(t *Turn) {
	p := &f.s.Stop
	if !f.s.Wordless() {
		return
	}
	p.Message, p.Intent, p.Confidence, p.Rule = t.Text, t.Intent, t.Confidence, t.Rule
	if t.Intent != intent.IntentQuestion {
		return
	}
	// The kept tail may lack the sentence that asks.
	p.Question = event.Cut(cmp.Or(intent.OfMessage(t.Text, false).Question, LastLine(t.Text)), event.MaxQuestion)
	if k := &f.s.Task; k.State == TaskComplete && k.Ended == p.At {
		k.State, k.Ended = TaskAwaiting, 0
	}
}

// foldTurn folds the journal line of a turn.
func (f *fold) foldTurn(t *Turn) {
	if t.Source != TimeTranscript {
		return
	}
	f.s.Progress = max(f.s.Progress, t.At)
	if t.Rule != TurnProgress {
		f.finalWords(t)
		return
	}
	if f.s.Task.State == TaskCommanded && t.At >= f.s.Task.Started {
		f.move(SpeakerAgent, intent.IntentProgress)
	}
}

func (f *fold) view() view { return view{s: &f.s, ev: &Evidence{}, now: f.at} }

// settle moves the task to what the facts say, through Transition if possible. So Esc,
// approvals and the client's own prompts move it too, and no Stop leaves it processing.
func (f *fold) settle(acted bool) {
	t := &f.s.Task
	if f.s.End.At != 0 || f.s.Lost.At != 0 {
		f.closeTask()
		return
	}
	v := f.view()
	_, text := asked(v)
	switch v.turn().State {
	case Permission, Question:
		if t.State != TaskAwaiting {
			f.move(SpeakerAgent, intent.IntentQuestion)
		}
	case Working:
		switch {
		case t.State == TaskAwaiting && !text:
			f.move(SpeakerUser, intent.IntentAnswer)
		case t.State == TaskCommanded && acted, !t.Open():
			f.move(SpeakerAgent, intent.IntentProgress)
		}
	case Idle, Failed:
		f.closeTask()
	}
}

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

// Transition returns the state to which a turn of actor with intent what takes a task in state from, and
// whether the task accepts it. It is pure and total. A refused transition keeps the state; the turn is still
// worth keeping. The end of a session, a lost process and a Stop close a task without asking.
func Transition(from TaskState, actor Speaker, what Intent) (to TaskState, ok bool) {
	for i := range transitions {
		if t := &transitions[i]; t.from == from && t.actor == actor && t.intent == what {
			return t.to, true
		}
	}
	return from, false
}
