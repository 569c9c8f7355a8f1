package state

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/intent"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// turnsGolden holds the turns that a person would write down for each recording. Its sections
// were compared with the recordings one by one. After a change, run with BECKON_UPDATE=1 and
// compare them again.
var turnsGolden = filepath.Join("..", "testdata", "golden", "turns.txtar")

func TestTurnsOfRecordings(t *testing.T) {
	want, err := txtar.ParseFile(turnsGolden)
	if err != nil && os.Getenv("BECKON_UPDATE") == "" {
		t.Fatal(err)
	}
	var got []txtar.File
	for _, tr := range tracks(t) {
		got = append(got, txtar.File{Name: tr.String(), Data: []byte(writtenDown(tr.turns(t)))})
	}
	got = without(got)
	if os.Getenv("BECKON_UPDATE") != "" {
		comment := "The turns of every recording: when (in ms from its start), who, what it means, the task's state\nafterwards, the text. Sections of 2.1.197 are left out where they are those of 2.1.329 but for the times.\n\n"
		if err := os.WriteFile(turnsGolden, txtar.Format(&txtar.Archive{Comment: []byte(comment), Files: got}), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(want.Files) != len(got) {
		t.Errorf("%d sections, want %d", len(got), len(want.Files))
	}
	for i := range min(len(got), len(want.Files)) {
		if got[i].Name != want.Files[i].Name || sansTimes(got[i].Data) != sansTimes(want.Files[i].Data) {
			t.Errorf("%s:\n%swant %s:\n%s", got[i].Name, got[i].Data, want.Files[i].Name, want.Files[i].Data)
		}
	}
}

// without drops the older client's sections that equal the newer client's.
func without(files []txtar.File) []txtar.File {
	newer := map[string]string{}
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name, "2.1.329/"); ok {
			newer[name] = sansTimes(f.Data)
		}
	}
	return slices.DeleteFunc(files, func(f txtar.File) bool {
		name, ok := strings.CutPrefix(f.Name, "2.1.197/")
		return ok && newer[name] == sansTimes(f.Data)
	})
}

func sansTimes(data []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		b.WriteString(strings.TrimSpace(rest) + "\n")
	}
	return b.String()
}

// turns folds a recording for a reader that looks at every step, and returns its turns.
func (tr track) turns(t testing.TB) (all []Turn) {
	p := &player{t: t, tr: tr, evidence: true, said: func(turns []Turn) { all = append(all, turns...) }}
	p.play(nil, func(sight) {})
	return all
}

func writtenDown(turns []Turn) string {
	var b strings.Builder
	for _, t := range turns {
		text, _ := strings.CutPrefix(strings.ReplaceAll(t.Text, "\n", " / "), " ")
		fmt.Fprintf(&b, "%6d %-5s %-11s %-14s %s\n", t.At-turns[0].At, t.Actor, t.Intent, t.Task, text)
	}
	return b.String()
}

// The task's state fits the session's state after every event, in any order of events.
func TestTaskGoesWithState(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		events := all.Draw(t, "events")
		if rapid.Bool().Draw(t, "out of order") {
			events = shuffled(t, events)
		}
		var s Session
		for _, e := range events {
			s = applied(s, e)
			st := Resolve(s, Evidence{}, e.At)
			if !fits(&s, st) {
				t.Fatalf("after %s: %s (%s), and the task is %s", e.Name, st.State, st.Rule, s.Task.Now())
			}
		}
	})
}

func fits(s *Session, st Status) bool {
	switch task := s.Task.Now(); st.State {
	case Permission, Question:
		return task == TaskAwaiting
	case Working:
		_, text := asked(view{s: s, ev: &Evidence{}, now: s.Updated})
		return task == TaskCommanded || task == TaskProcessing || task == TaskAwaiting && text
	case Idle, Failed, Ended:
		return task == TaskComplete || task == TaskIdle
	}
	return true
}

// Every text of the user or the agent becomes a turn, whatever the task's state.
func TestEveryWordIsATurn(t *testing.T) {
	all := streams(t)
	rapid.Check(t, func(t *rapid.T) {
		var s Session
		for _, e := range shuffled(t, all.Draw(t, "events")) {
			var turns []Turn
			s, turns = ApplyTurns(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
			said := e.Kind == event.UserPromptSubmit && !e.FromClient || e.Kind == event.Stop && e.AgentID == "" && e.Message != "" || e.Kind == event.StopFailure && e.AgentID == ""
			if said && len(turns) == 0 && !isCopy(&s, &e) {
				t.Fatalf("%s %q gave no turn", e.Name, e.Prompt+e.Message)
			}
			for _, turn := range turns {
				if len(turn.Text) > MaxTurn || turn.Command == 0 || turn.Command > s.Seq || turn.Task != s.Task.Now() {
					t.Fatalf("after %s: %+v, the task is %+v", e.Name, turn, s.Task)
				}
			}
		}
	})
}

// isCopy reports whether e was dropped as another install's copy.
func isCopy(s *Session, e *event.Event) bool {
	return slices.ContainsFunc(s.Recent, func(r Recent) bool { return r.Sig == signature(e) && r.Via != e.Via && r.Paired })
}

// A prompt while a text question waits is its answer, a prompt after Esc begins a new task,
// and a queued prompt joins the task.
func TestTasksOfPrompts(t *testing.T) {
	at := func(ms event.Millis, e event.Event) event.Event {
		e.At, e.SessionID, e.Name = t0+ms, "s", string(e.Kind)
		return e
	}
	prompt := func(ms event.Millis, id, text string) event.Event {
		return at(ms, event.Event{Kind: event.UserPromptSubmit, PromptID: id, Prompt: text})
	}
	stop := func(ms event.Millis, text string) event.Event {
		return at(ms, event.Event{Kind: event.Stop, Message: text})
	}
	call := at(200, event.Event{Kind: event.PreToolUse, Tool: event.Tool{Name: "Bash", UseID: "c"}})
	for name, c := range map[string]struct {
		events []event.Event
		tasks  int
		state  TaskState
		intent Intent
	}{
		"answer":             {[]event.Event{prompt(100, "1", "do it"), stop(300, "Which one should I use?"), prompt(400, "2", "the first")}, 1, TaskProcessing, intent.IntentAnswer},
		"next":               {[]event.Event{prompt(100, "1", "do it"), stop(300, "Done."), prompt(400, "2", "and that")}, 2, TaskCommanded, intent.IntentCommand},
		"queued":             {[]event.Event{prompt(100, "1", "do it"), call, prompt(400, "1", "and that")}, 1, TaskProcessing, intent.IntentCommand},
		"approved by a word": {[]event.Event{prompt(100, "1", "do it"), call, prompt(400, "1", "yes")}, 1, TaskProcessing, intent.IntentAnswer},
		"cut off unseen":     {[]event.Event{prompt(100, "1", "do it"), call, prompt(400, "2", "rather that")}, 2, TaskCommanded, intent.IntentCommand},
	} {
		t.Run(name, func(t *testing.T) {
			var s Session
			ids := map[int64]bool{}
			var last Turn
			for _, e := range c.events {
				var turns []Turn
				s, turns = ApplyTurns(s, Change{Seq: s.Seq + 1, At: e.At, Event: &e})
				for _, turn := range turns {
					ids[turn.Command], last = true, turn
				}
			}
			if len(ids) != c.tasks || s.Task.State != c.state || last.Intent != c.intent {
				t.Errorf("%d tasks, %s after %s; want %d, %s after %s", len(ids), s.Task.State, last.Intent, c.tasks, c.state, c.intent)
			}
		})
	}
}

// A turn keeps the tail of a message, which may not hold the sentence that asks. Its last line
// then stands for the question.
func TestFinalWordsQuestionBeforeAList(t *testing.T) {
	list := strings.Repeat("- rows of one customer\n", 40)
	turn := (&Session{}).FinalWords("Shall I drop the table now? It holds:\n\n"+list, 1950)
	var s Session
	for _, c := range []Change{
		{At: 1000, Event: &event.Event{Kind: event.SessionStart, SessionID: "s1", At: 1000}},
		{At: 1500, Event: &event.Event{Kind: event.UserPromptSubmit, SessionID: "s1", At: 1500, Prompt: "go"}},
		{At: 1900, Event: &event.Event{Kind: event.Stop, SessionID: "s1", At: 1900}},
		{At: 1950, Turn: &turn},
	} {
		c.Seq = s.Seq + 1
		s = Apply(s, c)
	}
	if s.Stop.Intent != intent.IntentQuestion || s.Stop.Question != "- rows of one customer" {
		t.Fatalf("intent %q, question %q; want a question with the last line of what is kept", s.Stop.Intent, s.Stop.Question)
	}
}

// A message about the agent's own work in the background asks nobody, in any language; one that
// names the reader does.
func TestWaitsForItsOwnWork(t *testing.T) {
	for message, want := range map[string]State{
		"I'll wait for the agent's completion notification before I touch any file.":           Idle,
		"Waiting for the background build to finish before I continue.":                        Idle,
		"Ich warte, bis der Build fertig ist, bevor ich weitermache.":                          Idle,
		"J'attends que les tests se terminent.":                                                Idle,
		"Espero a que termine la compilación antes de continuar.":                              Idle,
		"Não altero nada agora: aguardo o fim dos testes em segundo plano antes de continuar.": Idle,
		"测试正在后台运行，等它跑完我再继续。":                                                                   Idle,
		"テストの完了を待って、続けます。":                                                                     Idle,
		"Waiting for your approval before I continue.":                                         Question,
		"The build runs. Shall I deploy when it is done?":                                      Question,
	} {
		e := event.Event{Kind: event.Stop, Name: "Stop", At: t0 + 10, Message: message, HasBackground: true,
			Background: []event.Task{{ID: "b1", Type: "shell", Status: "running"}}}
		s := applyAll([]event.Event{{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", At: t0}, e})
		if got := Resolve(s, Evidence{}, t0+20); got.State != want {
			t.Errorf("%q: %s, want %s", message, got.State, want)
		}
	}
}

// A change that is folded late does not make a session look older.
func TestUpdatedNeverMovesBack(t *testing.T) {
	s := applyAll([]event.Event{{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", At: t0 + 500}})
	s = Apply(s, Change{At: t0 + 100, Observation: &Observed{Source: FromMod, What: SawLoaded, At: t0 + 100}})
	if s.Updated != t0+500 {
		t.Errorf("updated at %d, want 500", s.Updated-t0)
	}
}

// The final words of a turn, read twice, count once: the second reading does not bring back a
// question that the user has answered.
func TestFinalWordsCountOnce(t *testing.T) {
	stop := event.Event{Kind: event.Stop, Name: "Stop", At: t0 + 10}
	s := applyAll([]event.Event{{Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", At: t0}, stop})
	words := s.FinalWords("Shall I drop the table?", t0+9)
	s = Apply(s, Change{At: t0 + 20, Turn: &words})
	if got := Resolve(s, Evidence{}, t0+20); got.State != Question {
		t.Fatalf("after the words: %s", got.State)
	}
	other := s.FinalWords("Which one?", t0+9)
	if again := Apply(s, Change{At: t0 + 20, Turn: &other}); again.Stop.Message != s.Stop.Message || again.Stop.Question != s.Stop.Question || again.Task != s.Task {
		t.Errorf("folded twice: %+v, was %+v", again.Stop, s.Stop)
	}
}
