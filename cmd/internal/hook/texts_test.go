package hook

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/cmd/internal/config"
)

// Each value that the strict reader accepts means the same here; a value that it rejects keeps
// no text.
func TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "beckon", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	getenv := func(k string) string {
		return map[string]string{"XDG_CONFIG_HOME": filepath.Dir(filepath.Dir(path))}[k]
	}
	if NoTexts(getenv) {
		t.Error("none are kept without a file")
	}
	for file, want := range map[string]bool{
		``:                                false,
		`{}`:                              false,
		`{"color": "never"}`:              false,
		`{"texts": "full"}`:               false,
		`{"texts": "short"}`:              true,
		"{/* why */ \"texts\": \"off\",}": true,
		`{"texts": "some"}`:               true,
		`{"texts": 1}`:                    true,
		`{"texts"`:                        true,
	} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := NoTexts(getenv); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
		if cfg, _, err := config.Load(path); err == nil && (cfg.Texts == "off") != want {
			t.Errorf("%s: %v, the strict reader says %q", file, want, cfg.Texts)
		}
	}
}
