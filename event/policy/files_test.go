package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

func sources(t *testing.T) Sources {
	dir := t.TempDir()
	return Sources{Global: filepath.Join(dir, "policy.json"), Project: trust.ProjectFile(filepath.Join(dir, "p")),
		State: trust.Dir(filepath.Join(dir, "state", "policy")), Home: dir,
		Tree: func(string) (at, root, main string) { return "", "", "" }}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func denies(reason string) string {
	return one(`{"type":"rule","decision":"deny","reason":"` + reason + `"}`)
}

func inForce(l Loaded) (reasons string) {
	for _, h := range l.Hooks {
		reasons += string(h.Level) + ":" + h.Spec.Rule.Reason + " "
	}
	return strings.TrimSpace(reasons)
}

func TestNothingThere(t *testing.T) {
	if l := Load(sources(t)); len(l.Files)+len(l.Hooks)+len(l.Notices()) > 0 {
		t.Errorf("got %+v", l)
	}
}

// A mistake in a file is reported and never disables what was in force before.
func TestLastGoodStaysInForce(t *testing.T) {
	s := sources(t)
	put(t, s.Global, `{"hooks":`)
	if l := Load(s); l.Files[0].Status != Broken || len(l.Notices()) != 1 || !strings.Contains(l.Notices()[0], "NOTHING") {
		t.Fatalf("got %+v", l)
	}
	put(t, s.Global, denies("a"))
	if l := Load(s); inForce(l) != "global:a" || len(l.Notices()) > 0 {
		t.Fatalf("got %+v", l)
	}
	for _, broken := range []string{`{"hooks":`, `{"nope":1}`} {
		put(t, s.Global, broken)
		if l := Load(s); inForce(l) != "global:a" || l.Files[0].Status != LastGood || len(l.Notices()) != 1 {
			t.Fatalf("%s: got %+v", broken, l)
		}
	}
	put(t, s.Global, denies("b"))
	if l := Load(s); inForce(l) != "global:b" {
		t.Fatalf("got %+v", l)
	}
}

func TestProjectIsInForceOnceTrusted(t *testing.T) {
	s := sources(t)
	put(t, s.Global, denies("g"))
	put(t, s.Project, denies("p"))
	if l := Load(s); inForce(l) != "global:g" || l.Files[0].Status != Untrusted || len(l.Notices()) != 1 {
		t.Fatalf("untrusted: %+v", l)
	}
	if _, err := s.Trust(s.Project); err != nil {
		t.Fatal(err)
	}
	if l := Load(s); inForce(l) != "project:p global:g" || len(l.Notices()) > 0 {
		t.Fatalf("trusted: %+v", l)
	}
	for _, text := range []string{denies("q"), `{`} {
		put(t, s.Project, text)
		if l := Load(s); inForce(l) != "project:p global:g" || l.Files[0].Status != Changed || len(l.Notices()) != 1 {
			t.Fatalf("changed: %+v", l)
		}
	}
	if _, err := s.Trust(s.Project); err == nil {
		t.Error("a broken file is trusted")
	}
	if err := s.Distrust(s.Project); err != nil {
		t.Fatal(err)
	}
	if l := Load(s); inForce(l) != "global:g" {
		t.Fatalf("distrusted: %+v", l)
	}
}

func TestForgedTrustIsNone(t *testing.T) {
	s := sources(t)
	put(t, s.Project, denies("p"))
	if _, err := s.Trust(s.Project); err != nil {
		t.Fatal(err)
	}
	copy := s.State.Path("trust", trust.Sum(s.Project)[:16]+".json")
	data, err := os.ReadFile(copy)
	if err != nil {
		t.Fatal(err)
	}
	put(t, copy, strings.Replace(string(data), `\"p\"`, `\"q\"`, 1))
	if l := Load(s); l.Files[0].Status != Untrusted {
		t.Errorf("got %+v", l.Files[0])
	}
}

// A project is trusted under each name that the client uses for it.
func TestTrustThroughALink(t *testing.T) {
	s := sources(t)
	dir, err := filepath.EvalSymlinks(s.Home)
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "p"), filepath.Join(dir, "link")
	put(t, trust.ProjectFile(real), denies("a"))
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if _, err := s.Trust(trust.ProjectFile(link)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Status{InForce, Untrusted} {
		for _, name := range []string{real, link} {
			if s.Project = trust.ProjectFile(name); Load(s).Files[0].Status != want {
				t.Errorf("%s is %s, not %s", name, Load(s).Files[0].Status, want)
			}
		}
		if err := s.Distrust(trust.ProjectFile(link)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPipeIsNotRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no pipes in the file system")
	}
	s := sources(t)
	if err := os.MkdirAll(s.Global, 0o700); err != nil { // nor is a directory a file
		t.Fatal(err)
	}
	if l := Load(s); l.Files[0].Status != Broken {
		t.Errorf("got %+v", l)
	}
}

func TestClaims(t *testing.T) {
	d := trust.Dir(t.TempDir())
	now := time.Now()
	e := &event.Event{SessionID: "s", Name: "PreToolUse"}
	if !d.Claim(e, []byte(bash), "", now) {
		t.Fatal("not the first")
	}
	if d.Claim(e, []byte(bash), "", now) {
		t.Error("one call is claimed twice")
	}
	if !d.Claim(e, []byte(bash), "", now.Add(2*2*time.Second)) {
		t.Error("a claim holds for ever")
	}
	// Without a tool_use_id two identical events may be different calls, unless they come
	// through different installs.
	plain := []byte(`{"session_id":"s","tool_name":"Bash"}`)
	if !d.Claim(e, plain, "", now) {
		t.Error("first")
	}
	if !d.Claim(e, plain, "", now) {
		t.Error("a second firing is taken for a copy")
	}
	if d.Claim(e, plain, "plugin", now) {
		t.Error("the plugin's copy is taken for a firing")
	}
}

func TestOneOfManyClaims(t *testing.T) {
	d := trust.Dir(t.TempDir())
	e := &event.Event{SessionID: "s", Name: "PreToolUse"}
	var firsts, n sync.Map
	var wait sync.WaitGroup
	now := time.Now()
	for i := range 16 {
		wait.Go(func() {
			if d.Claim(e, []byte(bash), "", now) {
				firsts.Store(i, true)
			}
			n.Store(i, true)
		})
	}
	wait.Wait()
	count := 0
	firsts.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d are the first", count)
	}
}

func TestDue(t *testing.T) {
	d := trust.Dir(t.TempDir())
	now := time.Now()
	if got := d.Due("s", []string{"a", "b"}, time.Minute, now); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if got := d.Due("s", []string{"a", "c"}, time.Minute, now.Add(time.Second)); len(got) != 1 || got[0] != "c" {
		t.Errorf("got %v", got)
	}
	if got := d.Due("other", []string{"a"}, time.Minute, now); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if got := d.Due("s", []string{"a"}, time.Minute, now.Add(time.Hour)); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// A caller of the server chooses the names in its post. The trace can be read however long
// they are.
func TestTraceOfLongNames(t *testing.T) {
	d := trust.Dir(t.TempDir())
	long := strings.Repeat("x", 2<<20)
	payload := []byte(`{"session_id":"` + long + `","prompt_id":"` + long + `","tool_use_id":"` + long + `","agent_id":"` + long + `","tool_name":"` + long + `"}`)
	ev := Event{Kind: event.PreToolUse, ID: long, Payload: payload}
	entry := EntryOf(ev, Result{})
	if err := d.Trace(entry); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Entries(1); err != nil || len(got) != 1 {
		t.Errorf("got %d entries, %v", len(got), err)
	}
}

// The trace contains no secret, is private, and does not grow without limit.
func TestTrace(t *testing.T) {
	d := trust.Dir(filepath.Join(t.TempDir(), "state", "policy"))
	secret := "ghp_" + "Xk29aLmQ0PzR8vTn4Wc7Yb1Ed6Gh3Jf5Ks2u"
	e := NewEngine(nil)
	e.Register(event.PreToolUse, says(wire.Outcome{Decision: wire.Deny, Reason: "it had " + secret, Output: strings.Repeat("x", 9999), Metadata: []byte(`{"k":"` + secret + `"}`)}))
	ev := Event{Kind: event.PreToolUse, ID: "evt_1", At: time.Now(), Payload: []byte(`{"session_id":"s1","prompt_id":"p1","tool_use_id":"t1","tool_name":"Bash","tool_input":{"command":"curl -H 'Authorization: Bearer ` + secret + `'"}}`)}
	entry := EntryOf(ev, e.Trigger(t.Context(), ev))
	for range 5000 {
		if err := d.Trace(entry); err != nil {
			t.Fatal(err)
		}
	}
	total := int64(0)
	err := filepath.WalkDir(string(d), func(path string, _ fs.DirEntry, err error) error {
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil {
			return err
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		total += info.Size()
		if b, _ := os.ReadFile(path); strings.Contains(string(b), secret) {
			t.Errorf("%s holds the secret", path)
		}
		return nil
	})
	if err != nil || total > 2*(4<<20)+1<<20 || total < 1<<20 {
		t.Errorf("%d bytes, %v", total, err)
	}
	got, err := d.Entries(3)
	if err != nil || len(got) != 3 || got[0].Session != "s1" || got[0].Prompt != "p1" || got[0].ToolUseID != "t1" || got[0].Hooks[0].Decision != wire.Deny {
		t.Errorf("got %+v, %v", got, err)
	}
}
