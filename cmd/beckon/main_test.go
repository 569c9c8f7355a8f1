package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/noblock"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands find into the scripts")

// noNap saves every program that the tests start the second that it would wait when it exits
// under the race detector.
const noNap = "atexit_sleep_ms=0"

// atOnce is how many parallel tests run concurrently: most wait for clocks and terminals, not
// for a processor.
const atOnce = 4

// builtDir is the directory of the built programs.
var builtDir string

// build builds the programs, once for all tests that need them as files.
var build = sync.OnceValue(func() (err error) {
	if builtDir, err = os.MkdirTemp("", "beckon-test-"); err != nil {
		return err
	}
	out, err := exec.Command("go", "build", "-o", builtDir, "beckon/cmd/beckon", "beckon/cmd/beckon-hook").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// installPrograms links the built programs into dir.
func installPrograms(t testing.TB, dir string) {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"beckon", "beckon-hook"} {
		if err := os.Link(filepath.Join(builtDir, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// tests runs the tests of this package and removes the built programs.
type tests struct{ *testing.M }

func (m tests) Run() int {
	if runtime.GOMAXPROCS(0) < atOnce {
		_ = flag.Set("test.parallel", strconv.Itoa(atOnce))
	}
	defer func() { _ = os.RemoveAll(builtDir) }()
	return m.M.Run()
}

func TestMain(m *testing.M) {
	noblock.Off() // a test that panics fails
	os.Setenv("GORACE", noNap)
	cli.InClient = func() bool { return false } // an agent may run the tests
	testscript.Main(tests{m}, map[string]func(){
		"beckon":      func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
		"beckon-hook": func() { os.Exit(hook.Start(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
	})
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some hundred programs, one after the other")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(root, "testdata", "scripts"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			e.Setenv("HOME", home)
			e.Setenv("GORACE", noNap)
			e.Setenv("BECKON_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("BIN", filepath.SplitList(e.Getenv("PATH"))[0]) // where the commands are, and no agent
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			_, port, _ := net.SplitHostPort(free.Addr().String())
			e.Setenv("PORT", port)
			_ = free.Close()
			e.Setenv("RECORDINGS", filepath.Join(root, "testdata", "recordings"))
			return nil
		},
	})
}

// within waits until f is true; kitty is slow when it draws in software.
func within(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("%s: not within a minute", what)
}
