// Package trust stores what a policy remembers between hooks: copies of the policy files that the user
// trusts or that were last valid, who answers which invocation, what the user was told, and the trace.
//
// All of it is in one directory, private to the user. Files are replaced as a whole; a file
// that cannot be trusted (damaged, forged, of another version) counts as missing.
package trust

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event/home"
	"beckon/event/plainfile"
	"beckon/event/policy/wire"
	"beckon/event/redact"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Name is the policy file's name, in both places.
const Name = "policy.json"

// ProjectFile returns the path of a project's policy.
func ProjectFile(dir string) string { return filepath.Join(dir, ".beckon", Name) }

// ProjectOf returns the project whose policy file is at path.
func ProjectOf(path string) string { return filepath.Dir(filepath.Dir(path)) }

// Files returns the paths of the user's policy and of the client's project's, empty if their place is unknown.
func Files(getenv func(string) string) (global, project string) {
	global = home.Config(getenv, Name)
	if d := getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(d) {
		project = ProjectFile(d)
	}
	return global, project
}

// Tree says where a directory is in a linked worktree of git: its real path, the worktree's root, and what
// all worktrees have in common, mostly the main one's root; empty if it is in none.
type Tree func(dir string) (at, root, main string)

// Twin returns the name of a project's policy file in the main worktree; empty if there is none.
func (t Tree) Twin(file string) string { return twin(t(ProjectOf(file))) }

func twin(at, root, main string) string {
	below, inside := strings.CutPrefix(at, root)
	if main == "" || !inside {
		return ""
	}
	return ProjectFile(filepath.Join(main, below))
}

// NameOf returns the name under which the user may trust the policy file at path: its own or its twin's.
func (d Dir) NameOf(path string, tree Tree) string {
	if d.HasCopy(Trusted, path) || !d.has(Trusted) {
		return path
	}
	if other := tree.Twin(path); d.HasCopy(Trusted, other) {
		return other
	}
	return path
}

// ProjectAround returns the project of a directory: the nearest upwards whose policy the user trusts, there or in
// another worktree, else the nearest with a policy (which must not hide an outer one), else the directory itself.
func ProjectAround(dir string, kept Dir, tree Tree) string {
	dir = filepath.Clean(dir)
	trusts, nearest, root, main := kept.has(Trusted), "", "", "" // any project
	if trusts {
		if at, in, of := tree(dir); of != "" {
			dir, root, main = at, in, of
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		file := ProjectFile(at)
		if trusts && (kept.HasCopy(Trusted, file) || kept.HasCopy(Trusted, twin(at, root, main))) {
			return at
		}
		if _, err := os.Stat(file); err == nil && nearest == "" {
			nearest = at
		}
		if at == filepath.Dir(at) {
			return cmp.Or(nearest, dir)
		}
	}
}

// Dir is the policy's own part of the state directory.
type Dir string

// In returns the policy's part of a state directory.
func In(stateDir string) Dir { return Dir(filepath.Join(stateDir, "policy")) }

// Path returns the path of a file in d.
func (d Dir) Path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Write replaces a file of d as a whole.
func (d Dir) Write(data []byte, elem ...string) error {
	return plainfile.Write(d.Path(elem...), data, fileMode, false)
}

// Read returns the content of a file of d, nil if it cannot be read.
func (d Dir) Read(elem ...string) []byte {
	data, _ := plainfile.ReadFile(d.Path(elem...))
	return data
}

// has reports whether a file or directory of d is there, by one system call.
func (d Dir) has(elem ...string) bool {
	_, err := os.Lstat(d.Path(elem...))
	return err == nil
}

// Remove deletes a file of d; a missing one is no error.
func (d Dir) Remove(elem ...string) error {
	if err := os.Remove(d.Path(elem...)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sum returns the hash by which texts are compared and files named.
func Sum[T string | []byte](text T) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The trace is a file of lines, renamed to trace.jsonl.1 when it is full.
const (
	traceFile = "trace.jsonl"
	maxTrace  = 4 << 20
	maxText   = 512 // bytes of each text
)

// Entry is one line of the trace: the decision on one event, and its hooks. Texts are redacted and cut.
type Entry struct {
	At        time.Time     `json:"at"`
	Event     string        `json:"event"`
	ID        string        `json:"id"`
	Session   string        `json:"session_id,omitempty"`
	Prompt    string        `json:"prompt_id,omitempty"`
	ToolUseID string        `json:"tool_use_id,omitempty"`
	AgentID   string        `json:"agent_id,omitempty"`
	Tool      string        `json:"tool,omitempty"`
	Subject   string        `json:"subject,omitempty"` // the command, file or prompt
	Allowed   bool          `json:"allowed"`
	Decision  wire.Decision `json:"decision"` // "" is silence
	Reason    string        `json:"reason,omitempty"`
	Rewritten string        `json:"rewritten,omitempty"` // the final input
	Hooks     []TracedHook  `json:"hooks"`
	Notes     []string      `json:"notes,omitempty"`
}

// TracedHook is one hook in an Entry.
type TracedHook struct {
	Hook    string `json:"hookId"`
	Success bool   `json:"success"` // it ran and answered
	Type    string `json:"type"`
	wire.Outcome
	Error    string `json:"error,omitempty"`
	Skipped  string `json:"skipped,omitempty"`
	Observed bool   `json:"observed,omitempty"` // its answer did not count
	Rewrote  string `json:"rewrote,omitempty"`
	Us       int64  `json:"us"`
}

// Kept returns a text in the form that the trace stores.
func Kept(s string) string { return Short(redact.Text(s)) }

// Short returns a name in the form that the trace stores: senders of posts choose their own.
func Short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// Trace adds a line.
func (d Dir) Trace(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return plainfile.AppendLine(d.Path(traceFile), line, maxTrace)
}

// Entries returns the newest n entries, oldest first; lines that do not parse are skipped.
func (d Dir) Entries(n int) (out []Entry, err error) {
	for _, name := range []string{traceFile + ".1", traceFile} {
		data, err := plainfile.ReadFile(d.Path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			var e Entry
			if json.Unmarshal(line, &e) == nil && e.Event != "" {
				out = append(out, e)
			}
		}
	}
	return out[max(0, len(out)-n):], nil
}
