package hub

import (
	"os"
	"path/filepath"
	"testing"
)

// A hub cannot be opened with an incomplete file.
func TestOpenWithoutAKey(t *testing.T) {
	dir := t.TempDir()
	h, err := Init(dir, "127.0.0.1:7484", nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Open(dir); err != nil || same.Account.name != h.Account.name {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", `{"operator_seed":"","account_seed":"","system_seed":""}`, `{"operator_seed":null}`} {
		if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Errorf("%q opens a hub", text)
		}
	}
}
