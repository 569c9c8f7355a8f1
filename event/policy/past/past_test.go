package past

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func calls(t *testing.T, r *Reader, paths ...string) (list []string) {
	t.Helper()
	for c := range r.Calls(context.Background(), paths...) {
		p := gjson.ParseBytes(c.Payload)
		if !p.IsObject() || c.Place == "" {
			t.Errorf("%s: %s", c.Place, c.Payload)
		}
		list = append(list, fmt.Sprint(c.Kind, " ", p.Get("tool_name").Str, " ", p.Get("tool_input.command").Str+p.Get("tool_input.file_path").Str))
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	return list
}

// A transcript of the real client contains its calls in full; a recording contains every
// event.
func TestTranscriptAndRecording(t *testing.T) {
	got := calls(t, &Reader{}, "../../transcript/testdata/2.1.329_esc_tool.jsonl")
	if !slices.Equal(got, []string{"PreToolUse Bash ./nap 30"}) {
		t.Errorf("transcript: %q", got)
	}
	got = calls(t, &Reader{}, "../../../testdata/recordings/2.1.329/perm_yes.jsonl")
	for _, want := range []string{"PreToolUse Write ", "PermissionRequest Write "} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("recording: no %q in %q", want, got)
		}
	}
}

// A journal and the trace contain only one line of a call.
func TestShortened(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	journal := write("journal.jsonl", `{"seq":1,"at":1795318077788,"kind":"event","us":0,"event":{"kind":"PreToolUse","session_id":"s","cwd":"/p","tool":{"name":"Bash","id":"t1","summary":"Bash: git push -f"}}}
{"seq":2,"at":1795318077789,"kind":"event","us":0,"event":{"kind":"PreToolUse","session_id":"s","cwd":"/p","tool":{"name":"Write","id":"t2","summary":"Write: a/b.txt"}}}
{"seq":3,"at":1795318077789,"kind":"event","us":0,"event":{"kind":"PostToolUse","session_id":"s","cwd":"/p","tool":{"name":"Write","id":"t2","summary":"Write: a/b.txt"}}}
{"seq":4,"at":1795318077790,"kind":"event","us":0,"event":{"kind":"PreToolUse","session_id":"s","cwd":"/p","tool":{"name":"Bash","id":"t3","summary":"Bash: a long one…"}}}
{"seq":5,"at":17953180
`)
	trace := write("trace.jsonl", `{"at":"2026-11-22T02:00:00Z","event":"PreToolUse","session_id":"s","tool":"Bash","tool_use_id":"t1","subject":"git push -f","decision":"deny","hooks":[]}
{"at":"2026-11-22T02:00:00Z","event":"PreToolUse","session_id":"s","tool":"Bash","tool_use_id":"t9","subject":"make","decision":"","hooks":[]}
`)
	r := &Reader{}
	got := calls(t, r, journal, trace, filepath.Join(dir, "none"))
	want := []string{"PreToolUse Bash git push -f", "PreToolUse Write /p/a/b.txt", "PreToolUse Bash make"}
	if !slices.Equal(got, want) || r.Cut != 1 || r.Broken != 1 {
		t.Errorf("got %q, %d cut, %d broken", got, r.Cut, r.Broken)
	}
	if got := calls(t, &Reader{Since: time.UnixMilli(1795318077789)}, journal); len(got) != 1 {
		t.Errorf("since the second: %q", got)
	}
	var read, total int64
	calls(t, &Reader{Progress: func(r, of int64) { read, total = r, of }}, dir)
	if read != total || total == 0 {
		t.Errorf("read %d of %d", read, total)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &Reader{}
	for range r.Calls(ctx, "../../transcript/testdata") {
		t.Error("a call of a context that has ended")
	}
	if r.Err() == nil {
		t.Error("no error")
	}
}

// A linked directory is read, and a directory that cannot be read does not hide the others.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	const line = `{"at":"2026-11-22T02:00:00Z","event":"PreToolUse","session_id":"s","tool":"Bash","subject":"make","hooks":[]}`
	for _, name := range []string{"closed", "open"} {
		if err := os.MkdirAll(filepath.Join(dir, "all", name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "all", name, "a.jsonl"), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "all"), link); err != nil {
		t.Skip(err)
	}
	if got := calls(t, &Reader{}, link); len(got) != 2 {
		t.Errorf("by a link: %q", got)
	}
	closed := filepath.Join(dir, "all", "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o700)
	if _, err := os.ReadDir(closed); err == nil {
		return // root, or a system without modes
	}
	r, n := &Reader{}, 0
	for range r.Calls(context.Background(), link) {
		n++
	}
	if n != 1 || r.Err() == nil {
		t.Errorf("beside a closed directory: %d calls, error %v", n, r.Err())
	}
}
