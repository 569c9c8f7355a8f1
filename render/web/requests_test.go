package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/render/web/access"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/request/pin"

	"github.com/tidwall/gjson"
)

const (
	asksToRun = `{"session_id":"s1","cwd":"/p","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make\nmake install"},` +
		`"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`
	asksTwo = `{"session_id":"s1","cwd":"/p","hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[` +
		`{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]},` +
		`{"question":"Which fruits?","multiSelect":true,"options":[{"label":"Apple"},{"label":"Pear"},{"label":"Plum"}]}]}}`
)

// offerIn makes an offer at which this process waits.
func (x *site) offerIn(kind request.Kind, payload string) request.Request {
	x.T.Helper()
	here := evidence.ThisMachine()
	self, ok := evidence.Process(os.Getpid(), here)
	if !ok {
		x.T.Skip("processes cannot be read here")
	}
	at := event.MillisOf(time.Now())
	o := request.Request{Kind: kind, Event: "PermissionRequest", Record: "s1", Session: "s1", Host: here.Host, Made: at, Expires: at + 60_000, Waiter: self, Client: self, Payload: []byte(payload)}
	o.Tool = gjson.Get(payload, "tool_name").String()
	if err := request.In(x.st.Dir).Make(&o, time.Now()); err != nil {
		x.T.Fatal(err)
	}
	return o
}

// closes closes an answered offer as its process would, and returns the answer, whose words
// are not kept.
func (x *site) closes(id, why string) <-chan request.Answer {
	d, given := request.In(x.st.Dir), make(chan request.Answer, 1)
	go func() {
		defer close(given)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if a, ok := d.Answered(id); ok {
				d.Close(id, why)
				given <- a
				return
			}
		}
	}()
	return given
}

// shownTo returns what the page gets about an offer.
func (x *site) shownTo(session, id string) (o oneRequest) {
	x.T.Helper()
	r := x.Get("/api/offers/"+id, withKey(session))
	if r.Status != http.StatusOK {
		x.T.Fatalf("the offer: %d %s", r.Status, r.Body)
	}
	r.Into(x.T, &o)
	return o
}

// says answers an offer as the page that drew it does.
func (x *site) says(session string, o offered, more string) response {
	x.T.Helper()
	return x.Do("POST", "/api/offers/"+o.ID, fmt.Sprintf(`{"digest":%q,"drawn":%q,%s}`, o.Digest, o.Drawn, more), withKey(session))
}

func code(t testing.TB, r response) string {
	t.Helper()
	var b access.Body
	r.Into(t, &b)
	return fmt.Sprintf("%d %s", r.Status, b.Error.Code)
}

func seesProcesses(t *testing.T) {
	t.Helper()
	switch runtime.GOOS {
	case "linux", "darwin":
	default:
		t.Skip("whose program asks is not told here")
	}
}

// A browser's session answers, and a program with a token for that: no other can, even with the
// owner's token.
func TestWhoMayAnswer(t *testing.T) {
	seesProcesses(t)
	x := serve(t, Options{Token: testToken, User: "kim"})
	o := x.offerIn(request.Permission, asksToRun)
	for name, headers := range map[string][]string{
		"the token": nil, "the token, in a browser": {browserAgent, "Sec-Fetch-Site: same-origin"}, "a token to read": {withKey(access.ScopedToken(testToken, "read"))},
	} {
		for path, body := range map[string]string{"/api/offers/" + o.ID: `{"digest":"` + o.Digest + `","word":"deny"}`, "/api/away": `{}`, "/api/sessions/s1/stop": ``} {
			if r := x.Do("POST", path, body, headers...); code(t, r) != "403 no_answers" {
				t.Errorf("%s, %s: %s", name, path, code(t, r))
			}
		}
		var list requestList
		x.Get("/api/offers", headers...).Into(t, &list)
		if len(list.Requests) != 1 || list.From != "" || list.Why == "" || list.Requests[0].Card.Lines[1].Text != "make install" {
			t.Errorf("%s: listed %+v", name, list)
		}
	}
	if r := x.Do("POST", "/api/offers/"+o.ID, `{}`, noKey); code(t, r) != "401 unauthorized" {
		t.Errorf("without a token: %s", code(t, r))
	}
	session := x.SignIn(x.loginCode())
	if r := x.Do("POST", "/api/offers/"+o.ID, `{}`, withKey(session), "Sec-Fetch-Site: cross-site"); code(t, r) != "403 foreign_origin" {
		t.Errorf("from another site: %s", code(t, r))
	}
	seen := x.shownTo(session, o.ID)
	if seen.From != request.Remote { // this is not a browser, so it may ask for anybody
		t.Errorf("answers come from %q: %s", seen.From, seen.Why)
	}
	if r := x.says(session, seen.Request, `"word":"allow","always":1`); code(t, r) != "403 always_elsewhere" {
		t.Errorf("always, from elsewhere: %s", code(t, r))
	}
	given := x.closes(o.ID, "")
	if r := x.says(session, seen.Request, `"word":"deny","message":"not now"`); r.Status != http.StatusOK || r.Field(t, "taken") != "true" {
		t.Errorf("in a session: %d %s", r.Status, r.Body)
	}
	if a := <-given; a.By != "kim" || a.From != request.Remote || a.Message != "not now" {
		t.Errorf("answered %+v", a)
	}
	if _, err := os.Stat(filepath.Join(x.st.Dir, "offers", "away")); err == nil {
		t.Error("somebody went away")
	}
	o = x.offerIn(request.Permission, asksToRun)
	program := access.ScopedToken(testToken, "answer")
	seen = x.shownTo(program, o.ID)
	given = x.closes(o.ID, "")
	if r := x.says(program, seen.Request, `"word":"allow"`); r.Status != http.StatusOK || r.Field(t, "taken") != "true" {
		t.Errorf("a program with a token for it: %d %s", r.Status, r.Body)
	}
	if a := <-given; a.Word != request.Allow || a.From != request.Remote {
		t.Errorf("answered %+v", a)
	}
}

// asEnv makes the test binary post an answer; childEnv makes its child do it.
const (
	asEnv    = "BECKON_WEB_TEST_AS"
	childEnv = "BECKON_WEB_TEST_CHILD"
)

// postAs has a program of that name, or its child, post an answer.
func (x *site) postAs(name string, child bool, session, path, body string) (out string) {
	x.T.Helper()
	self, err := os.Executable()
	if err != nil {
		x.T.Fatal(err)
	}
	prog := filepath.Join(x.T.TempDir(), name)
	if err := os.Link(self, prog); err != nil {
		b, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(prog, b, 0o755)
		}
		if err != nil {
			x.T.Fatal(err)
		}
	}
	cmd := exec.Command(prog, "-test.run=^TestPostAs$")
	cmd.Env = append(os.Environ(), anotherEnv+"=-", asEnv+"="+strings.Join([]string{x.URL, session, path, body}, "\x1f"))
	if child {
		cmd.Env = append(cmd.Env, childEnv+"=1")
	}
	b, err := cmd.CombinedOutput()
	if err != nil {
		x.T.Fatalf("%v\n%s", err, b)
	}
	for line := range strings.Lines(string(b)) {
		if said, ok := strings.CutPrefix(line, anotherSays); ok {
			return strings.TrimSpace(said)
		}
	}
	x.T.Fatalf("it said nothing: %s", b)
	return ""
}

// TestPostAs is what postAs runs.
func TestPostAs(t *testing.T) {
	what := os.Getenv(asEnv)
	if what == "" {
		t.Skip("other tests run this")
	}
	if os.Getenv(childEnv) != "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestPostAs$")
		cmd.Env = append(os.Environ(), childEnv+"=")
		out, err := cmd.CombinedOutput()
		fmt.Printf("%s\n", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	p := strings.Split(what, "\x1f")
	x := &site{client: client{T: t, Key: testToken, URL: p[0]}}
	r := x.Do("POST", p[2], p[3], withKey(p[1]))
	fmt.Printf("%s%d %s\n", anotherSays, r.Status, strings.TrimSpace(r.Body))
}

// What an agent's client started cannot answer, even with a session; a browser on this machine
// may allow always.
func TestAgentsProgramDoesNotAnswer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names of processes are those of their files on Linux")
	}
	x := serve(t, Options{Token: testToken, User: "kim"})
	session := x.SignIn(x.loginCode())
	o := x.shownTo(session, x.offerIn(request.Permission, asksToRun).ID).Request
	body := fmt.Sprintf(`{"digest":%q,"drawn":%q,"word":"allow","always":1}`, o.Digest, o.Drawn)
	for _, name := range []string{"claude", "2.1.330", "codex"} {
		for _, child := range []bool{false, true} {
			for path, body := range map[string]string{"/api/offers/" + o.ID: body, "/api/away": `{}`} {
				if got := x.postAs(name, child, session, path, body); !strings.HasPrefix(got, "403 ") || !strings.Contains(got, "agents_program") {
					t.Errorf("%s, its child %t, %s: %s", name, child, path, got)
				}
			}
		}
	}
	if list, err := request.In(x.st.Dir).List(time.Now()); err != nil || len(list) != 1 {
		t.Fatalf("open: %v, %v", list, err)
	}
	given := x.closes(o.ID, "")
	if got := x.postAs("chromium", false, session, "/api/offers/"+o.ID, body); got != `200 {"taken":true}` {
		t.Errorf("a browser: %s", got)
	}
	if a := <-given; a.From != request.Page || a.Always != 1 {
		t.Errorf("answered %+v", a)
	}
}

// Nor can it by another address of this machine than loopback, where only other machines come
// from elsewhere.
func TestAgentsProgramByAnotherAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names of processes are those of their files on Linux")
	}
	x := serveOn(t, listenBeyond(t), Options{Token: testToken, User: "kim"})
	key := access.ScopedToken(testToken, "answer")
	o := x.shownTo(key, x.offerIn(request.Permission, asksToRun).ID).Request
	body := fmt.Sprintf(`{"digest":%q,"drawn":%q,"word":"allow"}`, o.Digest, o.Drawn)
	for _, child := range []bool{false, true} {
		got := x.postAs("claude", child, key, "/api/offers/"+o.ID, body)
		if !strings.HasPrefix(got, "403 ") || !strings.Contains(got, "agents_program") {
			t.Errorf("its child %t: %s", child, got)
		}
	}
	given := x.closes(o.ID, "")
	if got := x.postAs("program", false, key, "/api/offers/"+o.ID, body); got != `200 {"taken":true}` {
		t.Errorf("a program: %s", got)
	}
	if a := <-given; a.From != request.Remote {
		t.Errorf("answered %+v", a)
	}
}

// listenBeyond listens at an address of this machine that others reach.
func listenBeyond(t *testing.T) net.Listener {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || p.Addr().IsLoopback() || !p.Addr().IsGlobalUnicast() {
			continue
		}
		if l, err := access.Listen(netip.AddrPortFrom(p.Addr(), 0).String()); err == nil {
			return l
		}
	}
	t.Skip("this machine has no address in a network")
	return nil
}

// Each way in which an answer can fail has its own status, and gives the reason.
func TestAnswersThatDoNotCount(t *testing.T) {
	seesProcesses(t)
	x := serve(t, Options{Token: testToken, User: "kim"})
	session := x.SignIn(x.loginCode())
	d := request.In(x.st.Dir)
	file := filepath.Join(t.TempDir(), "a.txt")
	writes := fmt.Sprintf(`{"session_id":"s1","hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{"file_path":%q,"content":"new\n"}}`, file)

	nobody := strings.Repeat("A", 26)
	if r := x.Do("POST", "/api/offers/"+nobody, `{"digest":"x","word":"deny"}`, withKey(session)); code(t, r) != "404 no_such_offer" {
		t.Errorf("no offer: %s", code(t, r))
	}
	o := x.shownTo(session, x.offerIn(request.Permission, asksToRun).ID).Request
	for body, want := range map[string]string{
		`{"digest":"x","word":"deny"}`:                                                     "412 changed",
		`{"digest":"` + o.Digest + `","word":"allow"}`:                                     "412 changed",
		`{"digest":"` + o.Digest + `","drawn":"` + o.Drawn + `","word":"accept"}`:          "400 bad_answer",
		`{"digest":"` + o.Digest + `","word":"say","message":"x"}`:                         "400 bad_answer",
		`{"digest":"` + o.Digest + `","word":"deny","from":"terminal"}`:                    "400 bad_body",
		`{"digest":"` + o.Digest + `","word":"deny","message":"` + zerosOf(66_000) + `"}`:  "400 bad_answer",
		`{"digest":"` + o.Digest + `","word":"deny","message":"` + zerosOf(300_000) + `"}`: "413 bad_body",
		`{`: "400 bad_body",
	} {
		if r := x.Do("POST", "/api/offers/"+o.ID, body, withKey(session)); code(t, r) != want {
			t.Errorf("%.80s: %s, want %s", body, code(t, r), want)
		}
	}
	if err := d.Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal, By: "ada"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	r := x.says(session, o, `"word":"deny"`)
	var taken struct {
		access.Body
		Answered givenBy `json:"answered"`
	}
	r.Into(t, &taken)
	if r.Status != http.StatusConflict || taken.Answered != (givenBy{Word: request.Allow, By: "ada", From: request.Terminal}) || !strings.Contains(taken.Error.Message, "ada from terminal") {
		t.Errorf("second: %d %s", r.Status, r.Body)
	}
	d.Close(o.ID, "")
	if r := x.says(session, o, `"word":"deny"`); code(t, r) != "409 taken" {
		t.Errorf("and once it is over: %s", code(t, r))
	}

	o = x.shownTo(session, x.offerIn(request.Permission, asksToRun).ID).Request
	d.Close(o.ID, "it was answered at the session")
	if r := x.says(session, o, `"word":"deny"`); code(t, r) != "410 over" || !strings.Contains(r.Body, "answered at the session") {
		t.Errorf("over: %d %s", r.Status, r.Body)
	}

	// What is shown depends on the existing file.
	o = x.shownTo(session, x.offerIn(request.Permission, writes).ID).Request
	if err := os.WriteFile(file, []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := x.says(session, o, `"word":"allow"`); code(t, r) != "412 changed" {
		t.Errorf("another diff than was drawn: %s", code(t, r))
	}

	o = x.shownTo(session, x.offerIn(request.Permission, `{"tool_name":"Bash","tool_input":{"command":"a","command":"b"}}`).ID).Request
	if r := x.says(session, o, `"word":"allow"`); code(t, r) != "403 not_whole" {
		t.Errorf("not whole: %s", code(t, r))
	}
}

func zerosOf(n int) string { return strings.Repeat("0", n) }

// Questions are answered by number, in words, or by both.
func TestAnswersToQuestions(t *testing.T) {
	seesProcesses(t)
	x := serve(t, Options{Token: testToken})
	session := x.SignIn(x.loginCode())
	for choices, want := range map[string]string{
		`[{"options":[2]},{"options":[1,3]}]`:             `{"Which colour?":"Blue","Which fruits?":"Apple, Plum"}`,
		`[{"text":"green"},{"options":[2],"text":"fig"}]`: `{"Which colour?":"green","Which fruits?":"Pear, fig"}`,
		`[{"options":[1,2]},{"options":[1]}]`:             "400 bad_answer",
		`[{"options":[3]},{"options":[1]}]`:               "400 bad_answer",
		`[{"options":[1]}]`:                               "400 bad_answer",
		`[{"options":[1]},{}]`:                            "400 bad_answer",
	} {
		o := x.shownTo(session, x.offerIn(request.Question, asksTwo).ID).Request
		given := x.closes(o.ID, "")
		r := x.says(session, o, `"word":"allow","choices":`+choices)
		got := ""
		if r.Status == http.StatusOK {
			b, _ := json.Marshal((<-given).Choices)
			got = string(b)
		} else {
			got = code(t, r)
			_ = request.In(x.st.Dir).Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Deny, From: request.Terminal}, time.Now())
			<-given // and the offer is closed before the next one
		}
		if got != want {
			t.Errorf("%s: %s, want %s", choices, got, want)
		}
	}
}

// told is what a stream tells of an offer.
type told struct {
	ID, Digest, Record string
	Answered           *givenBy
}

// The stream reports offers as they appear and disappear, and a snapshot has the open ones.
func TestOffersInTheStream(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	s := x.stream("/events")
	o := x.offerIn(request.Permission, asksToRun)
	var came told
	heardOf(s, "offer_created", 1, &came)
	if came.ID != o.ID || came.Digest != o.Digest || came.Record != "s1" {
		t.Errorf("came %+v", came)
	}
	late := x.stream("/events")
	var list struct{ Offers []told }
	heardOf(late, "snapshot", 1, &list)
	if len(list.Offers) != 1 || list.Offers[0] != came {
		t.Errorf("a snapshot has %+v", list.Offers)
	}
	if err := request.In(x.st.Dir).Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Deny, From: request.Terminal, By: "ada"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	request.In(x.st.Dir).Close(o.ID, "")
	var end told
	heardOf(late, "offer_ended", 1, &end)
	if end.ID != o.ID || end.Answered == nil || *end.Answered != (givenBy{Word: request.Deny, By: "ada", From: request.Terminal}) {
		t.Errorf("ended %+v", end)
	}
	session := x.SignIn(x.loginCode())
	for i, body := range []string{`{"until":"2h"}`, `{"off":true}`} {
		if r := x.Do("POST", "/api/away", body, withKey(session)); r.Status != http.StatusOK {
			t.Errorf("away %s: %d %s", body, r.Status, r.Body)
		}
		var news struct{ Away *away }
		heardOf(s, "away", i+1, &news)
		if (news.Away == nil) != strings.Contains(body, "off") {
			t.Errorf("after %s: %+v", body, news.Away)
		}
	}
}

// heardOf waits for the nth event of that name and decodes it.
func heardOf(s *stream, name string, n int, v any) {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		had := 0
		for _, h := range s.events() {
			if h.name != name {
				continue
			}
			if had++; had == n {
				if err := json.Unmarshal([]byte(h.data), v); err != nil {
					s.t.Fatal(err)
				}
				return
			}
		}
	}
	s.t.Fatalf("no %s number %d came in 20 s", name, n)
}

// With a PIN an answer and a reply take it, and what is given is signed.
func TestAnswerWithPIN(t *testing.T) {
	seesProcesses(t)
	x := serve(t, Options{Token: testToken, User: "kim"})
	d := request.In(x.st.Dir)
	if err := pin.Set(d, "47 11"); err != nil {
		t.Fatal(err)
	}
	session := x.SignIn(x.loginCode())
	open := x.offerIn(request.Permission, asksToRun)
	o := x.shownTo(session, open.ID).Request
	for body, want := range map[string]string{`"word":"allow"`: "403 pin", `"word":"deny"`: "403 pin", `"word":"allow","pin":"47 12"`: "403 wrong_pin"} {
		if r := x.says(session, o, body); code(t, r) != want {
			t.Errorf("%s: %s", body, code(t, r))
		}
	}
	if r := x.Do("POST", "/api/offers/"+o.ID, `{"digest":"`+o.Digest+`","word":"deny"}`, withKey(access.ScopedToken(testToken, "answer"))); code(t, r) != "403 pin" {
		t.Errorf("a program with a token: %s", code(t, r))
	}
	given := x.closes(o.ID, "")
	if r := x.says(session, o, `"word":"allow","pin":"47 11"`); r.Status != http.StatusOK || r.Field(t, "taken") != "true" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if a := <-given; d.Verify(&open, &a) != nil {
		t.Errorf("given unsigned: %+v", a)
	}
}
