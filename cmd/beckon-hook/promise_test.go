package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"beckon/event/recording"
	"beckon/state/store"
)

const start = `{"session_id":"s1","hook_event_name":"SessionStart","source":"startup","cwd":"/"}`

// A stdin that never ends must not block the agent: the hook gives up, and logs that.
func TestOpenStdinEndsByItself(t *testing.T) {
	dir := t.TempDir()
	openStdin(t, dir, `{"session_id":"s1"`)
	log, err := os.ReadFile(filepath.Join(dir, "state", "log", "beckon.log"))
	if err != nil || !strings.Contains(string(log), "event Stop may be lost") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

// A complete object is the event, whether stdin ends or not, and whatever the sender wrote
// before it.
func TestOpenStdinAfterTheObject(t *testing.T) {
	dir := t.TempDir()
	openStdin(t, dir, "\ufeff"+start)
	if s, err := store.Open(filepath.Join(dir, "state")).Load("s1"); err != nil || s.Start.At == 0 {
		t.Errorf("the event is not folded: %+v, %v", s, err)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "state", "log", "beckon.log")); len(log) > 0 {
		t.Errorf("the log says %s, %v", log, err)
	}
}

// openStdin runs a hook whose stdin has text and then stays open.
func openStdin(t *testing.T, dir, text string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd := exec.Command(program(t, "beckon-hook"), "Stop")
	cmd.Env, cmd.Stdin = environ(dir), r
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { runHook(t, cmd, ""); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second): // the deadline is 2 s; machines are shared
		_ = cmd.Process.Kill()
		t.Fatal("the hook still waits for its stdin")
	}
}

// Whatever is wrong with the state directory, the hook is silent.
func TestStateDirInTheWay(t *testing.T) {
	for name, prepare := range map[string]func(state string) error{
		"a file":            func(s string) error { return os.WriteFile(s, nil, 0o600) },
		"not writable":      func(s string) error { return os.Mkdir(s, 0o500) },
		"sessions a file":   func(s string) error { return write(filepath.Join(s, "sessions")) },
		"journal a file":    func(s string) error { return write(filepath.Join(s, "journal")) },
		"lock a directory":  func(s string) error { return os.MkdirAll(filepath.Join(s, "locks", "s1.lock"), 0o700) },
		"session garbage":   func(s string) error { return writeText(filepath.Join(s, "sessions", "s1.json"), "{{{") },
		"session of future": func(s string) error { return writeText(filepath.Join(s, "sessions", "s1.json"), `{"schema":99}`) },
		"journal garbage":   func(s string) error { return writeText(filepath.Join(s, "journal", "s1.jsonl"), "\x00\xff\n{\n") },
		"temp a directory":  func(s string) error { return os.MkdirAll(filepath.Join(s, "tmp", "s1.json"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := prepare(filepath.Join(dir, "state")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program(t, "beckon-hook"), "SessionStart")
			cmd.Env = environ(dir)
			runHook(t, cmd, start)
		})
	}
}

func write(path string) error { return writeText(path, "") }

func writeText(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// A session file of a newer version is not changed.
func TestNewerSchemaIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "sessions", "s1.json")
	const newer = `{"schema":99,"future":true}`
	if err := writeText(path, newer); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "beckon-hook"), "SessionStart")
	cmd.Env = environ(dir)
	runHook(t, cmd, start)
	if got, err := os.ReadFile(path); err != nil || string(got) != newer {
		t.Fatalf("file is %q, %v; want it untouched", got, err)
	}
}

// No secret of the environment reaches a file, and files are private.
func TestNothingSecretIsKept(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(program(t, "beckon-hook"), "SessionStart")
	cmd.Env = environ(dir, "CLAUDE_CODE_MESSAGING_TOKEN=hunter2", "ANTHROPIC_API_KEY=hunter2", "VSCODE_GIT_IPC_AUTH_TOKEN=hunter2", "TMUX=/run/t/default,17,0", "TMUX_PANE=%3")
	runHook(t, cmd, start)
	files := 0
	err := filepath.WalkDir(filepath.Join(dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s holds a secret of the environment", path)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// varies matches the numbers in which two runs differ.
var varies = regexp.MustCompile(`"(at|us|sum|from|ms|pid|via|start|[a-z]+_at|asked|active|ended|started|done|first|timestamp|snapshot|seat|seat_id)":("[^"]*"|\d+)`)

// beckon hook and beckon-hook must leave the same files.
func TestBothProgramsLeaveTheSameFiles(t *testing.T) {
	f, err := os.Open("../../testdata/recordings/2.1.329/sub.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var left [2]string
	for i, args := range [][]string{{program(t, "beckon-hook")}, {program(t, "beckon"), "hook"}} {
		dir := t.TempDir()
		for _, s := range steps {
			if s.Hook() {
				cmd := exec.Command(args[0], append(args[1:], s.Kind)...)
				cmd.Env = environ(dir)
				runHook(t, cmd, string(s.Payload))
			}
		}
		left[i] = contents(t, filepath.Join(dir, "state"))
	}
	if left[0] != left[1] {
		t.Fatalf("beckon-hook left\n%s\nbeckon hook left\n%s", left[0], left[1])
	}
	if strings.Count(left[0], "\n") < len(steps)/2 {
		t.Fatalf("too little was left: %s", left[0])
	}
}

// contents returns the sessions and the history of a state directory without
// what differs from run to run.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	for _, pattern := range []string{"sessions/*", "history/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n%s", filepath.Base(p), varies.ReplaceAll(b, []byte(`"$1":0`)))
		}
	}
	return out.String()
}

// The two programs learn their directories from the environment; a hook without them is
// silent, too.
func TestNoHome(t *testing.T) {
	cmd := exec.Command(program(t, "beckon-hook"), "Stop")
	cmd.Env = []string{}
	runHook(t, cmd, start)
}
