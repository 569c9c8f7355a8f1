package talk

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"beckon/state/evidence"
	"beckon/state/offer"
)

// A file is where a call would write it: links are followed, even one to a file that does not
// exist yet.
func TestUnder(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "in"), t.TempDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "new"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		filepath.Join(dir, "a"): true, filepath.Join(dir, "b", "c"): true, "rel": true, filepath.Join(dir, "..", "a"): false, elsewhere: false,
		filepath.Join(dir, "out", "a"): false, filepath.Join(dir, "link"): false, "": false,
	} {
		payload, _ := json.Marshal(map[string]any{"tool_input": map[string]string{"file_path": path}})
		o := offer.Offer{Host: evidence.ThisMachine().Host, Cwd: dir, Payload: payload}
		if got := under(&o, dir); got != want {
			t.Errorf("%q under %q: %t", path, dir, got)
		}
	}
}
