//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// asking makes an offer for a session, at which this process waits.
func asking(t *testing.T, st *store.Store, session, command string) request.Request {
	t.Helper()
	self, ok := evidence.Process(os.Getpid(), evidence.ThisMachine())
	if !ok {
		t.Skip("processes cannot be read here")
	}
	now := time.Now()
	o := request.Request{Kind: request.Permission, Event: "PermissionRequest", Record: session, Session: session, Tool: "Bash", Cwd: "/home/u/shop", Branch: "main",
		Made: event.MillisOf(now), Expires: event.MillisOf(now.Add(time.Hour)), Waiter: self, Client: self,
		Payload: []byte(`{"tool_input":{"command":"` + command + `"},"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`)}
	if err := request.In(st.Dir).Make(&o, now); err != nil {
		t.Fatal(err)
	}
	return o
}

// took plays the process that holds a call: it takes the answer and reports that.
func took(t *testing.T, st *store.Store, o request.Request) request.Answer {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if ans, ok := request.In(st.Dir).Answered(o.ID); ok {
			if !request.In(st.Dir).Close(o.ID, "") {
				t.Error("it was closed before")
			}
			return ans
		}
		if time.Now().After(end) {
			t.Fatal("no answer came")
		}
	}
}

// Keys in a real terminal answer what it shows.
func TestWatchAnswers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	p := openTerminal(t, 100, 30, []string{"GORACE=" + noNap, "HOME=" + home, "BECKON_STATE_DIR=" + st.Dir, "USER=kim", "CLAUDECODE="}, "watch")
	p.wait(`NEEDS YOU 1`)
	p.press("y")
	p.wait(`answers are off: beckon setup answers turns them on`)
	o := asking(t, st, "first", `make\nmake test`)
	p.press("Space")
	p.wait(`(?s)Bash\n /home/u/shop \(main\).*│ make\n │ make test\n a: accept all edits, in this session\n.*y allow`)
	time.Sleep(time.Second) // as long as reading it takes
	p.press("y")
	if a := took(t, st, o); a.Word != request.Allow || a.Digest != o.Digest || a.By != "kim" || a.From != request.Watch {
		t.Errorf("it answered %+v", a)
	}
	p.wait(`allowed: Bash`)

	o = asking(t, st, "first", "rm -rf build")
	p.wait(`│ rm -rf build`)
	time.Sleep(time.Second)
	p.press("r")
	p.wait(`refuse Bash`)
	p.press("-l", "not now")
	p.press("Enter")
	if a := took(t, st, o); a.Word != request.Deny || a.Message != "not now" {
		t.Errorf("it answered %+v", a)
	}
	p.wait(`refused: Bash`)

	o = asking(t, st, "first", "make install")
	p.wait(`│ make install`)
	time.Sleep(time.Second)
	if err := request.In(st.Dir).Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Deny, From: request.Page, By: "ada"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	p.press("y")
	s := p.wait(`answered already: deny, by ada from page|asks nothing that can be answered|answers are off`)
	if strings.Contains(s, "allowed: ") {
		t.Errorf("both answered:\n%s", s)
	}
}

// A session's question is in show, and the status line of another session says how to answer.
func TestShowAndStatusLineOfAnOffer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	st := store.Open(filepath.Join(home, "state"))
	fold(t, st, "first", event.SessionStart, event.UserPromptSubmit, event.PreToolUse, event.PermissionRequest)
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program(t), args...)
		cmd.Stdin = strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+home, "BECKON_STATE_DIR="+st.Dir, "NO_COLOR=1", "COLUMNS=100")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("beckon %s: %v", args[0], err)
		}
		return string(out)
	}
	line := func() string { return run(`{"session_id":"other","cwd":"/"}`, "statusline") }
	if s := line(); !strings.Contains(s, "1 needs you: ") {
		t.Errorf("with nothing to answer the line is %q", s)
	}
	o := asking(t, st, "first", "make install")
	if s := line(); !strings.Contains(s, "1 needs you (beckon answer): ") {
		t.Errorf("with something to answer the line is %q", s)
	}
	if s := run("", "show", "first"); !strings.Contains(s, "│ make install") {
		t.Errorf("show does not have what is asked:\n%s", s)
	}
	run("", "answer")
	if request.In(st.Dir).Shown(o.ID) {
		t.Error("what a program read counts as shown to the user")
	}
}
