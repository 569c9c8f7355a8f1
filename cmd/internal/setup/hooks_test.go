package setup

import (
	"os"
	"path/filepath"
	"testing"

	"beckon/cmd/internal/cli"
	"beckon/state/store"
)

// Accounts are those of the home; without one, the working directory's are none.
func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll(filepath.Join(dir, ".claude-work", "projects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".claude-work", "settings.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for home, want := range map[string]int{dir: 1, "": 0} {
		getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
		m := &machine{App: &cli.App{Store: store.Open(t.TempDir()), Getenv: getenv}}
		if others, rest := m.accounts(); len(others) != want || len(rest) > 0 {
			t.Errorf("home %q: %d accounts, %q", home, len(others), rest)
		}
	}
}
