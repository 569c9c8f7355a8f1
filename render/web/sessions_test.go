package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/web/access"
	"beckon/state"

	"github.com/gofrs/flock"
)

// An unreadable file is reported once, not every second, and hides nothing else.
func TestUnreadableFiles(t *testing.T) {
	x := serve(t, Options{Timing: Timing{Recheck: 5 * time.Millisecond}})
	x.fold(prompt("good", "one"))
	x.Until("it is shown", func() bool { return x.shows("good") })
	newer := filepath.Join(x.st.Dir, "newer")
	if err := os.WriteFile(newer, []byte(`{"schema":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(newer, filepath.Join(x.st.SessionsDir(), "newer.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(x.st.Dir, "history", time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)+".jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	x.Until("it is logged", func() bool { return x.logged() > 0 })
	for range 10 {
		for _, path := range []string{"/api/sessions", "/api/sessions/good"} {
			if r := x.Get(path); r.Status != http.StatusOK || !strings.Contains(r.Body, `"session_id":"good"`) {
				t.Fatalf("%s: %d %s", path, r.Status, r.Body)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := x.logged(); n > 2 {
		t.Errorf("%d lines in the log, of 2 faults", n)
	}
}

func TestJournalPages(t *testing.T) {
	x := serve(t, Options{})
	for i := range 25 {
		x.fold(event.Event{Kind: event.Notification, SessionID: "s", Message: fmt.Sprint(i)})
	}
	var all []string
	after := int64(0)
	for page := 0; ; page++ {
		var p journalPage
		x.Get(fmt.Sprintf("/api/sessions/s/journal?after=%d&limit=10", after)).Into(t, &p)
		for _, l := range p.Lines {
			if l.Kind != "event" || l.Seq != int64(len(all)+1) {
				t.Fatalf("line %+v", l)
			}
			all = append(all, l.Event.Message)
		}
		if after = p.Next; after == 0 {
			if page != 2 {
				t.Errorf("%d pages", page+1)
			}
			break
		}
	}
	if len(all) != 25 || all[24] != "24" {
		t.Errorf("read %v", all)
	}
	var end journalPage
	x.Get("/api/sessions/s/journal?last=true&limit=4&after=2").Into(t, &end)
	if len(end.Lines) != 4 || end.Lines[0].Event.Message != "21" || end.Lines[3].Event.Message != "24" || end.Next != 0 {
		t.Errorf("the end is %+v", end)
	}
	for _, q := range []string{"after=-1", "after=x", "limit=0", "limit=9999", "limit=x"} {
		if r := x.Get("/api/sessions/s/journal?" + q); r.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", q, r.Status)
		}
	}
}

// Sessions are found by id and by seat, whether they are over or not.
func TestFind(t *testing.T) {
	x := serve(t, Options{})
	seat := x.post("/hook/session-start", `{"session_id":"s"}`).Field(t, "agent_id")
	var a, b render.Row
	x.Get("/api/sessions/s").Into(t, &a)
	x.Get("/api/sessions/"+seat).Into(t, &b)
	if a.SessionID != "s" || b.SessionID != "s" {
		t.Errorf("%+v, %+v", a, b)
	}
	x.post("/hook/session-end", `{"session_id":"s"}`)
	for _, id := range []string{"s", seat} {
		var r render.Row
		x.Get("/api/sessions/"+id).Into(t, &r)
		if r.State != state.Ended {
			t.Errorf("%s: %+v", id, r)
		}
	}
	r := x.Get("/api/sessions/nobody")
	var f access.Body
	r.Into(t, &f)
	if r.Status != http.StatusNotFound || f.Error.Code != "no_such_session" || f.Error.Hint == "" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	var l render.List
	x.Get("/api/sessions?all=true").Into(t, &l)
	if len(l.Sessions) != 1 {
		t.Errorf("all: %+v", l.Sessions)
	}
}

func TestActions(t *testing.T) {
	jumped := ""
	jump := func(_ context.Context, v state.Seen) error {
		jumped = v.Session.ID
		if v.Session.ID == "bad" {
			return typed.Advise(errors.New("no terminal is known"), "start it in tmux")
		}
		return nil
	}
	x := serve(t, Options{Jump: jump})
	x.post("/hook/session-start", `{"session_id":"s"}`)
	x.post("/hook/session-start", `{"session_id":"bad"}`)
	for _, c := range []struct {
		path, body string
		status     int
		has        string
	}{
		{"/api/sessions/s/backburner", "", 200, `"state":"backburner"`},
		{"/api/sessions/s/backburner", `{"off":true}`, 200, `"state":"idle"`},
		{"/api/sessions/s/backburner", `{"until":"90m"}`, 200, `"state":"backburner"`},
		{"/api/sessions/s/backburner", `{"until":"2w"}`, 200, `"state":"backburner"`},
		{"/api/sessions/s/backburner", `{"until":"-3d"}`, 400, "bad_until"},
		{"/api/sessions/s/backburner", `{"until":"2001-01-01T00:00:00Z"}`, 400, "bad_until"},
		{"/api/sessions/s/backburner", `{"until":"soon"}`, 400, "bad_until"},
		{"/api/sessions/s/backburner", `{"on":true}`, 400, "bad_body"},
		{"/api/sessions/s/backburner", `[]`, 400, "bad_body"},
		{"/api/sessions/s/seen", "", 200, `"session_id":"s"`},
		{"/api/sessions/s/jump", "", 200, `"ok"`},
		{"/api/sessions/bad/jump", "", 409, "start it in tmux"},
		{"/api/sessions/none/seen", "", 404, "no_such_session"},
		{"/api/sessions/none/jump", "", 404, "no_such_session"},
	} {
		if r := x.Do("POST", c.path, c.body); r.Status != c.status || !strings.Contains(r.Body, c.has) {
			t.Errorf("%s %s: %d %s", c.path, c.body, r.Status, r.Body)
		}
	}
	if jumped != "bad" {
		t.Errorf("jumped to %q", jumped)
	}
}

func TestMetrics(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	s.await("snapshot", nil)
	x.fold(prompt("s", "one"))
	x.fold(stop("s", "Done."))
	s.await("notification", nil)
	r := x.Get("/metrics")
	for _, want := range []string{
		"# TYPE beckon_sessions gauge", `beckon_sessions{state="idle"} 1`, "beckon_sse_clients 1", `beckon_events_total{kind="Stop"} 1`,
		`beckon_hook_duration_seconds_bucket{le="0.001"} 0`, `beckon_hook_duration_seconds_bucket{le="0.002"} 2`, `beckon_hook_duration_seconds_bucket{le="+Inf"} 2`,
		"beckon_hook_duration_seconds_sum 0.003", "beckon_hook_duration_seconds_count 2", `beckon_sse_events_total{event="turn_created"} 2`,
	} {
		if !strings.Contains(r.Body, want+"\n") {
			t.Errorf("no %s in\n%s", want, r.Body)
		}
	}
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("type %s", got)
	}
}

func TestStats(t *testing.T) {
	x := serve(t, Options{Stats: func(days int) (any, error) { return map[string]int{"days": days}, nil }})
	if r := x.Get("/api/stats?days=3"); r.Body != `{"days":3}`+"\n" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if r := x.Get("/api/stats?days=0"); r.Status != http.StatusBadRequest {
		t.Errorf("days=0: %d", r.Status)
	}
}

// Statistics are read by one request at a time, and for no client that has gone while it waited.
func TestStatsOfGoneClients(t *testing.T) {
	var reads atomic.Int32
	begun, end := make(chan bool, 9), make(chan bool)
	x := serve(t, Options{Stats: func(int) (any, error) {
		reads.Add(1)
		begun <- true
		<-end
		return 1, nil
	}})
	get := func(ctx context.Context) {
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, x.URL+"/api/stats?days=400", nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
		}
	}
	var all sync.WaitGroup
	all.Go(func() { get(t.Context()) })
	<-begun
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		all.Go(func() { defer cancel(); get(ctx) })
	}
	time.Sleep(500 * time.Millisecond)
	close(end)
	all.Wait()
	time.Sleep(100 * time.Millisecond)
	if n := reads.Load(); n != 1 {
		t.Errorf("they were read %d times", n)
	}
}

// A day and its digest are read at each request, also after an error.
func TestDay(t *testing.T) {
	digests := 0
	broken := errors.New("broken")
	x := serve(t, Options{
		Timeline: func(date string) (any, error) { return date, nil },
		Digest: func() (any, error) {
			digests++
			return "digest", map[bool]error{true: broken}[digests == 1]
		},
	})
	if r := x.Get("/api/digest"); r.Status != http.StatusInternalServerError {
		t.Errorf("what cannot be read: %d", r.Status)
	}
	for range 3 {
		for path, want := range map[string]string{"/api/timeline": "", "/api/timeline?date=2026-01-31": "2026-01-31", "/api/digest": "digest"} {
			if r := x.Get(path); r.Status != http.StatusOK || r.Body != `"`+want+"\"\n" {
				t.Errorf("%s: %d %s", path, r.Status, r.Body)
			}
		}
	}
	if digests != 4 {
		t.Errorf("the digest was read %d times", digests)
	}
	for _, date := range []string{"yesterday", "2026-02-31", "2026-01-31;"} {
		if r := x.Get("/api/timeline?date=" + url.QueryEscape(date)); r.Status != http.StatusBadRequest {
			t.Errorf("date=%s: %d", date, r.Status)
		}
	}
}

// An event whose session is locked is not lost, and its sender learns that it has not been
// folded yet (without the retry).
func TestBusySession(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook/session-start", `{"session_id":"s"}`)
	lock := flock.New(filepath.Join(x.st.Dir, "locks", "s.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	r := x.Do("POST", "/hook/user-prompt-submit", `{"session_id":"s","prompt":"later"}`)
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if r.Status != http.StatusAccepted {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	x.Until("it is folded", func() bool { return strings.Contains(x.Get("/api/sessions/s").Body, `"title":"later"`) })
}

// A body that is sent slowly delays no other small one, whatever its size, and a large one only
// for some seconds.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for _, size := range []int{smallBody / 2, 4 * smallBody, maxBody} {
		x := serve(t, Options{})
		answers := make(chan string, 300)
		for range cap(answers) {
			c, err := net.Dial("tcp", strings.TrimPrefix(x.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n", hookHead, size)
			go func() {
				_, _ = io.WriteString(c, strings.Repeat(" ", size/2)) // until it is dropped
			}()
			go func() { answers <- answerOf(c) }()
		}
		start := time.Now()
		x.post("/hook/session-start", `{"session_id":"s"}`)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("with bodies of %d bytes it took %v", size, took)
		}
		if size <= smallBody {
			continue
		}
		large := `{"session_id":"s"` + strings.Repeat(" ", smallBody) + `}`
		x.Until("a large one is heard", func() bool { return x.Do("POST", "/hook/session-start", large).Status == http.StatusOK })
		if got := <-answers; got != "408" && got != "503" && got != "closed" {
			t.Errorf("the one that was given up: %s", got)
		}
	}
}

// Bodies of every size around the slots' arrive whole.
func TestBodySizes(t *testing.T) {
	x := serve(t, Options{})
	sizes := []int{100, 4095, 4096, 4097, smallBody, smallBody + 1, 2 << 20, 2<<20 + 1, maxBody - 1, maxBody}
	if testing.Short() {
		sizes = sizes[:len(sizes)-2] // they take 20 s under the race detector
	}
	for _, size := range sizes {
		body := `{"event":"Stop","hookInput":{"session_id":"s"` // unknown members are skipped
		body += strings.Repeat(" ", size-len(body)-2) + "}}"
		if r := x.Do("POST", "/hook", body); r.Status != http.StatusOK {
			t.Errorf("%d bytes: %d %s", len(body), r.Status, r.Body)
		}
		chunked, err := http.Post(x.URL+"/hook", "application/json", struct{ io.Reader }{strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
		if _ = chunked.Body.Close(); chunked.StatusCode != http.StatusOK {
			t.Errorf("%d bytes of a length that was not announced: %s", len(body), chunked.Status)
		}
	}
	if !x.s.large.TryAcquire(maxBody) {
		t.Error("some memory for bodies is not free again")
	}
}
