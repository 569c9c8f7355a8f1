//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// `serve --service` writes a unit that runs this very program with the same flags, that systemd
// accepts, and that a second run leaves as it is.
func TestServeService(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a test of cli reads the unit of launchd")
	}
	home := t.TempDir()
	env := []string{"GORACE=" + noNap, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + filepath.Join(home, "my state")}
	write := func() (unit []byte, said string) {
		cmd := exec.Command(program(t), "serve", "--service", "--addr", "127.0.0.1:7999", "--host", "box.example.org", "--notify", "--no-hooks")
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		unit, err = os.ReadFile(filepath.Join(home, ".config", "systemd", "user", "beckon-serve.service"))
		if err != nil {
			t.Fatal(err)
		}
		return unit, string(out)
	}
	unit, said := write()
	if !strings.Contains(said, "systemctl --user enable --now beckon-serve") {
		t.Errorf("it says %s", said)
	}
	for _, want := range []string{
		`"serve" "--addr" "127.0.0.1:7999" "--host" "box.example.org" "--notify" "--no-hooks"` + "\n",
		`Environment="BECKON_STATE_DIR=` + home + `/my state"` + "\n",
		"Restart=always\n",
	} {
		if !strings.Contains(string(unit), want) {
			t.Errorf("the unit lacks %s:\n%s", want, unit)
		}
	}
	if again, _ := write(); !bytes.Equal(again, unit) {
		t.Errorf("a second run writes another unit:\n%s", again)
	}
	verify := exec.Command(need.Program(t, "systemd-analyze"), "verify", "--user", "--man=no", "--generators=no",
		filepath.Join(home, ".config", "systemd", "user", "beckon-serve.service"))
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "HOME="+home)
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), "beckon-serve.service") {
		t.Errorf("systemd-analyze: %v: %s\n%s", err, out, unit)
	}
}

// logged returns the lines of the log, which must be JSON, and their messages.
func logged(t *testing.T, state string) (text, messages string) {
	t.Helper()
	path := filepath.Join(state, "log", "beckon.log")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %v", info.Mode())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var line struct {
			Level, Time, Program, Message, Error string
			Pid                                  int
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Level == "" || line.Time == "" || line.Pid == 0 {
			t.Errorf("a line of the log is %s: %v", lines.Bytes(), err)
		}
		if line.Message != "" && line.Program != "serve" { // the store's lines, of errors alone, name no program
			t.Errorf("a line of serve is %s", lines.Bytes())
		}
		messages += line.Level + " " + line.Message + line.Error + "\n"
	}
	return string(b), messages
}

// The log has lines of JSON with what the server did and what went wrong, and no text of a payload.
func TestServeLog(t *testing.T) {
	const text = "xyzzyplugh" // is in every payload
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	sessions := filepath.Join(state, "sessions")
	if err := os.MkdirAll(sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sessions, "broken.json"), []byte(`{"id": "`+text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("serving", func(t *testing.T) {
		url := startServe(t, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + state, "GORACE=" + noNap})
		for _, body := range []string{
			`{"hook_event_name":"UserPromptSubmit","session_id":"a","cwd":"/` + text + `","prompt":"` + text + `"}`,
			`{"hook_event_name":"PreToolUse","session_id":"a","tool_name":"Bash","tool_input":{"command":"` + text + `"}}`,
			`{"hook_event_name":"` + text + `","session_id":"a"}`,
			`{"event":"Stop","hookInput":{"session_id":"../` + text + `","transcript_path":"/` + text + `"}}`,
			`{"event":"Stop","hookInput":{"session_id":` + text,
			text,
		} {
			res, err := http.Post(url+"/hook", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
		}
		within(t, "an error in the log", func() bool {
			_, messages := logged(t, state)
			return strings.Contains(messages, "error ")
		})
	})
	all, messages := logged(t, state)
	if !strings.HasPrefix(messages, "info serving\n") && !strings.Contains(messages, "\ninfo serving\n") || !strings.HasSuffix(messages, "info stopped\n") {
		t.Errorf("the log says\n%s", messages)
	}
	if strings.Contains(all, text) {
		t.Errorf("the log has text of a payload:\n%s", all)
	}
}

// On a terminal the same lines are readable.
func TestServeLogOnTerminal(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	p := openTerminal(t, 120, 30, []string{"HOME=" + dir, "BECKON_STATE_DIR=" + state, "GORACE=" + noNap, "TZ=UTC"}, "serve", "--addr", "127.0.0.1:0")
	p.wait(`\d\d:\d\d:\d\d INF serving address=127\.0\.0\.1:\d+ program=serve version=`)
	if _, messages := logged(t, state); messages != "info serving\n" {
		t.Errorf("the log says\n%s", messages)
	}
	p.press("C-c")
}
