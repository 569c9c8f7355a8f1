//go:build unix

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// APIKey is the client's API key. It is not a real one.
const APIKey = "lab-key-that-opens-nothing-0000000000"

// nowhere is the address of a proxy that does not exist.
const nowhere = "http://127.0.0.1:9"

const basePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Home is a scratch user: a home directory in which the client starts without
// any dialog, and a project, a git repository on branch main, with one commit.
type Home struct {
	Root    string            // everything below is in here
	Dir     string            // HOME
	Project string            // a trusted git repository
	State   string            // BECKON_STATE_DIR
	Bin     string            // first on PATH; holds claude
	Extra   map[string]string // added to Env, for a test's own variables

	api    string
	client Client
}

// NewHome creates a scratch home for client, which uses the API at url.
func NewHome(client Client, url string) (*Home, error) {
	root, err := os.MkdirTemp("", "lab")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, "home")
	h := &Home{
		Root: root, Dir: dir, Project: filepath.Join(root, "proj"), Bin: filepath.Join(root, "bin"),
		State: filepath.Join(dir, ".local", "state", "beckon"), Extra: map[string]string{},
		api: url, client: client,
	}
	configure := h.writeClientConfig
	if client.Agent != nil {
		configure = func() error { return client.Agent.setup(h) }
	}
	err = errors.Join(h.makeDirs(), configure(), h.fillProject(h.Project))
	if client.Agent != nil {
		err = errors.Join(err, h.fillProject(h.Dirs()[1]))
	}
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("preparing a scratch home: %w", err)
	}
	return h, nil
}

// Close kills what still runs in this home and removes the home.
func (h *Home) Close() error {
	h.killAll()
	err := os.RemoveAll(h.Root)
	for i := 0; err != nil && i < 20; i++ { // a process that is exiting may still write
		time.Sleep(100 * time.Millisecond)
		h.killAll()
		err = os.RemoveAll(h.Root)
	}
	return err
}

// killAll kills every process whose HOME is this one: clients that outlive their terminal, and
// what they left in the background. Without /proc they end by themselves, after the longest
// nap.
func (h *Home) killAll() {
	for _, pid := range h.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (h *Home) processes() (pids []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range environs {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00HOME="+h.Dir+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h *Home) makeDirs() error {
	var errs []error
	for _, d := range []string{h.Dir, h.Project, h.Bin, h.path("tmp"), h.path("run"), h.path("home/.claude"), h.path("outside")} {
		errs = append(errs, os.MkdirAll(d, 0o700))
	}
	for _, f := range []string{"a", "b", "c"} { // reading them needs a permission
		errs = append(errs, os.WriteFile(h.path("outside/"+f+".txt"), []byte(f+"\n"), 0o600))
	}
	name := "claude"
	if a := h.client.Agent; a != nil {
		name = a.Name
	}
	errs = append(errs, os.Symlink(h.client.Path, filepath.Join(h.Bin, name)))
	return errors.Join(errs...)
}

// Dirs returns the directories of an agent's first and second pane, by which their sessions
// are recognised.
func (h *Home) Dirs() []string { return []string{h.Project, h.Project + "2"} }

func (h *Home) path(rel string) string { return filepath.Join(h.Root, filepath.FromSlash(rel)) }

// writeClientConfig answers every question of a first start in advance.
func (h *Home) writeClientConfig() error {
	trusted := fields{
		"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
		"projectOnboardingSeenCount": 9, "allowedTools": []string{}, "history": []string{},
	}
	return writeJSON(filepath.Join(h.Dir, ".claude.json"), fields{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": h.client.Version, "lastReleaseNotesSeen": h.client.Version,
		"theme": "dark", "numStartups": 20, "autoUpdates": false, "installMethod": "unknown", "editorMode": "normal",
		"customApiKeyResponses":         fields{"approved": []string{APIKey[len(APIKey)-20:]}, "rejected": []string{}},
		"bypassPermissionsModeAccepted": true, "hasSeenTasksHint": true, "hasUsedBackslashReturn": true,
		"projects": fields{h.Project: trusted},
	})
}

const holdAnswer = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`

// fillProject creates a small repository. ./nap N sleeps and is allowed; sh nap N does the
// same and is not. ./hold is a PermissionRequest hook that allows after six seconds.
func (h *Home) fillProject(dir string) error {
	if err := errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "README.md"), []byte("# lab\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "nap"), []byte("#!/bin/sh\nsleep \"$1\"\n"), 0o700),
		os.WriteFile(filepath.Join(dir, "hold"), []byte("#!/bin/sh\nsleep 6\necho '"+holdAnswer+"'\n"), 0o700),
		writeJSON(filepath.Join(dir, ".claude", "settings.json"), fields{
			"permissions": fields{"allow": []string{"Bash(./nap:*)", "Bash(claude -p:*)"}},
		}),
	); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=lab", "-c", "user.email=lab@example.invalid", "commit", "-q", "-m", "start"},
	} {
		cmd := h.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// Env returns the whole environment of a client, without anything of the caller's.
func (h *Home) Env() []string {
	env := map[string]string{
		"HOME": h.Dir, "PATH": h.Bin + ":" + basePath, "USER": "lab", "LOGNAME": "lab", "SHELL": "/bin/bash",
		"LANG": "C.UTF-8", "TERM": "xterm-256color", "TMPDIR": h.path("tmp"), "CLAUDE_CODE_TMPDIR": h.path("tmp"),
		"XDG_CONFIG_HOME": h.path("home/.config"), "XDG_STATE_HOME": h.path("home/.local/state"),
		"XDG_CACHE_HOME": h.path("home/.cache"), "XDG_DATA_HOME": h.path("home/.local/share"), "XDG_RUNTIME_DIR": h.path("run"),
		"BECKON_STATE_DIR": h.State,
	}
	if a := h.client.Agent; a != nil {
		maps.Copy(env, a.env(h))
		// Only loopback can be reached.
		maps.Copy(env, map[string]string{"HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "NO_PROXY": "127.0.0.1,localhost"})
	} else {
		maps.Copy(env, map[string]string{
			"ANTHROPIC_BASE_URL": h.api, "ANTHROPIC_API_KEY": APIKey,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "1",
		})
	}
	for k, v := range h.Extra {
		env[k] = v
	}
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	return list
}

// Command prepares a command in the project, with Env. A bare name is looked up in Bin first,
// where a test puts the programs under test.
func (h *Home) Command(name string, args ...string) *exec.Cmd {
	if path := filepath.Join(h.Bin, name); !strings.ContainsRune(name, filepath.Separator) {
		if _, err := os.Stat(path); err == nil {
			name = path
		}
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = h.Project, h.Env()
	return cmd
}

// Args returns the arguments that make this version of the client ask before it acts.
func (h *Home) Args() []string {
	if a := h.client.Agent; a != nil {
		return a.args
	}
	if h.client.Version == V197 {
		return nil
	}
	return []string{"--permission-mode", "default"}
}

// Print runs `claude -p prompt` to its end and returns its output.
func (h *Home) Print(prompt string, args ...string) (string, error) {
	out, err := h.Command(h.client.Path, append(append(h.Args(), args...), "-p", prompt)...).CombinedOutput()
	return string(out), err
}

// Registry reads the client's own sessions/PID.json files; those that cannot be parsed now are
// left out.
func (h *Home) Registry() []Registered {
	files, _ := filepath.Glob(filepath.Join(h.Dir, ".claude", "sessions", "*.json"))
	list := []Registered{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		var r Registered
		if err == nil && json.Unmarshal(b, &r) == nil && r.PID != 0 {
			list = append(list, r)
		}
	}
	return list
}

// Registered is an entry of the client's registry: the fields of a recording.
type Registered struct {
	PID             int     `json:"pid"`
	ProcStart       string  `json:"procStart"`
	SessionID       string  `json:"sessionId"`
	Kind            string  `json:"kind"`
	Entrypoint      string  `json:"entrypoint"`
	Status          string  `json:"status"`
	WaitingFor      *string `json:"waitingFor"`
	StatusUpdatedAt int64   `json:"statusUpdatedAt"`
	UpdatedAt       int64   `json:"updatedAt"`
	StartedAt       int64   `json:"startedAt"`
}

// MarshalJSON encodes a missing status as null.
func (r Registered) MarshalJSON() ([]byte, error) {
	var status *string
	if r.Status != "" {
		status = &r.Status
	}
	return json.Marshal(struct {
		PID        int     `json:"pid"`
		ProcStart  string  `json:"procStart"`
		SessionID  string  `json:"sessionId"`
		Kind       string  `json:"kind"`
		Status     *string `json:"status"`
		WaitingFor *string `json:"waitingFor"`
		S          int64   `json:"statusUpdatedAt"`
		U          int64   `json:"updatedAt"`
		A          int64   `json:"startedAt"`
	}{r.PID, r.ProcStart, r.SessionID, r.Kind, status, r.WaitingFor, r.StatusUpdatedAt, r.UpdatedAt, r.StartedAt})
}

// same reports whether both describe the same state of the same session.
func (r Registered) same(o Registered) bool {
	a, b := r.WaitingFor, o.WaitingFor
	r.WaitingFor, o.WaitingFor = nil, nil
	return r == o && (a == nil) == (b == nil) && (a == nil || *a == *b)
}

var notAlnum = regexp.MustCompile(`[^a-zA-Z0-9]`)

// Transcript returns the path to which the client writes the transcript of a session.
func (h *Home) Transcript(sessionID string) string {
	return filepath.Join(h.Dir, ".claude", "projects", notAlnum.ReplaceAllString(h.Project, "-"), sessionID+".jsonl")
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}
