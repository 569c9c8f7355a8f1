// Package bench measures whole processes: what a hook costs the agent and what a view costs the
// user, as ratios to a Go hello-world that runs in the same turn. Machines differ and are shared;
// ratios travel, milliseconds do not.
//
//	go test ./cmd/internal/bench -run '^$' -bench . -benchtime 200x
//
// TestSoak lets many sessions work with every reader attached; -soak says for how long.
//
//	go test ./cmd/internal/bench -run Soak -v -soak 10m
package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const helloSource = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n"

// programs builds the hello-world and the programs of this tree once, and returns their directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "beckon-bench-")
	if err != nil {
		return "", err
	}
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte(helloSource), 0o600); err != nil {
		return "", err
	}
	for name, source := range map[string]string{
		"hello":       hello,
		"beckon":      "beckon/cmd/beckon",
		"beckon-hook": "beckon/cmd/beckon-hook",
	} {
		if err := build(filepath.Join(dir, name), source); err != nil {
			return "", err
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	if hook := os.Getenv(asAgent); hook != "" {
		actAsAgent(hook)
		return
	}
	code := m.Run()
	if dir, err := programs(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// build builds a program and leaves a copy of it at path: a file that the linker has just written
// starts slower than a copy.
func build(path, source string) error {
	fresh := path + ".fresh"
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", fresh, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", source, err, out)
	}
	b, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o700)
}

// home is a user's directory with the state in it.
type home struct{ dir string }

func newHome(tb testing.TB) home { return home{tb.TempDir()} }

func (h home) env() []string {
	return []string{
		"HOME=" + h.dir,
		"BECKON_STATE_DIR=" + h.state(),
		"PATH=" + os.Getenv("PATH"),
		"TERM=xterm-256color",
		"USER=ann",
	}
}

func (h home) state() string { return filepath.Join(h.dir, "state") }

// file writes a file below the home and returns its path.
func (h home) file(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// program returns the path of a built program.
func program(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := programs()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// agent is a process that runs the hooks of one session, as a client does: two sessions with one
// process would replace each other.
type agent struct {
	in  io.Writer
	out *bufio.Scanner
}

// asAgent is set in the environment of this test program where it is an agent's process.
const asAgent = "BECKON_BENCH_AGENT"

// agent starts a process for a session, which lives until the test ends.
func (h home) agent(tb testing.TB) *agent {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(h.env(), asAgent+"="+program(tb, "beckon-hook"))
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &agent{in, bufio.NewScanner(out)}
}

// send runs the hook once. A hook is silent unless a policy answers.
func (a *agent) send(tb testing.TB, payload string) {
	tb.Helper()
	_, err := fmt.Fprintln(a.in, payload)
	if err != nil || !a.out.Scan() || a.out.Text() != "ok" {
		tb.Fatalf("hook: %v %s", err, a.out.Text())
	}
}

// actAsAgent runs the hook for each line of its input, and says how that went.
func actAsAgent(hook string) {
	in := bufio.NewReader(os.Stdin)
	for {
		payload, err := in.ReadString('\n')
		if err != nil {
			return
		}
		cmd := exec.Command(hook)
		cmd.Stdin = strings.NewReader(payload)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			fmt.Printf("%v %q\n", err, out)
		} else {
			fmt.Println("ok")
		}
	}
}

// payload returns an event in the client's form; members are the event's own.
func payload(session, name, members string) string {
	return fmt.Sprintf(`{"session_id":%q,"transcript_path":"/home/u/.claude/projects/-home-u-shop/%s.jsonl",`+
		`"cwd":"/","prompt_id":"p","permission_mode":"default","hook_event_name":%q,%s}`, session, session, name, members)
}

// toolCall returns the payload of a shell command.
func toolCall(session, command string) string {
	return payload(session, "PreToolUse", fmt.Sprintf(
		`"tool_name":"Bash","tool_input":{"command":%q,"description":"what it does"},"tool_use_id":"toolu_1"`, command))
}

// subject is a program to measure, with its input.
type subject struct {
	name  string // for the report: no spaces
	path  string
	args  []string
	env   []string
	stdin string       // path of a file
	reset func() error // before each launch; nil for nothing
	took  []time.Duration
}

func (s *subject) launch(b *testing.B) {
	if s.reset != nil {
		if err := s.reset(); err != nil {
			b.Fatal(err)
		}
	}
	in, err := os.Open(s.stdin)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command(s.path, s.args...)
	cmd.Env, cmd.Stdin = s.env, in
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v", s.name, err)
	}
	s.took = append(s.took, time.Since(began))
}

func (s *subject) median() float64 {
	slices.Sort(s.took)
	return float64(s.took[len(s.took)/2])
}

// compare launches the hello-world and the subjects in turn, in another order each round, so that
// the machine's other work affects all of them, and reports each one's median as a ratio to the
// hello-world's.
func compare(b *testing.B, subjects ...subject) {
	b.Helper()
	hello := subject{name: "hello", path: program(b, "hello"), stdin: os.DevNull}
	all := append([]subject{hello}, subjects...)
	for i := range all {
		all[i].launch(b) // what only a first launch does is not measured
		all[i].took = nil
	}
	round := 0
	for b.Loop() {
		for i := range all {
			all[(i+round)%len(all)].launch(b)
		}
		round++
	}
	base := all[0].median()
	b.ReportMetric(0, "ns/op") // the sum of all subjects says nothing
	for i := range all[1:] {
		s := &all[1+i]
		b.ReportMetric(s.median()/base, s.name+"_x")
	}
}
