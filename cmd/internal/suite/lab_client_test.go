//go:build unix

package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"beckon/testdata/need"
)

// Versions of the client.
const (
	V197   = "2.1.197" // the oldest one measured
	V329   = "2.1.329"
	V330   = "2.1.330" // the newest one measured
	Latest = "latest"  // whatever npm says
)

// Pinned lists the measured versions, oldest first.
var Pinned = []string{V197, V329, V330}

// Bounds are the oldest and the newest of them: what holds for both is taken to hold for those
// between.
var Bounds = []string{V197, V330}

// ErrAbsent means that the client is not installed; Install installs it.
var ErrAbsent = errors.New("client not installed")

// Client is an installed client binary.
type Client struct {
	Version string // as `claude --version` says it
	Path    string
	Agent   *Agent // which other agent it is; nil: Claude Code
}

// clientsDir returns BECKON_TEST_CLIENT_DIR, else a directory of the user's cache.
func clientsDir() (string, error) {
	if dir := os.Getenv("BECKON_TEST_CLIENT_DIR"); dir != "" {
		return dir, nil
	}
	return cacheDir("clients")
}

// cacheDir returns a directory for tests in the user's cache.
func cacheDir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	return filepath.Join(cache, "beckon-test", name), nil
}

// npmPackage returns the npm package that contains the binary for this platform.
func npmPackage() string {
	return "@anthropic-ai/claude-code-" + runtime.GOOS + "-" + npmArch()
}

func npmArch() string { return strings.Replace(runtime.GOARCH, "amd64", "x64", 1) }

func binaryIn(dir string) string {
	return filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage()), "claude")
}

// Find returns the installed client of that version, or ErrAbsent.
func Find(version string) (Client, error) {
	dir, err := clientsDir()
	if err != nil {
		return Client{}, err
	}
	path := binaryIn(filepath.Join(dir, version))
	if _, err := os.Stat(path); err != nil {
		return Client{}, fmt.Errorf("%w: version %s, looked for %q", ErrAbsent, version, path)
	}
	return identify(path)
}

var versionNumber = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// identify runs the binary in an empty home and returns its version.
func identify(path string) (Client, error) {
	home, err := os.MkdirTemp("", "lab")
	if err != nil {
		return Client{}, err
	}
	defer os.RemoveAll(home)
	cmd := exec.Command(path, "--version")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + basePath}
	out, err := cmd.Output()
	v := versionNumber.FindString(string(out))
	if err != nil || v == "" {
		return Client{}, fmt.Errorf("asking %q for its version: %w", path, errors.Join(err, errors.New(strings.TrimSpace(string(out)))))
	}
	return Client{Version: v, Path: path}, nil
}

// Install installs the client of that version with npm and returns it. Install scripts do not
// run: the package contains the binary itself.
func Install(ctx context.Context, version string) (Client, error) {
	dir, err := clientsDir()
	if err != nil {
		return Client{}, err
	}
	if err := npmInstall(ctx, filepath.Join(dir, version), npmPackage()+"@"+version); err != nil {
		return Client{}, err
	}
	return Find(version)
}

func npmInstall(ctx context.Context, dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the client directory: %w", err)
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", name)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("installing %s: %w: %s", name, err, lastLine(string(out)))
	}
	return nil
}

// Need returns the client of that version. Without it, or without tmux, the
// test is skipped with the reason; with CI=true it is installed, or the test fails.
func Need(t testing.TB, version string) Client {
	t.Helper()
	return needClient(t, "client "+version, func() (Client, error) { return Find(version) },
		func(ctx context.Context) (Client, error) { return Install(ctx, version) })
}

func needClient(t testing.TB, what string, find func() (Client, error), install func(context.Context) (Client, error)) Client {
	t.Helper()
	need.Program(t, "tmux")
	c, err := find()
	if errors.Is(err, ErrAbsent) && os.Getenv("CI") == "true" {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		c, err = install(ctx)
	}
	if err != nil {
		need.Missing(t, "the real-client lab needs %s: %v", what, err)
	}
	return c
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
