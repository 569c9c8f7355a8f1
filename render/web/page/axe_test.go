package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"beckon/testdata/need"
)

// axeVersion is the release of axe-core (npm) with which the page is checked.
const axeVersion = "4.14.1"

// findAxe returns the source of axe-core, from the directory next to the clients under test.
// In CI it is installed if it is missing.
func findAxe(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		need.Missing(t, "looking for axe-core: %v", err)
	}
	dir := filepath.Join(cache, "beckon-test", "axe-core", axeVersion)
	path := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "true" {
			t.Skipf("the check for accessibility needs axe-core: npm install --prefix %s axe-core@%s", dir, axeVersion)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("npm", "install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "axe-core@"+axeVersion)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("installing axe-core: %v\n%s", err, out)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
