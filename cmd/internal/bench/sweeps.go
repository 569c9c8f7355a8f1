package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// tools are the programs under test and a directory for what they need.
type tools struct{ dir, hello, hook string }

func programs(dir string) (tools, error) {
	p := tools{dir: dir}
	src, err := p.file("hello.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n")
	if err == nil {
		p.hello, err = build(dir, "hello", src)
	}
	if err == nil {
		p.hook, err = build(dir, "beckon-hook", "beckon/cmd/beckon-hook")
	}
	return p, err
}

func (p tools) file(name, text string) (string, error) {
	path := filepath.Join(p.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// toolEvent returns a tool call's payload.
func toolEvent(session, command string) string {
	return fmt.Sprintf(`{"session_id":%q,"transcript_path":"/home/u/.claude/projects/-home-u-shop/s.jsonl","cwd":"/","prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q,"description":"what it does"},"tool_use_id":"toolu_1"}`, session, command)
}

func (p tools) helloWorld(payload string) subject {
	return subject{name: "Go hello-world", path: p.hello, payload: payload}
}

func (p tools) state(name string) string { return filepath.Join(p.dir, "state-"+name) }

// env returns the environment of a hook whose state is in the directory of that name.
func (p tools) env(state string) []string {
	return []string{"HOME=" + p.dir, "BECKON_STATE_DIR=" + p.state(state), "TMUX=/tmp/tmux-1000/default,17,0", "TMUX_PANE=%3"}
}

// hooked returns a tool event with its own state directory.
func (p tools) hooked(name, state, payload string) subject {
	return subject{name: name, path: p.hook, args: []string{"PreToolUse"}, env: p.env(state), payload: payload}
}

// payloads returns tool events with ever longer inputs.
func payloads(p tools) (series, error) {
	s := series{title: "payload"}
	for _, size := range []struct {
		name string
		n    int
	}{{"1 KB", 1 << 10}, {"10 KB", 10 << 10}, {"50 KB", 50 << 10}, {"100 KB", 100 << 10}, {"1 MB", 1 << 20}, {"10 MB", 10 << 20}} {
		name := strings.ReplaceAll(size.name, " ", "")
		frame := len(toolEvent("s", ""))
		payload, err := p.file(name+".json", toolEvent("s", strings.Repeat("x", size.n-frame)))
		if err != nil {
			return s, err
		}
		if s.subjects == nil {
			s.subjects = append(s.subjects, p.helloWorld(payload))
		}
		s.subjects = append(s.subjects, p.hooked(size.name, name, payload))
	}
	return s, nil
}

// histories returns sessions with ever more past events.
func histories(p tools) (series, error) {
	s := series{title: "events in the session before"}
	payload, err := p.file("history.json", toolEvent("s", "npm test"))
	if err != nil {
		return s, err
	}
	s.subjects = append(s.subjects, p.helloWorld(payload))
	for _, n := range []int{0, 100, 1_000, 10_000, 100_000} {
		dir := fmt.Sprintf("history-%d", n)
		if err := live(p.state(dir), n); err != nil {
			return s, err
		}
		s.subjects = append(s.subjects, p.hooked(thousands(n), dir, payload))
	}
	return s, nil
}

// live gives a session a past of n events.
func live(dir string, n int) error {
	st := store.Open(dir)
	at := event.MillisOf(time.Now().Add(-time.Hour))
	kinds := [...]event.Kind{event.UserPromptSubmit, event.PreToolUse, event.PostToolUse, event.Stop}
	for i := range n {
		k := kinds[i%len(kinds)]
		e := event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: "s", Cwd: "/", PromptID: fmt.Sprint(i / 4), At: at + event.Millis(i)}
		switch k {
		case event.UserPromptSubmit:
			e.Prompt = "please run the tests and mend what fails"
		case event.PreToolUse, event.PostToolUse:
			e.Tool = event.Tool{Name: "Bash", UseID: fmt.Sprint("t", i/4), Hash: "0123456789abcdef", Summary: "Bash: npm test"}
		case event.Stop:
			e.Message = "All 412 tests pass."
		}
		if err := foldEvent(st, "s", e); err != nil {
			return err
		}
	}
	return nil
}

// directories returns state directories with ever more other sessions.
func directories(p tools) (series, error) {
	s := series{title: "other sessions, live + archived"}
	payload, err := p.file("directory.json", toolEvent("s", "npm test"))
	if err != nil {
		return s, err
	}
	s.subjects = append(s.subjects, p.helloWorld(payload))
	for _, n := range []int{0, 100, 1_000, 10_000} {
		dir := fmt.Sprintf("directory-%d", n)
		for i := range n {
			if err := neighbour(p.state(dir), i); err != nil {
				return s, err
			}
		}
		s.subjects = append(s.subjects, p.hooked(thousands(n), dir, payload))
	}
	return s, nil
}

// neighbour writes the files of another session, one live and one archived.
func neighbour(dir string, i int) error {
	now := event.MillisOf(time.Now())
	for _, sub := range []string{"sessions", "archive"} {
		s := state.Session{Schema: state.Schema, ID: fmt.Sprintf("%s-%05d", sub, i), Seq: 1, Offset: 1, Updated: now}
		if sub == "archive" {
			s.End.At = now
		}
		at := filepath.Join(dir, sub)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(at, s.ID+".json"), append(state.AppendJSON(nil, &s), '\n'), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// crowd launches k hooks at once, on one session and on one session each, in turn, and counts
// which events are missing in the end.
func (p tools) crowd(k, rounds int) (crowd, error) {
	dir := fmt.Sprintf("crowd-%d-%d", k, time.Now().UnixNano())
	same, own := make([]subject, k), make([]subject, k)
	for i := range k {
		for _, s := range []struct {
			in   *subject
			name string
		}{{&same[i], "s"}, {&own[i], fmt.Sprintf("own-%d", i)}} {
			payload, err := p.file(s.name+".json", toolEvent(s.name, "npm test"))
			if err != nil {
				return crowd{}, err
			}
			*s.in = p.hooked(s.name, dir, payload)
		}
	}
	var took [2][]time.Duration
	for range rounds {
		for i, group := range [][]subject{same, own} {
			d, err := together(group)
			if err != nil {
				return crowd{}, err
			}
			took[i] = append(took[i], d)
		}
	}
	st := store.Open(p.state(dir))
	if err := st.DrainSpool(); err != nil {
		return crowd{}, err
	}
	s, err := st.Load("s")
	return crowd{hooks: k, ratio: float64(percentile(took[0], 50)) / float64(percentile(took[1], 50)), lost: k*rounds - int(s.Counts.Events)}, err
}

// together launches all of them and returns when the last has exited.
func together(group []subject) (time.Duration, error) {
	began := time.Now()
	errs := make(chan error, len(group))
	for i := range group {
		go func() { errs <- group[i].launch() }()
	}
	var err error
	for range group {
		err = errors.Join(err, <-errs)
	}
	return time.Since(began), err
}
