package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/noblock"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands find into the scripts")

// noNap spares every program that the tests start the second that it would
// wait at its end under the race detector.
const noNap = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	noblock.Off() // a test that panics has failed
	os.Setenv("GORACE", noNap)
	inClient = func() bool { return false } // an agent may run the tests
	testscript.Main(m, map[string]func(){
		"beckon":      func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
		"beckon-hook": func() { os.Exit(hook.Start(os.Args[1:], os.Stdin, os.Stdout, os.Getenv)) },
	})
}

func TestScripts(t *testing.T) {
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
			e.Setenv("RECORDINGS", filepath.Join(root, "testdata", "recordings"))
			return nil
		},
	})
}
