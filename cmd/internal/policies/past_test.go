package policies

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

func pastCalls(t *testing.T, r *past, paths ...string) (list []string) {
	t.Helper()
	err := r.each(t.Context(), paths, func(c call) {
		p := gjson.ParseBytes(c.payload)
		if !p.IsObject() || c.place == "" {
			t.Errorf("%s: %s", c.place, c.payload)
		}
		list = append(list, fmt.Sprint(c.kind, " ", p.Get("tool_name").Str, " ", p.Get("tool_input.command").Str+p.Get("tool_input.file_path").Str))
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// A transcript of the real client contains its calls in full; a recording contains every
// event.
func TestTranscriptAndRecording(t *testing.T) {
	got := pastCalls(t, &past{}, "../../../event/transcript/testdata/2.1.329_esc_tool.jsonl")
	if !slices.Equal(got, []string{"PreToolUse Bash ./nap 30"}) {
		t.Errorf("transcript: %q", got)
	}
	got = pastCalls(t, &past{}, "../../../testdata/recordings/2.1.329/perm_yes.jsonl")
	for _, want := range []string{"PreToolUse Write ", "PermissionRequest Write "} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("recording: no %q in %q", want, got)
		}
	}
}

// History contains only one line of a call.
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
	again := write("again.jsonl", `{"seq":1,"at":1795318077788,"event":{"kind":"PreToolUse","session_id":"s","tool":{"name":"Bash","id":"t1","summary":"Bash: git push -f"}}}
{"seq":2,"at":1795318077788,"event":{"kind":"PreToolUse","session_id":"s","tool":{"name":"Bash","id":"t9","summary":"Bash: make"}}}
`)
	r := &past{}
	got := pastCalls(t, r, journal, again, filepath.Join(dir, "none"))
	want := []string{"PreToolUse Bash git push -f", "PreToolUse Write /p/a/b.txt", "PreToolUse Bash make"}
	if !slices.Equal(got, want) || r.cut != 1 || r.broken != 1 {
		t.Errorf("got %q, %d cut, %d broken", got, r.cut, r.broken)
	}
	if got := pastCalls(t, &past{since: time.UnixMilli(1795318077789)}, journal); len(got) != 1 {
		t.Errorf("since the second: %q", got)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &past{}
	err := r.each(ctx, []string{"../../../event/transcript/testdata"}, func(call) {
		t.Error("a call of a context that has ended")
	})
	if err == nil {
		t.Error("no error")
	}
}

// A linked directory is read, and a directory that cannot be read does not hide the others.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	const line = `{"seq":1,"at":1795318077788,"event":{"kind":"PreToolUse","session_id":"s","tool":{"name":"Bash","summary":"Bash: make"}}}`
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
	if got := pastCalls(t, &past{}, link); len(got) != 2 {
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
	n := 0
	r := &past{}
	if err := r.each(t.Context(), []string{link}, func(call) { n++ }); n != 1 || err == nil {
		t.Errorf("beside a closed directory: %d calls, error %v", n, err)
	}
}
