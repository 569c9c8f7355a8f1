package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/hook"
	"beckon/event"
	"beckon/event/recording"
	"beckon/render/web"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/store"
)

// sender is a way in which events reach beckon: it returns the path to post to and the body,
// with exactly the members that its protocol has, and whether it has the event at all.
type sender struct {
	name string
	post func(e payload) (path string, body map[string]any, ok bool)
}

// payload is what the client gave its hook, with an existing transcript.
type payload map[string]any

// only returns the members of p that names lists, under their other names.
func (p payload) only(names map[string]string) map[string]any {
	out := map[string]any{}
	for from, to := range names {
		if v, ok := p[from]; ok {
			out[to] = v
		}
	}
	return out
}

// senders are those with documented protocols: the client's own http hooks, the hook server's
// envelope, as its document shows it, and the tracker's script.
var senders = []sender{
	{"client", func(p payload) (string, map[string]any, bool) { return "/hook", p, true }},
	{"envelope", func(p payload) (string, map[string]any, bool) {
		name := p["hook_event_name"]
		switch name {
		case "SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreToolUse", "PostToolUse", "PostToolUseFailure",
			"PermissionRequest", "SubagentStart", "SubagentStop", "PreCompact":
		default:
			return "", nil, false
		}
		return "/hook", map[string]any{
			"agent": "claude-code", "event": name,
			"terminal":  map[string]any{"sessionId": "w0t0p0:RECORDING", "cwd": p["cwd"]},
			"hookInput": p.only(map[string]string{"session_id": "session_id", "transcript_path": "transcript_path", "tool_name": "tool_name"}),
		}, true
	}},
	{"endpoints", func(p payload) (string, map[string]any, bool) {
		paths := map[any]string{
			"SessionStart": "session-start", "SessionEnd": "session-end", "UserPromptSubmit": "user-prompt-submit", "Stop": "stop",
			"Notification": "notification", "PreToolUse": "pre-tool-use", "PostToolUse": "post-tool-use", "PermissionRequest": "permission-request",
		}
		path, ok := paths[p["hook_event_name"]]
		return "/hook/" + path, p.only(map[string]string{
			"session_id": "session_id", "cwd": "working_directory", "transcript_path": "transcript_path", "prompt": "prompt",
			"message": "message", "title": "title", "notification_type": "notification_type", "tool_name": "tool_name", "tool_input": "tool_input",
		}), ok
	}},
}

// Every recording of the real client is played through the hook and, event by event, through
// senders that know less: after each event every session has the same state, or short gives
// the reason why it cannot.
func TestSendersAgreeWithTheHook(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "recordings", "*", "*.jsonl"))
	if err != nil || len(files) < 90 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	used := map[string]int{}
	compared := 0
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) { compared += play(t, file, used) })
	}
	if compared < 1000 {
		t.Errorf("only %d states were compared", compared)
	}
	for _, s := range short {
		if used[s.key()] == 0 {
			t.Errorf("%s: no recording shows it any more", s.key())
		}
	}
}

// shortfall is where a sender cannot report what the hook reports, because it lacks a member
// or an event: the session's state then, and the reason.
type shortfall struct {
	sender, recording string // the recordings' names, joined by spaces
	hook, sends       string // as stateOf has it
	why               string
}

func (s shortfall) key() string { return s.sender + " " + s.recording + " " + s.hook }

var short = []shortfall{
	{"envelope", "auth badreq overload", "failed", "working", "no StopFailure"},
	{"endpoints", "auth badreq overload", "failed", "working", "no StopFailure"},
	{"endpoints", "compact compact_idle", "compacting", "idle", "no PreCompact"},
	{"endpoints", "compact_mid", "compacting", "working", "no PreCompact"},
	{"endpoints", "compact_mid", "working", "idle", "no source: a start after a compaction, of which nothing was told either, looks like any other"},
	{"envelope", "clear", "idle", "ended", "no reason: an end that has a successor looks like any other"},
	{"endpoints", "clear", "idle", "ended", "no reason: an end that has a successor looks like any other"},
	{"envelope", "sub subbg subperm subperm_busy subperm_esc", "working", "idle", "no background_tasks: a turn is over though its subagents work on"},
	{"endpoints", "sub subbg subperm subperm_busy subperm_esc", "working", "idle", "no background_tasks: a turn is over though its subagents work on"},
	{"envelope", "subperm_esc", "working", "permission Write", "no agent_id: the end of a subagent does not say whose dialog is gone"},
	{"endpoints", "subperm_esc", "working", "permission Write", "no agent_id: the end of a subagent does not say whose dialog is gone"},
}

// play plays a recording and returns how many states it compared.
func play(t *testing.T, file string, used map[string]int) (compared int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := recording.Read(f)
	_ = f.Close()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
	own := store.Open(filepath.Join(t.TempDir(), "state"))
	var sites []site
	for _, s := range senders {
		sites = append(sites, serve(t, s))
	}
	transcripts := t.TempDir()
	known := map[string]bool{}
	for i, step := range steps {
		if !step.Hook() {
			continue
		}
		p := payload{}
		if err := json.Unmarshal(step.Payload, &p); err != nil {
			t.Fatal(err)
		}
		id, _ := p["session_id"].(string)
		known[id] = true
		p["transcript_path"] = filepath.Join(transcripts, id+".jsonl")
		say(t, p)
		e, err := event.Parse("", step.Kind, step.Payload)
		if err != nil {
			t.Fatal(err)
		}
		getenv := func(k string) string { return step.Env[k] }
		if _, err := hook.Fold(own, hook.Args{}, &e, getenv, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, x := range sites {
			x.post(t, p)
		}
		time.Sleep(time.Millisecond) // no two events in one millisecond
		now := event.MillisOf(time.Now())
		for id := range known {
			want := stateOf(t, own, id, now)
			for _, x := range sites {
				got := stateOf(t, x.st, id, now)
				compared++
				if got != want && !excused(x.sender.name, name, want, got, used) {
					t.Errorf("line %d, %s %v: by the hook it is %s, by the %s %s", i+1, step.Kind, p["tool_name"], want, x.sender.name, got)
				}
			}
		}
	}
	return compared
}

func excused(sender, recording string, want, got string, used map[string]int) bool {
	for _, s := range short {
		if s.sender == sender && s.hook == want && s.sends == got && strings.Contains(" "+s.recording+" ", " "+recording+" ") {
			used[s.key()]++
			return true
		}
	}
	return false
}

// say writes the final message where the client would.
func say(t *testing.T, p payload) {
	t.Helper()
	text, ok := p["last_assistant_message"].(string)
	if !ok || p["hook_event_name"] != "Stop" {
		return
	}
	line, err := json.Marshal(map[string]any{
		"type": "assistant", "uuid": fmt.Sprint(time.Now().UnixNano()), "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p["transcript_path"].(string), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// stateOf returns a session's state from hooks alone, with the reason if it needs the user;
// empty if the session is unknown.
func stateOf(t *testing.T, st *store.Store, id string, now event.Millis) string {
	t.Helper()
	s, err := st.Load(store.KeyOf(id))
	if err != nil {
		return "none"
	}
	is := state.Resolve(s, state.Evidence{}, now)
	if is.State == state.Permission || is.State == state.Question {
		return string(is.State) + " " + is.Reason
	}
	return string(is.State)
}

// site is a server for one sender.
type site struct {
	sender sender
	st     *store.Store
	url    string
}

func serve(t *testing.T, s sender) site {
	t.Helper()
	l, err := access.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(filepath.Join(t.TempDir(), "state"))
	w := web.New(web.Options{Store: st, Log: func(err error) { t.Error(err) }, Policy: &hook.Served{Store: st, Getenv: func(string) string { return "" }}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return site{s, st, "http://" + l.Addr().String()}
}

func (x *site) post(t *testing.T, p payload) {
	t.Helper()
	path, body, ok := x.sender.post(p)
	if !ok {
		return
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(x.url+path, "application/json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, res.StatusCode, answer)
	}
}
