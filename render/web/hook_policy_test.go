package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event/policy/wire"
	"beckon/state"

	"golang.org/x/sync/semaphore"
)

// judge is a policy for tests.
type judge struct {
	ask    func(context.Context, Question) ([]byte, error)
	answer func(context.Context, Question) []byte
	note   func()
}

func (j judge) Ask(ctx context.Context, q Question) ([]byte, error) { return j.ask(ctx, q) }
func (j judge) Answer(ctx context.Context, q Question) ([]byte, func()) {
	note := j.note
	if note == nil {
		note = func() {}
	}
	if j.answer == nil {
		return nil, note
	}
	return j.answer(ctx, q), note
}

const (
	question = `{"version":"1.0","event":{"id":"1","type":"PreToolUse","session_id":"s"},"data":{}}`
	allowed  = `{"version":"1.0","decision":"allow"}`
)

// A question of protocol 1.0 goes to the policy and is not an event; its errors are reported
// in that protocol's form.
func TestProtocol(t *testing.T) {
	var got Question
	for _, closed := range []bool{false, true} {
		x := serve(t, Options{Closed: closed, Policy: judge{ask: func(_ context.Context, q Question) ([]byte, error) {
			got = q
			return []byte(allowed), nil
		}}})
		r := x.Do("POST", "/hook", question, "Beckon-Hops: 2")
		if r.Status != http.StatusOK || r.Body != allowed || string(got.Body) != question || got.Hops != 2 {
			t.Errorf("answer %d %s to %+v", r.Status, r.Body, got)
		}
		if r := x.Get("/api/sessions?all=true"); strings.Contains(r.Body, "session_id") {
			t.Errorf("the question was folded: %s", r.Body)
		}
	}
	x := serve(t, Options{Policy: judge{ask: func(context.Context, Question) ([]byte, error) { return nil, errors.New("what is that") }}})
	if r := x.Do("POST", "/hook", question); r.Status != http.StatusBadRequest || r.Field(t, "message") != "what is that" {
		t.Errorf("a bad question: %d %s", r.Status, r.Body)
	}
}

// The owner's question is never answered with a stranger's answer.
func TestQuestionOfAnother(t *testing.T) {
	needsPeers(t)
	x := serve(t, Options{Token: testToken, Policy: judge{ask: func(_ context.Context, q Question) ([]byte, error) {
		return fmt.Appendf(nil, "%t %d", q.Foreign, q.Hops), nil
	}}})
	for _, tt := range []struct {
		want    string
		headers []string
	}{
		{"true 0", []string{withKey(testToken), "X-Forwarded-For: 192.0.2.7"}},
		{"false 0", nil},
		{"false 1", []string{wire.HopsHeader + ": 1"}},
	} {
		if r := x.Do("POST", "/hook", question, tt.headers...); r.Body != tt.want {
			t.Errorf("%v: %s, want %s", tt.headers, r.Body, tt.want)
		}
	}
}

// full reports whether all places of l are taken.
func full(l *semaphore.Weighted) bool {
	if l.TryAcquire(1) {
		l.Release(1)
		return false
	}
	return true
}

// A question for which there is no room is answered without running anything, and may be
// repeated.
func TestQuestionWithoutRoom(t *testing.T) {
	t.Parallel()
	x := serve(t, Options{Policy: judge{ask: func(_ context.Context, q Question) ([]byte, error) {
		return fmt.Appendf(nil, `{"busy":%v}`, q.Busy), nil
	}}})
	if !x.s.deciding.TryAcquire(maxDeciding) {
		t.Fatal("there is no room from the first")
	}
	if r := x.Do("POST", "/hook", question); r.Body != `{"busy":true}` {
		t.Errorf("without room: %d %s", r.Status, r.Body)
	}
	x.s.deciding.Release(1)
	if r := x.Do("POST", "/hook", question); r.Body != `{"busy":false}` {
		t.Errorf("with room: %d %s", r.Status, r.Body)
	}
}

// The policy answers the client's http hook; the payload is folded, unless a policy passes it
// on.
func TestPolicyAnswersPayload(t *testing.T) {
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	var got Question
	x := serve(t, Options{Policy: judge{answer: func(_ context.Context, q Question) []byte {
		got = q
		if strings.Contains(string(q.Body), "rm -rf") {
			return []byte(deny)
		}
		return nil
	}}})
	payload := func(session, command string) string {
		return fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":%q}}`, session, command)
	}
	if r := x.post("/hook", payload("s", "ls")); r.Body != "{}\n" {
		t.Errorf("silence is %q", r.Body)
	}
	if r := x.post("/hook?agent=claude-code", payload("s", "rm -rf /")); r.Body != deny || got.Agent != "claude-code" {
		t.Errorf("refusal: %q, %+v", r.Body, got)
	}
	if x.row("s").State != state.Working {
		t.Errorf("the event was not folded: %+v", x.row("s"))
	}
	if r := x.Do("POST", "/hook", payload("handed", "rm -rf /"), "Beckon-Hops: 1"); r.Body != deny || got.Hops != 1 {
		t.Errorf("handed on: %q, %+v", r.Body, got)
	}
	if r := x.Get("/api/sessions/handed"); r.Status != http.StatusNotFound {
		t.Errorf("what was handed on is folded: %s", r.Body)
	}
	x.post("/hook", `{"agent":"claude-code","event":"PreToolUse","hookInput":{"session_id":"e","tool_name":"Bash"}}`)
	if strings.Contains(string(got.Body), `"e"`) {
		t.Error("the unified envelope went to the policy")
	}
}

// Slow policies block neither events nor the server's shutdown.
func TestSlowPolicy(t *testing.T) {
	t.Parallel()
	x := serve(t, Options{Policy: judge{
		answer: func(ctx context.Context, q Question) []byte {
			if q.Busy {
				return []byte(`{"busy":true}`)
			}
			<-ctx.Done()
			return nil
		},
		ask: func(ctx context.Context, q Question) ([]byte, error) {
			if q.Busy {
				return []byte(allowed), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	post := func(body string) {
		req, _ := http.NewRequestWithContext(ctx, "POST", x.URL+"/hook", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}
	var wait sync.WaitGroup
	for i := range 2 * maxNoting {
		wait.Go(func() { post(fmt.Sprintf(`{"session_id":"p%d","hook_event_name":"UserPromptSubmit","prompt":"x"}`, i)) })
	}
	for i := range 2 * maxDeciding {
		wait.Go(func() { post(strings.Replace(question, `"1"`, fmt.Sprintf(`"q%d"`, i), 1)) })
	}
	x.Until("as many ask as may", func() bool { return full(x.s.noting) && full(x.s.deciding) })
	x.Until("all were folded", func() bool { return strings.Count(x.Get("/api/sessions").Body, `"session_id"`) == 2*maxNoting })
	start := time.Now()
	x.post("/hook", `{"agent":"claude-code","event":"Stop","hookInput":{"session_id":"e"}}`)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("an event waited for %v", took)
	}
	if r := x.Do("POST", "/hook", `{"session_id":"p0","hook_event_name":"Notification","message":"x"}`); r.Body != `{"busy":true}` {
		t.Errorf("one more: %d %s", r.Status, r.Body)
	}
	if err := x.stop(); err != nil {
		t.Errorf("closing: %v", err)
	}
	wait.Wait()
}

// Events that ask nothing, however many, take no question's place.
func TestQuestionsHaveTheirOwnPlaces(t *testing.T) {
	x := serve(t, Options{Policy: judge{answer: func(ctx context.Context, q Question) []byte {
		if strings.Contains(string(q.Body), "PreToolUse") {
			return []byte(`{"asked":true}`)
		}
		<-ctx.Done()
		return nil
	}}})
	var wait sync.WaitGroup
	defer wait.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := range 3 * maxNoting {
		wait.Go(func() {
			req := x.Request("POST", "/hook", fmt.Sprintf(`{"session_id":"p%d","hook_event_name":"PostToolUse","tool_name":"Bash"}`, i)).WithContext(ctx)
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		})
	}
	x.Until("all places are taken", func() bool { return full(x.s.noting) })
	start := time.Now()
	if r := x.post("/hook", `{"session_id":"q","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`); r.Body != `{"asked":true}` || time.Since(start) > policyWait {
		t.Errorf("%s after %v", r.Body, time.Since(start))
	}
}
