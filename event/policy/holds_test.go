package policy

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// If a rule refuses, no other handler starts, not even one that would hang, fail or rewrite.
func TestRuleIsJudgedBeforeAnythingSlow(t *testing.T) {
	c := decode(t, one(`{"type":"command","command":"sleep 60"},{"type":"rule","id":"no-ls","decision":"deny","reason":"no","commands":["ls"]}`))
	e := NewEngine(c)
	e.Handle(c[0], does(func(context.Context, wire.Call) wire.Outcome {
		t.Error("it was started")
		return wire.Outcome{Err: errors.New("gone")}
	}))
	r := trigger(t, e, event.PreToolUse, bash)
	if r.Allowed || r.Results[0].Skipped == "" || !strings.Contains(r.Verdict.Reason, "no (policy global/no-ls)") {
		t.Errorf("got %+v", r.Verdict)
	}
}

// A warning is a text for the agent, and the call runs.
func TestWarn(t *testing.T) {
	c := decode(t, one(`{"type":"rule","id":"look","decision":"warn","reason":"Look twice.","commands":["ls"],"unless":{"commands":["ls -l"]}}`))
	r := trigger(t, NewEngine(c), event.PreToolUse, bash)
	hso := gjson.GetBytes(r.Answer.Stdout, "hookSpecificOutput")
	if !r.Allowed || hso.Get("additionalContext").Str != "Look twice. (policy global/look)" || hso.Get("permissionDecision").Exists() {
		t.Errorf("got %s", r.Answer.Stdout)
	}
	excepted := strings.Replace(bash, `"ls"`, `"ls -l"`, 1)
	if r := trigger(t, NewEngine(c), event.PreToolUse, excepted); len(r.Answer.Stdout) > 0 {
		t.Errorf("its exception gives %s", r.Answer.Stdout)
	}
}

// A policy stays in force when its file is emptied or removed, and the user is told.
func TestEmptyAndVanishedFilesAreMistakes(t *testing.T) {
	s := sources(t)
	put(t, s.Global, denies("g"))
	put(t, s.Project, denies("p"))
	if _, err := s.Trust(s.Project); err != nil {
		t.Fatal(err)
	}
	Load(s)
	put(t, s.Global, " \n")
	if l := Load(s); inForce(l) != "project:p global:g" || l.Files[1].Status != LastGood || len(l.Notices()) != 1 {
		t.Fatalf("emptied: %+v", l)
	}
	for _, path := range []string{s.Global, s.Project} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if l := Load(s); inForce(l) != "project:p global:g" || l.Files[0].Status != Vanished || l.Files[1].Status != Vanished || len(l.Notices()) != 2 {
		t.Fatalf("gone: %+v", l)
	}
}

// The notice about a missing file says how to end its rules, and that works.
func TestVanishedFilesCanBeEnded(t *testing.T) {
	s := sources(t)
	put(t, s.Global, denies("g"))
	put(t, s.Project, denies("p"))
	if _, err := s.Trust(s.Project); err != nil {
		t.Fatal(err)
	}
	Load(s)
	if err := errors.Join(os.Remove(s.Global), os.Remove(s.Project)); err != nil {
		t.Fatal(err)
	}
	for _, notice := range Load(s).Notices() {
		if !strings.Contains(notice, "write {} into it (in a project: beckon policy trust --off)") {
			t.Errorf("the notice says %q", notice)
		}
	}
	put(t, s.Global, "{}")
	if err := s.Distrust(s.Project); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if l := Load(s); len(l.Hooks) != 0 || len(l.Notices()) != 0 {
			t.Errorf("ended: %+v", l)
		}
		_ = os.Remove(s.Global)
	}
}

// A file that is being rewritten in place is never used half read.
func TestFileRewrittenInPlace(t *testing.T) {
	s := sources(t)
	text := denies("g")
	put(t, s.Global, text)
	Load(s)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.WriteFile(s.Global, []byte(text), 0o600); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range 1000 {
		if l := Load(s); inForce(l) != "global:g" {
			t.Errorf("call %d: %+v", i, l)
			break
		}
	}
	close(stop)
	<-done
}

// A script of a trusted project does not run once it has changed.
func TestTrustCoversScripts(t *testing.T) {
	s := sources(t)
	script := trust.ProjectOf(s.Project) + "/scripts/check.sh"
	put(t, script, "exit 0")
	put(t, s.Project, one(`{"type":"command","command":"sh scripts/check.sh","fail":"closed"}`))
	if _, err := s.Trust(s.Project); err != nil {
		t.Fatal(err)
	}
	if h := Load(s).Hooks[0]; h.Fault != nil {
		t.Fatalf("as trusted: %v", h.Fault)
	}
	put(t, script, "exit 1")
	h := Load(s).Hooks[0]
	if h.Fault == nil {
		t.Fatal("another script would be run")
	}
	if r := trigger(t, NewEngine(Load(s).Hooks), event.PreToolUse, bash); r.Allowed || !strings.Contains(r.Verdict.Reason, "another script") {
		t.Errorf("got %+v", r.Verdict)
	}
}

// Over protocol 1.0 a decision to ask the user becomes a refusal.
func TestAskOverTheProtocol(t *testing.T) {
	v := wire.Verdict{Decision: wire.Ask, Reason: "sure?"}
	if got := gjson.ParseBytes(wire.Reply(v)); got.Get("decision").Str != "block" || !strings.Contains(got.Get("reason").Str, "sure?") {
		t.Errorf("got %s", got.Raw)
	}
}
