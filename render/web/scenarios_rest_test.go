package web

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
)

// quick is a schedule that a test can wait for: 60 s, 2 s and 300 s become 2 s,
// 20 ms and 500 ms.
var quick = Timing{
	Recheck: 5 * time.Millisecond,
	Hooks:   2 * time.Second,
	Silent:  20 * time.Millisecond,
	Silence: 500 * time.Millisecond,
}

func (x *site) mode(mode string, interval string) func() bool {
	return func() bool {
		r := x.Get("/hook/status")
		return r.Field(x.T, "mode") == mode && r.Field(x.T, "polling_interval") == interval
	}
}

func scenarioActive(t *testing.T) {
	x := serve(t, Options{})
	x.post("/hook/session-start", `{"session_id":"s"}`)
	x.Until("the interval is 60 s", x.mode(modeHooks, "60"))
	// Only the first sweep runs while hooks are active.
	y := serve(t, Options{Timing: quick})
	y.fold(prompt("s", "one"))
	y.Until("hooks are active", y.mode(modeHooks, "2"))
	before := y.sweeps()
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		y.fold(event.Event{Kind: event.Notification, SessionID: "s"})
	}
	if got := y.sweeps() - before; got > 1 {
		t.Errorf("%d sweeps in 200 ms, while the interval is 2 s", got)
	}
}

func scenarioSilent(t *testing.T) {
	x := serve(t, Options{})
	x.fold(event.Event{Kind: event.SessionStart, SessionID: "s", At: event.MillisOf(time.Now().Add(-301 * time.Second))})
	x.Until("the old event is known", func() bool { return x.Get("/hook/status").Field(t, "last_event_ago") == "5m ago" })
	if !x.mode(modePolling, "2")() {
		t.Errorf("after 301 s: %s", x.Get("/hook/status").Body)
	}
	y := serve(t, Options{Timing: quick})
	y.fold(prompt("s", "one"))
	y.Until("hooks are active", y.mode(modeHooks, "2"))
	y.Until("they are silent", y.mode(modePolling, "0.02"))
	before := y.sweeps()
	y.Until("sweeps follow each other", func() bool { return y.sweeps() > before+3 })
}

func scenarioResume(t *testing.T) {
	y := serve(t, Options{Timing: quick})
	y.Until("nothing was heard", y.mode(modePolling, "0.02"))
	y.fold(prompt("s", "one"))
	y.Until("hooks resume", y.mode(modeHooks, "2"))
}

func scenarioScript(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.hook(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/tmp","prompt":"hello"}`) // fails unless it exits with 0
	s.await("session_created", sessionIs("s"))
}

func scenarioUnavailable(t *testing.T) {
	x := &site{client: client{T: t}, home: t.TempDir()}
	x.st = storeIn(x.home)
	start := time.Now()
	x.hook(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/tmp","prompt":"hello"}`)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the hook took %v", took)
	}
	// The application starts, and has the session.
	y := serve(t, Options{Store: x.st})
	if y.row("s").State != state.Working {
		t.Errorf("row %+v", y.row("s"))
	}
}

func scenarioTmuxForwarded(t *testing.T) {
	x := serve(t, Options{})
	x.hook(`{"hook_event_name":"SessionStart","session_id":"s","cwd":"/tmp"}`, "TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%5", "BECKON_TMUX_SESSION=work")
	if row := x.row("s"); row.Tmux == nil || row.Tmux.Session != "work" {
		t.Errorf("%+v", row.Tmux)
	}
}

func scenarioTmuxAbsent(t *testing.T) {
	x := serve(t, Options{})
	x.hook(`{"hook_event_name":"SessionStart","session_id":"s","cwd":"/tmp"}`, "TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%5")
	body := x.Get("/api/sessions/s").Body
	if !strings.Contains(body, `"pane":"%5"`) || strings.Contains(body, `"session":`) {
		t.Errorf("row %s", body)
	}
}

func scenarioInstall(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, "bin") // a stable place: the build's own is temporary
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"beckon", "beckon-hook"} {
		b, err := os.ReadFile(builtProgram(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, name), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(bin, "beckon"), "install")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(home, "tmp")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(b, &settings); err != nil || len(settings.Hooks) < 8 {
		t.Fatalf("settings %s: %v", b, err)
	}
	for name, groups := range settings.Hooks {
		program := groups[0].Hooks[0].Command
		info, err := os.Stat(program)
		if !filepath.IsAbs(program) || err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s runs %q: %v", name, program, err)
		}
	}
}

// What the page's status panel shows.
func scenarioStatusDisplay(t *testing.T) {
	x := serve(t, Options{})
	x.hook(`{"hook_event_name":"SessionStart","session_id":"s","cwd":"/tmp"}`)
	x.Until("the event was heard", func() bool { return x.Get("/hook/status").Field(t, "last_event_type") != "<nil>" })
	for name, want := range map[string]string{"enabled": "true", "mode": modeHooks, "last_event_type": "SessionStart", "watching": "fsnotify"} {
		if got := x.Get("/hook/status").Field(t, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// The page's "last active X ago" counts from the last activity, which it receives.
func scenarioLastActive(t *testing.T) {
	x := serve(t, Options{})
	s := x.stream("/events")
	x.post("/hook/session-start", `{"session_id":"s"}`)
	s.await("session_created", sessionIs("s"))
	var before time.Time
	x.Until("it is shown", func() bool { l := s.list(); return len(l) == 1 && !l[0].UpdatedAt.IsZero() })
	before = s.list()[0].UpdatedAt
	time.Sleep(2 * time.Millisecond)
	x.post("/hook/notification", `{"session_id":"s"}`)
	x.Until("the page has a later time", func() bool { return s.list()[0].UpdatedAt.After(before) })
}

// sweeps returns how often transcripts were read.
func (x *site) sweeps() int64 {
	return x.s.feed.sweeps.Load()
}
