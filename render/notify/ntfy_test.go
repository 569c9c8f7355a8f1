package notify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/request"
	"beckon/testdata/ntfytest"
)

// phone is a channel to a server, with short delays.
type phone struct {
	*Phone
	server *ntfytest.Server
	mu     sync.Mutex
	logged []string
}

func newPhone(t *testing.T) *phone {
	s := ntfytest.Start(t)
	p := &phone{server: s}
	p.Phone = &Phone{Reach: alert.Reach{Texts: alert.TextsTool, Topic: s.URL + "/asks", Answers: "answers"}, pause: 10 * time.Millisecond, Log: func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.logged = append(p.logged, err.Error())
	}}
	return p
}

// saw waits until a text was logged.
func (p *phone) saw(t *testing.T, what string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		all := strings.Join(p.logged, "\n")
		p.mu.Unlock()
		if strings.Contains(all, what) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the log lacks %q: %s", what, all)
		}
	}
}

// asked is an answer that is awaited.
type asked struct {
	word   request.Word
	become func(string)
	err    error
}

// ask sends an offer to the phone and waits until it is there.
func (p *phone) ask(t *testing.T, ctx context.Context, a Ask) (ntfytest.Message, <-chan asked) {
	t.Helper()
	n := len(p.server.Published("asks"))
	got := make(chan asked, 1)
	go func() {
		word, become, err := p.Ask(ctx, a)
		got <- asked{word, become, err}
	}()
	return p.server.Await(t, "asks", n+1)[n], got
}

// open reports whether there is no answer yet.
func open(t *testing.T, got <-chan asked, after string) {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	select {
	case a := <-got:
		t.Fatalf("%s answers: %+v", after, a)
	default:
	}
}

func offered(id string, buttons ...request.Word) Ask {
	return Ask{Note: Note{Title: "shop needs a permission", Request: id, Body: "Bash"}, Buttons: buttons, Expires: time.Now().Add(time.Hour)}
}

// A button answers its own offer, once, and its notification is replaced by the outcome.
func TestPhone(t *testing.T) {
	p := newPhone(t)
	p.Page = "https://box.example"
	m, got := p.ask(t, t.Context(), offered("O1", request.Allow, request.Deny))
	if !slices.Equal(m.Labels(), []string{"Allow", "Deny", "Open"}) || m.Title != "shop needs a permission" || m.Message != "Bash" || m.Click != "https://box.example" {
		t.Errorf("published %+v", m)
	}
	m.Press(t, "Allow")
	m.Press(t, "Allow") // it is delivered twice
	a := <-got
	if a.word != request.Allow || a.err != nil {
		t.Fatalf("got %+v", a)
	}
	a.become("allowed")
	end := p.server.Published("asks")[1]
	if end.Message != "allowed" || end.Sequence != m.Sequence || end.Priority != ntfySilent || slices.Contains(end.Labels(), "Allow") {
		t.Errorf("then %+v", end)
	}
	a.become("not answered: the policy refuses it: no rm in /home/kim")
	if end := p.server.Published("asks")[2]; end.Message != "not answered" {
		t.Errorf("of the call leaves this machine: %q", end.Message)
	}
	second, got := p.ask(t, t.Context(), offered("O1", request.Allow, request.Deny))
	m.Press(t, "Allow") // of an earlier request with the same question
	open(t, got, "a button of an earlier question")
	second.Press(t, "Deny")
	if a := <-got; a.word != request.Deny {
		t.Errorf("a replay: %+v", a)
	}
}

// Only the button's own message answers: not that of another offer, nor one that was changed.
func TestPhoneAltered(t *testing.T) {
	p := newPhone(t)
	other, _ := p.ask(t, t.Context(), offered("O2", request.Allow, request.Deny))
	m, got := p.ask(t, t.Context(), offered("O1", request.Deny))
	deny, allow := m.Actions[0].Body, other.Actions[0].Body
	if len(deny) < 26 || other.Actions[1].Body == allow {
		t.Errorf("the buttons publish %q, %q and %q", deny, allow, other.Actions[1].Body)
	}
	for what, text := range map[string]string{
		"another offer's": allow,
		"a part":          deny[:len(deny)-1],
		"an empty one":    "",
		"more":            deny + "x",
		"another case":    strings.ToLower(deny),
		"other talk":      "allow",
		"a long one":      strings.Repeat("x", 1<<17),
	} {
		p.server.Put("answers", text)
		open(t, got, what)
	}
	m.Press(t, "Deny")
	if a := <-got; a.word != request.Deny {
		t.Errorf("after all that: %+v", a)
	}
}

// An answer that comes too late does not count.
func TestPhoneLate(t *testing.T) {
	p := newPhone(t)
	late := offered("O1", request.Allow)
	late.Expires = time.Now().Add(time.Second)
	m, got := p.ask(t, t.Context(), late)
	time.Sleep(time.Until(late.Expires))
	m.Press(t, "Allow")
	if a := <-got; a.word != "" || a.err != nil {
		t.Errorf("got %+v", a)
	}
}

// The network may fail when the question is sent, while it waits, and when the answer is sent:
// nothing is lost.
func TestPhoneWithoutNetwork(t *testing.T) {
	p := newPhone(t)
	p.server.Lose()
	got := make(chan asked, 1)
	go func() {
		word, become, err := p.Ask(t.Context(), offered("O1", request.Allow))
		got <- asked{word, become, err}
	}()
	p.saw(t, "ntfy: ")
	if n := len(p.server.Published("asks")); n != 0 {
		t.Fatalf("%d published without a network", n)
	}
	p.server.Back()
	m := p.server.Await(t, "asks", 1)[0]
	p.server.Put("answers", "other talk")
	for range 3 {
		p.server.Lose()
		time.Sleep(50 * time.Millisecond)
		p.server.Back()
		time.Sleep(50 * time.Millisecond)
	}
	p.server.Lose()
	open(t, got, "no network")
	p.server.Put("answers", m.Actions[0].Body) // the phone has one
	time.Sleep(50 * time.Millisecond)
	p.server.Back()
	if a := <-got; a.word != request.Allow || a.err != nil {
		t.Errorf("got %+v", a)
	}
}

// A silent connection is not waited for forever.
func TestPhoneSilence(t *testing.T) {
	p := newPhone(t)
	p.server.Keepalive, p.quiet = time.Hour, 100*time.Millisecond
	m, got := p.ask(t, t.Context(), offered("O1", request.Allow))
	time.Sleep(500 * time.Millisecond)
	if n := p.server.Subscriptions(); n < 2 {
		t.Errorf("%d subscriptions in five times the silence", n)
	}
	m.Press(t, "Allow")
	if a := <-got; a.word != request.Allow {
		t.Errorf("got %+v", a)
	}
}

// The machine's token opens the topics, and is in nothing that is published.
func TestPhoneToken(t *testing.T) {
	p := newPhone(t)
	const token = "tk_of_the_machine"
	p.server.Protect(map[string]map[string]string{token: {"asks": "w", "answers": "r"}, "": {"answers": "w"}})
	if err := p.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without a token: %v", err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Token = file
	if err := p.Check(t.Context()); err != nil {
		t.Errorf("with a token: %v", err)
	}
	m, got := p.ask(t, t.Context(), offered("O1", request.Deny))
	if strings.Contains(fmt.Sprintf("%+v", m), token) {
		t.Errorf("the token is published: %+v", m)
	}
	m.Press(t, "Deny")
	if a := <-got; a.word != request.Deny {
		t.Errorf("got %+v", a)
	}
}

// What leaves the machine is what the user chose, without secrets.
func TestPhoneTexts(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	o := &request.Request{ID: "O1", Kind: request.Permission, Tool: "Bash", Record: "s1~2", Cwd: "/src/shop", Host: "here", Branch: "main", Payload: []byte(`{"tool_input":{"command":"make test"}}`)}
	p := newPhone(t)
	says := func(change func()) (m ntfytest.Message) {
		t.Helper()
		change()
		ctx, over := context.WithCancel(t.Context())
		m, got := p.ask(t, ctx, AskOf(o, "here", p.Channel().Rows))
		over()
		<-got
		return m
	}
	check := func(m ntfytest.Message, title, message string, labels ...string) {
		t.Helper()
		if m.Title != title || m.Message != message || !slices.Equal(m.Labels(), labels) {
			t.Errorf("%q, %q, %q; want %q, %q, %q", m.Title, m.Message, m.Labels(), title, message, labels)
		}
	}
	soon := func(payload string) func() {
		return func() {
			o.Payload, o.Expires = []byte(payload), event.MillisOf(time.Now().Add(time.Hour))
		}
	}
	check(says(soon(`{"tool_input":{"command":"make test"}}`)), "shop needs a permission", "Bash", "Deny")
	p.Texts = alert.TextsFull
	check(says(soon(`{"tool_input":{"command":"make test"}}`)), "shop needs a permission", "Bash\nmake test\nin /src/shop (main) on here", "Allow", "Deny")
	m := says(soon(`{"tool_input":{"command":"curl -H 'Authorization: token ` + secret + `' x"}}`))
	if strings.Contains(m.Message, secret) || !strings.Contains(m.Message, "redacted") || !slices.Equal(m.Labels(), []string{"Deny"}) {
		t.Errorf("with a secret: %+v", m)
	}
	m = says(soon(`{"tool_input":{"command":"` + strings.Repeat(`true\n`, 30) + `rm -rf /"}}`))
	if strings.Contains(m.Message, "rm -rf") || !slices.Equal(m.Labels(), []string{"Deny"}) {
		t.Errorf("what does not fit: %+v", m)
	}
	o.Kind = request.Question
	if m = says(soon(`{"tool_input":{"questions":[{"question":"Which?","options":[{"label":"A"}]}]}}`)); len(m.Actions) != 0 || m.Title != "shop asks" {
		t.Errorf("a question: %+v", m)
	}
	p.Texts = alert.TextsTool
	if err := p.Send(t.Context(), Note{Kind: "limit", Project: "usage", Public: true, Title: "usage limit 5h: 80 % used"}); err != nil {
		t.Fatal(err)
	}
	if all := p.server.Published("asks"); all[len(all)-1].Title != "usage limit 5h: 80 % used" {
		t.Errorf("what says nothing of a session: %+v", all[len(all)-1])
	}
	n := Note{Kind: state.AlertDone, Title: "my secret plan is done", Body: "All tests pass.", Project: "shop"}
	for want, texts := range map[string]string{"shop is done/shop is done": alert.TextsTool, "my secret plan is done/All tests pass.": alert.TextsFull} {
		p.Texts = texts
		if err := p.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		all := p.server.Published("asks")
		if m := all[len(all)-1]; m.Title+"/"+m.Message != want || len(m.Actions) != 0 {
			t.Errorf("%s: %+v", texts, m)
		}
	}
}

// Wrong settings are reported before anything is sent.
func TestPhoneSettings(t *testing.T) {
	for want, n := range map[string]alert.Reach{
		"ntfy_topic is not set":       {},
		"same topic":                  {Topic: "https://x/a", Answers: "a"},
		"is not a topic":              {Topic: "https://x/a b"},
		"is not an address":           {Topic: "x/a"},
		"reading ntfy_token: ":        {Topic: "https://x/a", Token: "/nowhere"},
		`"https://k@x" is not an add`: {Topic: "https://k@x/a"},
	} {
		p := Phone{Reach: n}
		if err := p.Send(t.Context(), Note{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", n, err, want)
		}
		if p.Channel().Ask != nil {
			t.Errorf("%+v asks", n)
		}
	}
}

// Over an unencrypted connection the call is not sent: others on the way could read and allow
// it.
func TestPhoneUnencrypted(t *testing.T) {
	for server, full := range map[string]bool{"http://ntfy.example": false, "http://10.0.0.1:80": false, "https://ntfy.example": true, "http://127.0.0.1:80": true} {
		p := Phone{Reach: alert.Reach{Texts: alert.TextsFull, Topic: server + "/a"}}
		if p.Channel().Rows > 0 != full {
			t.Errorf("%s is sent all: %t", server, !full)
		}
	}
}
