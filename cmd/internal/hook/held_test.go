package hook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/run"
	"beckon/event/policy/wire"
	"beckon/render/web"
	"beckon/render/web/access"
	"beckon/state/request"
)

// served is a user's server.
type served struct {
	*user
	url  string
	stop func()
}

func serves(t *testing.T) *served {
	u := newUser(t, "", "")
	l, err := access.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return u.env[name] }
	s := web.New(web.Options{Store: u.store(), Policy: Serve(u.store(), run.Starter{}, getenv)})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &served{u, "http://" + l.Addr().String(), stop}
}

// answer is the response to a post.
type answer struct {
	status int
	body   string
	err    error
}

// post posts an event of a session, and waits for the response.
func (s *served) post(ctx context.Context, query, session string, kind event.Kind, members string) <-chan answer {
	s.Helper()
	body := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q%s}`, session, s.dir, kind, members)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/hook"+query, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	got := make(chan answer, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			got <- answer{err: err}
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		got <- answer{res.StatusCode, strings.TrimSpace(string(b)), err}
	}()
	return got
}

// offers waits until n offers are open.
func (s *served) offers(n int) []request.Request {
	s.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		list, err := request.In(s.store().Dir).List(time.Now())
		if err != nil {
			s.Fatal(err)
		}
		if len(list) == n {
			return list
		}
		if time.Now().After(end) {
			s.Fatalf("%d offers are open, not %d", len(list), n)
		}
	}
}

const aWrite = `,"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/p/a","content":"x"}`

// A posted call is held as long as its sender waits, and ended by what ends one that a hook
// holds.
func TestHeldOverHTTP(t *testing.T) {
	none := answer{http.StatusOK, "{}", nil}
	for name, c := range map[string]struct {
		do    func(s *served, o request.Request)
		want  string
		taken bool
		why   string
	}{
		"allowed": {func(s *served, o request.Request) { s.give(o, request.Allow) }, `"behavior":"allow"`, true, ""},
		"refused": {func(s *served, o request.Request) { s.give(o, request.Deny) }, `"message":"not that"`, true, ""},
		"the policy refuses it by now": {func(s *served, o request.Request) {
			s.write("policy.json", on("PermissionRequest", `{"type":"rule","decision":"deny","reason":"Not any more."}`))
			s.give(o, request.Allow)
		}, "Not any more.", false, "the policy refuses it: "},
		"its call ended": {func(s *served, _ request.Request) {
			if a := <-s.post(s.Context(), "", "s1", event.PostToolUse, aWrite+`,"tool_response":{}`); a != none {
				s.Errorf("%+v", a)
			}
		}, "{}", false, "its call is over"},
		"the session ended": {func(s *served, _ request.Request) { <-s.post(s.Context(), "", "s1", event.SessionEnd, "") }, "{}", false, "the session has ended"},
		"the server stops":  {func(s *served, _ request.Request) { s.stop() }, "the server stops", false, "the server was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serves(t)
			got := s.post(t.Context(), "?wait=600", "s1", event.PermissionRequest, aWrite)
			o := s.offers(1)[0]
			if o.Tool != "Write" || o.UseID != "t1" || o.Host == "" || o.Expires > o.Made+600_000 {
				t.Errorf("offered %+v", o)
			}
			c.do(s, o)
			if a := <-got; a.err != nil || !strings.Contains(a.body, c.want) {
				t.Errorf("answered %+v, want %s", a, c.want)
			}
			out, known := request.In(s.store().Dir).Outcome(o.ID, 5*time.Second)
			if !known || out.Taken != c.taken && c.why == "" || !strings.HasPrefix(out.Why, c.why) || c.why == "" && out.Why != "" {
				t.Errorf("it became %+v, %v", out, known)
			}
		})
	}
}

func (s *served) give(o request.Request, word request.Word) {
	s.Helper()
	a := request.Answer{Request: o.ID, Digest: o.Digest, Word: word, From: request.Terminal}
	if word == request.Deny {
		a.Message = "not that"
	}
	if err := request.In(s.store().Dir).Give(a, time.Now()); err != nil {
		s.Fatal(err)
	}
}

// A sender that disconnects is no longer waited for, and none is held for longer than it
// asked.
func TestHeldOverHTTPEnds(t *testing.T) {
	s := serves(t)
	ctx, leave := context.WithCancel(t.Context())
	s.post(ctx, "?wait=600", "s1", event.PermissionRequest, aWrite)
	o := s.offers(1)[0]
	leave()
	if out, known := request.In(s.store().Dir).Outcome(o.ID, time.Minute); !known || out.Taken || out.Why != "the client gave up the call" {
		t.Errorf("it became %+v, %v", out, known)
	}
	for _, query := range []string{"?wait=2", "", "?wait=0"} {
		if a := <-s.post(t.Context(), query, "s1", event.PermissionRequest, aWrite); a != (answer{http.StatusOK, "{}", nil}) {
			t.Errorf("%s: %+v", query, a)
		}
	}
	for _, query := range []string{"?wait=-1", "?wait=soon", "?wait=86401"} {
		if a := <-s.post(t.Context(), query, "s1", event.PermissionRequest, aWrite); a.status != http.StatusBadRequest {
			t.Errorf("%s: %+v", query, a)
		}
	}
	if a := <-s.post(t.Context(), "?wait=600", "s1", event.PreToolUse, aWrite); a.body != "{}" {
		t.Errorf("what asks nobody: %+v", a)
	}
	if a := <-s.post(t.Context(), "?wait=600", "s1", event.PermissionRequest, aWrite+`,"agent_id":"a1"`); a.body != "{}" {
		t.Errorf("a subagent's, while somebody is there: %+v", a)
	}
	s.offers(0)
}

// Only so many are held; the others are answered at once.
func TestHeldOverHTTPAreBounded(t *testing.T) {
	s := serves(t)
	const most = 64
	var all []<-chan answer
	for i := range most {
		all = append(all, s.post(t.Context(), "?wait=600", fmt.Sprint("s", i), event.PermissionRequest, aWrite))
	}
	s.offers(most)
	if a := <-s.post(t.Context(), "?wait=600", "one-more", event.PermissionRequest, aWrite); a.body != "{}" {
		t.Errorf("one more: %+v", a)
	}
	for _, o := range s.offers(most) {
		s.give(o, request.Allow)
	}
	for _, a := range all {
		if a := <-a; !strings.Contains(a.body, "allow") {
			t.Errorf("answered %+v", a)
		}
	}
	s.offers(0)
}

// A post from elsewhere never chooses the directory in which commands run, whatever the
// server's own environment lacks.
func TestPostedFromElsewhere(t *testing.T) {
	u := newUser(t, "", "")
	payload := fmt.Appendf(nil, `{"session_id":"s","cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":"x"}`, u.dir)
	for _, home := range []string{u.dir, "relative", ""} {
		s := Serve(u.store(), run.Starter{}, func(name string) string { return map[string]string{"HOME": home}[name] })
		f, err := s.invocation(wire.Posted{Foreign: true}, payload)
		if err != nil || !filepath.IsAbs(f.dir) {
			t.Errorf("with the home %q commands run in %q, %v", home, f.dir, err)
		}
	}
}
