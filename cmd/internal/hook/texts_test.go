package hook

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/cmd/internal/config"
	"beckon/state/alert"
	"beckon/state/store"
)

// The hook finds the configuration where config.Path does.
func TestConfigFile(t *testing.T) {
	dir := t.TempDir()
	for _, env := range []map[string]string{
		{"XDG_CONFIG_HOME": dir, "HOME": "/elsewhere"},
		{"XDG_CONFIG_HOME": "relative", "HOME": dir},
		{"HOME": dir},
		{"USERPROFILE": dir},
		{"HOME": "relative"},
		{},
	} {
		getenv := func(k string) string { return env[k] }
		want, err := config.Path(getenv)
		if got := alert.ConfigPath(getenv); got != want || (got == "") != (err != nil) {
			t.Errorf("%v: %q, config has %q (%v)", env, got, want, err)
		}
	}
}

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
	if got := Texts(getenv); got != store.TextsFull {
		t.Errorf("without a file: %q", got)
	}
	for file, want := range map[string]store.Texts{
		``:                                store.TextsFull,
		`{}`:                              store.TextsFull,
		`{"color": "never"}`:              store.TextsFull,
		`{"texts": "full"}`:               store.TextsFull,
		`{"texts": "short"}`:              store.TextsShort,
		"{/* why */ \"texts\": \"off\",}": store.TextsOff,
		`{"texts": "some"}`:               store.TextsOff,
		`{"texts": 1}`:                    store.TextsOff,
		`{"texts"`:                        store.TextsOff,
	} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Texts(getenv); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
		if cfg, _, err := config.Load(path); err == nil && store.Texts(cfg.Texts) != want {
			t.Errorf("%s: %q, the strict reader says %q", file, want, cfg.Texts)
		}
	}
}
