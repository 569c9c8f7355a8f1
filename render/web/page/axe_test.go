package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// The npm packages with which the page is checked.
const (
	axeCore    = "axe-core@4.14.1"
	typescript = "typescript@5.9.3"
	eslint     = "eslint@10.15.0"
)

// findAxe returns the source of axe-core.
func findAxe(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(installed(t, "the check for accessibility", axeCore, "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// installed returns the path of a file of an npm package, which is in the directory next to the
// clients under test. In CI it is installed if it is missing.
func installed(t *testing.T, what, pkg, file string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		need.Missing(t, "looking for %s: %v", pkg, err)
	}
	name, version, _ := strings.Cut(pkg, "@")
	dir := filepath.Join(cache, "beckon-test", name, version)
	path := filepath.Join(dir, "node_modules", name, file)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if os.Getenv("CI") != "true" {
		t.Skipf("%s needs %s: npm install --prefix %s %s", what, name, dir, pkg)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("installing %s: %v\n%s", pkg, err, out)
	}
	return path
}

// The page's modules pass the type check and the linter. Sessions are of any type: the server
// decides what they have.
func TestModules(t *testing.T) {
	modules, err := filepath.Glob("assets/*.mjs")
	if err != nil || len(modules) < 5 {
		t.Fatalf("%d modules: %v", len(modules), err)
	}
	tsc := []string{installed(t, "the type check", typescript, "bin/tsc"), "--noEmit", "--allowJs", "--checkJs", "--strict", "false",
		"--target", "esnext", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "esnext,dom,dom.iterable"}
	lint := []string{installed(t, "the linter", eslint, "bin/eslint.js"), "--no-config-lookup", "--max-warnings", "0"}
	for _, rule := range []string{"no-unused-vars", "no-shadow", "no-var", "prefer-const", "eqeqeq", "no-fallthrough", "no-unreachable", "no-self-compare",
		"no-dupe-else-if", "no-duplicate-imports", "no-implied-eval", "no-new-func", "no-throw-literal", "no-useless-return"} {
		lint = append(lint, "--rule", rule+": error")
	}
	for _, args := range [][]string{tsc, lint} {
		if out, err := exec.Command("node", append(args, modules...)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(args[0]), err, out)
		}
	}
}
