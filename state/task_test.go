package state

import (
	"testing"

	"beckon/event/intent"
)

// everyTransition lists every state, speaker and intent by hand, with the state it leads to. A
// reason says why it is refused, or accepted although it is none of the 13.
var everyTransition = []struct {
	from   TaskState
	actor  Speaker
	intent Intent
	to     TaskState // empty if refused
	reason string
}{
	{"idle", "user", "command", "commanded", ""},
	{"idle", "user", "answer", "", "nothing was asked"},
	{"idle", "user", "question", "", "only the agent says that"},
	{"idle", "user", "progress", "", "only the agent says that"},
	{"idle", "user", "completion", "", "only the agent says that"},
	{"idle", "user", "end_of_task", "", "only the agent says that"},
	{"idle", "agent", "command", "", "only the user says that"},
	{"idle", "agent", "answer", "", "only the user says that"},
	{"idle", "agent", "question", "awaiting_input", "the agent works without a command"},
	{"idle", "agent", "progress", "processing", "the agent works without a command"},
	{"idle", "agent", "completion", "complete", "the agent works without a command"},
	{"idle", "agent", "end_of_task", "complete", "the agent works without a command"},

	{"commanded", "user", "command", "commanded", "the command was added to before the agent spoke"},
	{"commanded", "user", "answer", "", "nothing was asked"},
	{"commanded", "user", "question", "", "only the agent says that"},
	{"commanded", "user", "progress", "", "only the agent says that"},
	{"commanded", "user", "completion", "", "only the agent says that"},
	{"commanded", "user", "end_of_task", "", "only the agent says that"},
	{"commanded", "agent", "command", "", "only the user says that"},
	{"commanded", "agent", "answer", "", "only the user says that"},
	{"commanded", "agent", "question", "awaiting_input", ""},
	{"commanded", "agent", "progress", "processing", ""},
	{"commanded", "agent", "completion", "complete", ""},
	{"commanded", "agent", "end_of_task", "complete", ""},

	{"processing", "user", "command", "processing", "the prompt joins the open task"},
	{"processing", "user", "answer", "processing", ""},
	{"processing", "user", "question", "", "only the agent says that"},
	{"processing", "user", "progress", "", "only the agent says that"},
	{"processing", "user", "completion", "", "only the agent says that"},
	{"processing", "user", "end_of_task", "", "only the agent says that"},
	{"processing", "agent", "command", "", "only the user says that"},
	{"processing", "agent", "answer", "", "only the user says that"},
	{"processing", "agent", "question", "awaiting_input", ""},
	{"processing", "agent", "progress", "processing", ""},
	{"processing", "agent", "completion", "complete", ""},
	{"processing", "agent", "end_of_task", "complete", ""},

	{"awaiting_input", "user", "command", "", "a new task is due"},
	{"awaiting_input", "user", "answer", "processing", ""},
	{"awaiting_input", "user", "question", "", "only the agent says that"},
	{"awaiting_input", "user", "progress", "", "only the agent says that"},
	{"awaiting_input", "user", "completion", "", "only the agent says that"},
	{"awaiting_input", "user", "end_of_task", "", "only the agent says that"},
	{"awaiting_input", "agent", "command", "", "only the user says that"},
	{"awaiting_input", "agent", "answer", "", "only the user says that"},
	{"awaiting_input", "agent", "question", "awaiting_input", "the question still stands"},
	{"awaiting_input", "agent", "progress", "awaiting_input", "the question still stands"},
	{"awaiting_input", "agent", "completion", "complete", ""},
	{"awaiting_input", "agent", "end_of_task", "complete", ""},

	{"complete", "user", "command", "", "the task is complete"},
	{"complete", "user", "answer", "", "the task is complete"},
	{"complete", "user", "question", "", "the task is complete"},
	{"complete", "user", "progress", "", "the task is complete"},
	{"complete", "user", "completion", "", "the task is complete"},
	{"complete", "user", "end_of_task", "", "the task is complete"},
	{"complete", "agent", "command", "", "the task is complete"},
	{"complete", "agent", "answer", "", "the task is complete"},
	{"complete", "agent", "question", "", "the task is complete"},
	{"complete", "agent", "progress", "", "the task is complete"},
	{"complete", "agent", "completion", "", "the task is complete"},
	{"complete", "agent", "end_of_task", "", "the task is complete"},
}

func TestTransitionEveryPair(t *testing.T) {
	seen := map[[3]string]bool{}
	rows, kept := 0, 0
	for _, tt := range everyTransition {
		seen[[3]string{string(tt.from), string(tt.actor), string(tt.intent)}] = true
		want, accepted := tt.to, tt.to != ""
		if !accepted {
			want = tt.from // a refusal keeps the state
		}
		if to, ok := Transition(tt.from, tt.actor, tt.intent); to != want || ok != accepted {
			t.Errorf("%s, %s says %s: got %s, %v, want %s", tt.from, tt.actor, tt.intent, to, ok, want)
		}
		switch {
		case accepted && tt.reason == "":
			rows++
		case accepted:
			kept++
		}
	}
	if len(seen) != 5*2*6 || len(everyTransition) != len(seen) {
		t.Errorf("the list holds %d lines, %d different; want 60", len(everyTransition), len(seen))
	}
	if rows != 13 || rows+kept != len(transitions) {
		t.Errorf("%d transitions and %d kept states; want 13 of %d", rows, kept, len(transitions))
	}
}

func TestTransitionUnknownWords(t *testing.T) {
	for _, tt := range []struct {
		from   TaskState
		actor  Speaker
		intent Intent
	}{
		{"", SpeakerUser, intent.IntentCommand},
		{"COMPLETE", SpeakerUser, intent.IntentCommand}, // states are lower case
		{TaskComplete, "", intent.IntentCommand},
		{TaskIdle, "client", intent.IntentCommand},
		{TaskIdle, SpeakerUser, ""},
		{TaskAwaiting, SpeakerAgent, "blocked"},
	} {
		if to, ok := Transition(tt.from, tt.actor, tt.intent); ok || to != tt.from {
			t.Errorf("%q, %q says %q: %s", tt.from, tt.actor, tt.intent, to)
		}
	}
}

// A task goes through a turn with a question, and through the two Stops whose text was once
// lost. A refused step changes nothing.
func TestTransitionStory(t *testing.T) {
	s := TaskIdle
	for _, step := range []struct {
		actor  Speaker
		intent Intent
		to     TaskState
		ok     bool
	}{
		{SpeakerUser, intent.IntentCommand, TaskCommanded, true},
		{SpeakerUser, intent.IntentCommand, TaskCommanded, true}, // typed on
		{SpeakerAgent, intent.IntentProgress, TaskProcessing, true},
		{SpeakerUser, intent.IntentCommand, TaskProcessing, true}, // queued
		{SpeakerAgent, intent.IntentQuestion, TaskAwaiting, true},
		{SpeakerAgent, intent.IntentProgress, TaskAwaiting, true}, // a background agent's Stop
		{SpeakerUser, intent.IntentCommand, TaskAwaiting, false},
		{SpeakerUser, intent.IntentAnswer, TaskProcessing, true},
		{SpeakerAgent, intent.IntentCompletion, TaskComplete, true},
		{SpeakerAgent, intent.IntentProgress, TaskComplete, false}, // came late
		{SpeakerUser, intent.IntentCommand, TaskComplete, false},
	} {
		to, ok := Transition(s, step.actor, step.intent)
		if to != step.to || ok != step.ok {
			t.Fatalf("%s, %s says %s: %s", s, step.actor, step.intent, to)
		}
		s = to
	}
}

func TestTransitionAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Transition(TaskAwaiting, SpeakerUser, intent.IntentCommand) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTransition(b *testing.B) {
	for b.Loop() {
		Transition(TaskAwaiting, SpeakerUser, intent.IntentCommand) // refused: both tables are read
	}
}
