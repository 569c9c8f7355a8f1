package policies

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/expect"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/render"
)

// isCases reports whether the argument of `policy test` names test files: a directory, or a
// file with their suffix.
func isCases(path string) bool {
	info, err := os.Stat(path)
	return strings.HasSuffix(path, expect.Suffix) || err == nil && info.IsDir()
}

// testCases runs the test files at path, or below it, against the rules.
func (c *testCmd) testCases(a *cli.App, s policy.Sources) error {
	var files []string
	err := filepath.WalkDir(c.File, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, expect.Suffix) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("finding policy tests: %w", err)
	}
	if len(files) == 0 {
		return cli.Hint("test files end in "+expect.Suffix+": beckon help policy", "no policy tests in %s", c.File)
	}
	passed, failed := 0, 0
	for _, f := range files {
		p, n, err := c.testFile(a, s, f)
		if err != nil {
			return err
		}
		passed, failed = passed+p, failed+n
	}
	fmt.Fprintf(a.Stdout, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		for _, n := range policy.Load(s).Notices() { // perhaps that is why
			fmt.Fprintf(a.Stdout, "note: %s\n", render.OneLine(n))
		}
		return cli.ErrSilent
	}
	return nil
}

func (c *testCmd) testFile(a *cli.App, s policy.Sources, path string) (passed, failed int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, fmt.Errorf("reading policy tests: %w", err)
	}
	project := trust.ProjectOf(s.Project)
	file, err := expect.Parse(data, project)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	hooks, err := c.hooksUnder(s, path, file.Policy)
	if err != nil {
		return 0, 0, err
	}
	engine := policy.Engine{Hooks: hooks}
	for _, x := range file.Cases {
		r := engine.Trigger(context.Background(), policy.Event{Kind: x.Kind, Payload: x.Payload, ID: "evt_test", Version: c.Client,
			ProjectDir: project, Home: s.Home, RulesOnly: true, Why: "only rules are asked"})
		if got := decisionOf(r); got != x.Decision {
			failed++
			fmt.Fprintf(a.Stdout, "%s:%d: %s: want %s, got %s\n", path, x.Line, render.OneLine(x.Text), x.Decision, render.OneLine(decided(r)))
			continue
		}
		passed++
	}
	return passed, failed, nil
}

// hooksUnder returns the hooks to test: those of the file's own policy, of --policy, or those
// in force.
func (c *testCmd) hooksUnder(s policy.Sources, path string, own []byte) ([]*config.Hook, error) {
	switch {
	case own != nil:
		read, err := config.Decode(path+":policy.json", config.Global, own)
		if err != nil {
			return nil, err
		}
		return config.Merge(read), nil
	case c.Policy != "":
		return hooksOf(c.Policy)
	}
	return policy.Load(s).Hooks, nil
}

// decisionOf returns a result in the words of a test.
func decisionOf(r policy.Result) string {
	if r.Verdict.Decision != wire.Silence {
		return string(r.Verdict.Decision)
	}
	for _, h := range r.Results {
		if h.Ran && !h.Hook.Observe && h.Outcome.Decision == wire.Warn {
			return "warn"
		}
	}
	return "pass"
}
