package transcript

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// After each line of the real client's transcripts, the final message is returned as long as
// nothing follows it, and nothing after a call, a result or a prompt.
func TestLastWordsOfRealTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/2.1.329_*.jsonl")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d transcripts, %v", len(paths), err)
	}
	finals := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, so := filepath.Join(t.TempDir(), "t.jsonl"), ""
		for line := range strings.Lines(string(data)) {
			so += line
			want, known := finalIn(t, line)
			if !known {
				continue
			}
			if err := os.WriteFile(file, []byte(so), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := LastWords(file, MaxText)
			if err != nil || got.Text != want || (got.At != 0) != (want != "") {
				t.Errorf("%s, after %.80s: %+v, %v, want %q", path, line, got, err, want)
			}
			if want != "" {
				finals++
			}
		}
	}
	if finals < 5 {
		t.Errorf("only %d final messages", finals)
	}
}

// finalIn returns the message if the line ends a turn with one, or "" for a call or a result.
// The second result reports whether the line is any of these.
func finalIn(t *testing.T, line string) (string, bool) {
	t.Helper()
	var e struct {
		Type        string
		IsSidechain bool
		AgentID     string
		Message     struct {
			Content    json.RawMessage
			StopReason string `json:"stop_reason"`
		}
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal([]byte(line), &e) != nil || e.IsSidechain || e.AgentID != "" || json.Unmarshal(e.Message.Content, &blocks) != nil || len(blocks) != 1 {
		return "", false
	}
	switch b := blocks[0]; {
	case e.Type == "assistant" && b.Type == "text" && e.Message.StopReason == "end_turn":
		return b.Text, true
	case b.Type == "tool_use" || b.Type == "tool_result":
		return "", true
	}
	return "", false
}

func TestLastWordsErrors(t *testing.T) {
	if _, err := LastWords(filepath.Join(t.TempDir(), "none.jsonl"), MaxText); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
