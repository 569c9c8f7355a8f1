package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// faultyInput stands in for a fault in beckon.
type faultyInput struct{}

func (faultyInput) Read([]byte) (int, error) { var none []int; return none[len(os.Args)], nil }

// A fault in beckon itself is logged, and the agent goes on.
func TestFaultIsNotTheAgents(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	getenv := func(k string) string { return map[string]string{"BECKON_STATE_DIR": dir}[k] }
	if code := observe(ParseArgs([]string{"Stop"}), faultyInput{}, &out, getenv, nil); code != 0 || out.Len() > 0 {
		t.Errorf("exit code %d, stdout %q", code, out.String())
	}
	log, err := os.ReadFile(filepath.Join(dir, "log", "beckon.log"))
	if err != nil || !strings.Contains(string(log), "by a fault in beckon: runtime error: index out of range") {
		t.Errorf("log %q, %v", log, err)
	}
}
