package web

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
	"beckon/state/live"
)

// rows returns the listed rows, as SESSION STATE.
func (x *site) rows() string {
	x.T.Helper()
	var l render.List
	x.Get("/api/sessions").Into(x.T, &l)
	var all []string
	for _, r := range l.Sessions {
		all = append(all, r.SessionID+" "+string(r.State))
	}
	return strings.Join(all, ", ")
}

func (x *site) lists(want string) {
	x.T.Helper()
	got := ""
	for range 500 {
		if got = x.rows(); got == want && x.listedHere() == want {
			return
		}
	}
	x.T.Fatalf("the API lists %q, list %q, want %q", got, x.listedHere(), want)
}

// listedHere returns what `list` shows for the same files.
func (x *site) listedHere() string {
	x.T.Helper()
	snap, err := live.NewReader(x.st, x.s.o.Registry).Look(false)
	if err != nil {
		x.T.Fatal(err)
	}
	var all []string
	for _, r := range render.Rows(snap.Seen, false) {
		all = append(all, r.SessionID+" "+string(r.State))
	}
	return strings.Join(all, ", ")
}

// envelope posts an event in the hook server's envelope; more is further members of hookInput,
// each preceded by a comma.
func (x *site) envelope(event, terminal, session, more string) {
	x.T.Helper()
	id := ""
	if session != "" {
		id = `"session_id":"` + session + `"`
	} else {
		more = strings.TrimPrefix(more, ",")
	}
	time.Sleep(2 * time.Millisecond) // events of one millisecond have no order
	x.post("/hook", `{"agent":"claude-code","event":"`+event+`","terminal":{"sessionId":"`+terminal+`","cwd":"/tmp"},"hookInput":{`+id+more+`}}`)
}

// The hook server's own two examples, then a second session in the same terminal, then a
// permission whose sender does not name the session: the waiting one is on top throughout.
func TestSeveralSessionsInOneTerminal(t *testing.T) {
	x := serve(t, Options{})
	for _, script := range []string{curlStart, curlStop} {
		if got := x.curl(script, "http://localhost:7483"); got != `{"status":"ok"}` {
			t.Fatalf("answer %s", got)
		}
	}
	x.lists("abc123 idle")
	x.envelope("SessionStart", "test123", "def456", "")
	x.envelope("UserPromptSubmit", "test123", "def456", `,"prompt":"go"`)
	x.lists("def456 working")
	x.envelope("PermissionRequest", "test123", "", `,"tool_name":"Bash"`)
	x.lists("def456 permission")
	x.envelope("PreToolUse", "test123", "abc123", `,"tool_name":"Read"`) // the first works on at the same time
	x.lists("def456 permission")
	x.envelope("PostToolUse", "test123", "", `,"tool_name":"Bash"`) // about the open call, not the session that acted last
	x.lists("def456 working")
	x.envelope("Stop", "test123", "abc123", "")
	x.lists("abc123 idle")
	x.envelope("SessionEnd", "test123", "", "")
	x.lists("def456 working")
	x.envelope("SessionEnd", "test123", "", "")
	x.lists("")
	x.envelope("PostToolUse", "test123", "", `,"tool_name":"Bash"`) // late: nothing comes back
	x.lists("")
	x.envelope("UserPromptSubmit", "test123", "", `,"prompt":"anybody?"`)
	x.lists("at:test123 working")
	x.envelope("SessionStart", "test123", "ghi789", "") // now it has a name
	x.lists("ghi789 idle")
	x.envelope("SessionEnd", "test123", "ghi789", "")
	x.lists("")
}

// OpenCode runs its subagents as separate sessions in the same terminal.
func TestChildSessionDoesNotHideItsParent(t *testing.T) {
	x := serve(t, Options{})
	send := func(event, session, more string) {
		time.Sleep(2 * time.Millisecond) // of two sessions the one heard last is shown, to the millisecond
		x.post("/hook", `{"agent":"opencode","event":"`+event+`","terminal":{"sessionId":"t1"},"hookInput":{"properties":{"sessionID":"`+session+`"`+more+`}}}`)
	}
	send("chat.message", "parent", "")
	send("permission.asked", "parent", `,"permission":"bash","metadata":{"command":"make"}`)
	x.post("/hook", `{"agent":"opencode","event":"session.created","terminal":{"sessionId":"t1"},"hookInput":{"properties":{"info":{"id":"child"}}}}`)
	send("chat.message", "child", "")
	x.lists("parent permission")
	send("permission.replied", "parent", "")
	send("tool.execute.before", "child", `,"tool":"read","callID":"c1"`)
	x.lists("child working")
	send("permission.asked", "child", `,"permission":"edit","metadata":{}`)
	x.lists("child permission")
}

// What an envelope omits stays, even when a session starts again.
func TestUnchangedEnvelopeKeepsThePlace(t *testing.T) {
	x := serve(t, Options{})
	body := func(event, more string) string {
		return `{"agent":"claude-code","event":"` + event + `","hookInput":{"session_id":"s"}` + more + `}`
	}
	whole := `,"remoteHost":"build7","terminal":{"sessionId":"3","cwd":"/srv/shop","terminalType":"kitty"},"tmux":{"pane":"%4","sessionName":"work"},"git":{"branch":"main","repo":"shop"}`
	place := func() string {
		r := x.row("s")
		if r.Git == nil || r.Tmux == nil {
			return "none"
		}
		return strings.Join([]string{r.Host, r.Git.Branch, r.Git.Repo, r.Tmux.Pane, r.Tmux.Session, r.Pane.Kind, r.Cwd}, " ")
	}
	x.post("/hook", body("SessionStart", whole))
	want := place()
	if want != "build7 main shop %4 work  /srv/shop" {
		t.Fatalf("at first %q", want)
	}
	seat := x.row("s").SeatID
	for _, again := range []string{whole, "", `,"terminal":{"cwd":"/srv/shop"}`} {
		for _, name := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionStart"} {
			x.post("/hook", body(name, again))
			if got := place(); got != want || x.row("s").SeatID != seat {
				t.Errorf("after %s with %q: %q, want %q", name, again, got, want)
			}
		}
	}
	// The session really moves: to another pane, out of tmux, to another terminal program.
	x.post("/hook", body("UserPromptSubmit", `,"tmux":{"pane":"%9"}`))
	if r := x.row("s"); r.Tmux == nil || r.Tmux.Pane != "%9" || r.Host != "build7" {
		t.Errorf("moved to %+v on %s", r.Tmux, r.Host)
	}
	x.post("/hook", body("Stop", `,"terminal":{"sessionId":"w0t1p0:XYZ"}`))
	if r := x.row("s"); r.Terminal == nil || r.Terminal.Kind != "iterm2" || r.Terminal.ID != "w0t1p0:XYZ" {
		t.Errorf("moved to %+v", r.Terminal)
	}
	// Another host than this one is learned late, and never forgotten.
	x.post("/hook", `{"event":"SessionStart","hookInput":{"session_id":"late"}}`)
	x.post("/hook", `{"event":"Stop","remoteHost":"build8","hookInput":{"session_id":"late"}}`)
	x.post("/hook", `{"event":"SessionStart","hookInput":{"session_id":"late"}}`)
	if r := x.row("late"); r.Host != "build8" || r.Process != nil {
		t.Errorf("late: %+v", r)
	}
}

// An event that only mentions a session creates no row; one of the session itself does.
func TestWhatSaysNothingMakesNoRow(t *testing.T) {
	x := serve(t, Options{})
	for _, name := range []string{"SubagentStop", "Notification", "CwdChanged", "SomethingNew", "TaskCompleted"} {
		x.post("/hook", `{"event":"`+name+`","hookInput":{"session_id":"`+name+`","agent_id":"a"}}`)
	}
	x.lists("")
	if got := x.row("SubagentStop"); got.State != state.Idle { // known, if asked for by id
		t.Errorf("%+v", got)
	}
	x.envelope("UserPromptSubmit", "t", "Notification", `,"prompt":"go"`)
	x.lists("Notification working")
}

// say appends an agent's message to a transcript, as the client writes it.
func say(t *testing.T, path, text, more string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if _, err := fmt.Fprintf(f, `{"type":"assistant","uuid":"%d","timestamp":"%s","message":{"role":"assistant","content":[{"type":"text","text":%q}%s]}}`+"\n", time.Now().UnixNano(), at, text, more); err != nil {
		t.Fatal(err)
	}
}

// The tracker's script passes on neither ids nor the last message: the end of the transcript
// says how the turn ended, whether it is written by the time of the Stop or a moment later.
func TestQuestionAtAStopOfTheScript(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("late=%v", late), func(t *testing.T) {
			t.Parallel()
			x := serve(t, Options{})
			s := x.stream("/events")
			path := filepath.Join(t.TempDir(), "t.jsonl")
			send := func(name, more string) string {
				return x.post("/hook/"+name, `{"session_id":"s","working_directory":"/tmp","transcript_path":"`+path+`","tmux_session":"work","tmux_pane":"%1"`+more+`}`).Body
			}
			send("session-start", "")
			send("user-prompt-submit", `,"prompt":"plaster the wall"`)
			time.Sleep(2 * time.Millisecond)
			say(t, path, "I look at the wall first.", `,{"type":"tool_use","id":"1","name":"AskUserQuestion","input":{}}`)
			input := `"questions":[{"question":"North or south?","options":[{"label":"North"},{"label":"South"}]}]`
			send("pre-tool-use", `,"tool_name":"AskUserQuestion","tool_input":{`+input+`}`)
			send("permission-request", `,"tool_name":"AskUserQuestion","tool_input":{`+input+`}`)
			x.lists("s question")
			if got := send("post-tool-use", `,"tool_name":"AskUserQuestion","tool_input":{`+input+`,"answers":{"North or south?":"North"}}`); !strings.Contains(got, `"new_state":"processing"`) {
				t.Errorf("answered: %s", got)
			}
			x.lists("s working")
			question := "The north wall is plastered. Which colour should I paint it?"
			if !late {
				say(t, path, question, "")
			}
			send("stop", "")
			if late {
				x.lists("s idle")
				say(t, path, question, "")
			}
			s.await("turn_created", func(m map[string]any) bool {
				return m["actor"] == "agent" && m["intent"] == "question" && m["text"] == question
			})
			x.lists("s question")
			if r := x.row("s"); r.Question == nil || r.Question.Text != "Which colour should I paint it?" || r.Turn.Task != state.TaskAwaiting {
				t.Errorf("%+v, %+v", r.Question, r.Turn)
			}
			send("user-prompt-submit", `,"prompt":"white"`)
			s.await("turn_created", func(m map[string]any) bool { return m["intent"] == "answer" && m["text"] == "white" })
			time.Sleep(2 * time.Millisecond)
			say(t, path, "It is white now. All done.", "")
			send("stop", "")
			x.lists("s idle")
		})
	}
}

// A transcript on another machine has a path of that machine.
func TestTranscriptOfAnotherHostIsNotRead(t *testing.T) {
	x := serve(t, Options{})
	path := filepath.Join(t.TempDir(), "t.jsonl")
	for _, name := range []string{"UserPromptSubmit", "Stop"} {
		x.post("/hook", `{"event":"`+name+`","remoteHost":"build7","hookInput":{"session_id":"s","prompt":"go","transcript_path":"`+path+`"}}`)
		time.Sleep(2 * time.Millisecond)
		say(t, path, "Which colour should I paint it?", "")
	}
	x.lists("s idle")
}

// An agent's progress is reported within two seconds of the next call, while transcripts are
// reconciled once a minute.
func TestProgressIsToldAtOnce(t *testing.T) {
	t.Parallel()
	x := serve(t, Options{})
	x.Until("the first reconciliation is over", func() bool { return x.sweeps() > 0 })
	s := x.stream("/events")
	path := filepath.Join(t.TempDir(), "t.jsonl")
	x.post("/hook/user-prompt-submit", `{"session_id":"s","cwd":"/tmp","transcript_path":"`+path+`","prompt":"build it"}`)
	command := ""
	s.await("turn_created", func(m map[string]any) bool { command, _ = m["command_id"].(string); return m["intent"] == "command" })
	for i, late := range []time.Duration{0, 300 * time.Millisecond} {
		text := fmt.Sprintf("I am looking at Makefile number %d.", i)
		write := func() { say(t, path, text, `,{"type":"tool_use","id":"1","name":"Bash","input":{}}`) }
		if late == 0 {
			write()
		}
		began := time.Now()
		x.post("/hook/pre-tool-use", `{"session_id":"s","tool_name":"Bash"}`)
		if late > 0 {
			time.Sleep(late)
			write()
		}
		h := s.await("turn_created", func(m map[string]any) bool { return m["intent"] == "progress" && m["text"] == text })
		took := time.Since(began)
		t.Logf("after %v", took)
		var turn map[string]any
		if err := json.Unmarshal([]byte(h.data), &turn); err != nil || turn["command_id"] != command || command == "" {
			t.Errorf("command %v, want %s", turn["command_id"], command)
		}
		if took > 10*time.Second { // a machine that stalls is no failure; the next minute is
			t.Errorf("told after %v", took)
		}
	}
}

// The hook of a client that does not send the message reads it itself, before any view looks.
func TestHookReadsTheFinalMessage(t *testing.T) {
	x := serve(t, Options{})
	path := filepath.Join(t.TempDir(), "t.jsonl")
	common := `{"session_id":"s","cwd":"/tmp","transcript_path":"` + path + `",`
	x.hook(common + `"hook_event_name":"UserPromptSubmit","prompt":"go"}`)
	time.Sleep(2 * time.Millisecond)
	say(t, path, "Which colour should I paint it?", "")
	x.hook(common + `"hook_event_name":"Stop"}`)
	days, err := filepath.Glob(filepath.Join(x.st.Dir, "history", "*.jsonl"))
	var data []byte
	for _, day := range days {
		b, _ := os.ReadFile(day)
		data = append(data, b...)
	}
	if err != nil || strings.Count(string(data), `"intent":"question"`) != 1 || !strings.Contains(string(data), `"message":"Which colour`) {
		t.Errorf("%s, %v", data, err)
	}
}

// What changes with time alone is reported in time: here the board looks at everything only
// once an hour.
func TestTimeChangesAreToldInTime(t *testing.T) {
	t.Parallel()
	x := serve(t, Options{Timing: Timing{Recheck: time.Hour}})
	x.envelope("SessionStart", "t", "s", "")
	x.post("/hook", `{"event":"SessionEnd","hookInput":{"session_id":"s","reason":"clear"}}`)
	x.lists("s idle") // its successor comes within a moment, or not at all
	began := time.Now()
	x.Until("it has ended", func() bool { return x.rows() == "" })
	t.Logf("after %v", time.Since(began))
	x.envelope("UserPromptSubmit", "t", "a", `,"prompt":"go"`)
	x.post("/hook", `{"event":"SubagentStart","hookInput":{"session_id":"a","agent_id":"x"}}`)
	x.envelope("Stop", "t", "a", "")
	time.Sleep(2 * time.Millisecond) // events of one millisecond have no order
	x.post("/hook", `{"event":"SubagentStop","hookInput":{"session_id":"a","agent_id":"x"}}`)
	x.lists("a working") // the client takes up the subagent's result, or does not
	x.Until("it is idle", func() bool { return x.rows() == "a idle" })
}
