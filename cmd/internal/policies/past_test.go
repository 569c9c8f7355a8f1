package policies

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func pastCalls(t *testing.T, r *past, path string) (list []string) {
	t.Helper()
	err := r.each(path, func(c call) {
		p := gjson.ParseBytes(c.Payload)
		if !p.IsObject() || c.place == "" {
			t.Errorf("%s: %s", c.place, c.Payload)
		}
		list = append(list, fmt.Sprint(c.Kind, " ", p.Get("tool_name").Str, " ", p.Get("tool_input.command").Str+p.Get("tool_input.file_path").Str))
	})
	if err != nil {
		t.Error(err)
	}
	return list
}

// A transcript of the real client contains its calls in full, each once.
func TestTranscript(t *testing.T) {
	const file = "../../../event/transcript/testdata/2.1.329_esc_tool.jsonl"
	if got := pastCalls(t, &past{}, file); !slices.Equal(got, []string{"PreToolUse Bash ./nap 30"}) {
		t.Errorf("transcript: %q", got)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, r := t.TempDir(), &past{}
	for _, name := range []string{"a.jsonl", "b.jsonl", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), append(data, "{broken\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := pastCalls(t, r, dir); len(got) != 1 || r.broken != 2 {
		t.Errorf("twice: %q, %d broken", got, r.broken)
	}
	if got := pastCalls(t, &past{since: time.Now()}, dir); len(got) != 0 {
		t.Errorf("since now: %q", got)
	}
}

// A linked directory is read, and a directory that cannot be read does not hide the others.
func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	const line = `{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}`
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
	if err := r.each(link, func(call) { n++ }); n != 1 || err == nil {
		t.Errorf("beside a closed directory: %d calls, error %v", n, err)
	}
}
