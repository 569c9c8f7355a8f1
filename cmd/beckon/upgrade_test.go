package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// aged is a copy of what an earlier release left, used by today's beckon.
type aged struct {
	*testing.T
	sample, state, home string
}

func newAged(t *testing.T, sample string) aged {
	a := aged{t, sample, filepath.Join(t.TempDir(), "state"), t.TempDir()}
	if err := os.CopyFS(a.state, os.DirFS(filepath.Join(sample, "state"))); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]string{"config.json": ".config/beckon", "policy.json": ".config/beckon"} {
		dir := filepath.Join(a.home, filepath.FromSlash(place))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), a.read(filepath.Join(sample, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a aged) read(path string) []byte {
	a.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		a.Fatal(err)
	}
	return b
}

// beckon runs the program and returns its output; it must exit 0 and print nothing to stderr.
func (a aged) beckon(stdin string, args ...string) []byte {
	a.Helper()
	env := map[string]string{"HOME": a.home, "USERPROFILE": a.home, "BECKON_STATE_DIR": a.state, "CLAUDE_CONFIG_DIR": filepath.Join(a.home, ".claude")}
	var out, errs bytes.Buffer
	code := run(args, strings.NewReader(stdin), &out, &errs, func(name string) string { return env[name] })
	if code != 0 || errs.Len() > 0 {
		a.Fatalf("beckon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.Bytes(), errs.Bytes())
	}
	return out.Bytes()
}

// lacks returns the path of the first member of want that got lacks or has another value for.
// Later members do not matter; busy_seconds depends on where midnight is, and tasks is gone.
func lacks(got, want any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path
		}
		for k, v := range w {
			if at := lacks(g[k], v, path+"."+k); k != "busy_seconds" && k != "tasks" && at != "" {
				return at
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return path
		}
		for i := range w {
			if at := lacks(g[i], w[i], fmt.Sprintf("%s[%d]", path, i)); at != "" {
				return at
			}
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("%s: %v, not %v", path, got, want)
	}
	return ""
}

// inOrder puts the sessions of a list in the order of their ids: releases had other orders.
func inOrder(list any) {
	sessions, _ := list.(map[string]any)["sessions"].([]any)
	slices.SortFunc(sessions, func(x, y any) int {
		id := func(v any, name string) string { s, _ := v.(map[string]any)[name].(string); return s }
		return cmp.Or(strings.Compare(id(x, "session_id"), id(y, "session_id")), strings.Compare(id(x, "part"), id(y, "part")))
	})
}

// says checks that today's answer has everything that the release's had.
func (a aged) says(sample string, got []byte) {
	a.Helper()
	var was, is any
	if err := json.Unmarshal(a.read(filepath.Join(a.sample, sample)), &was); err != nil {
		a.Fatal(err)
	}
	if err := json.Unmarshal(got, &is); err != nil {
		a.Fatal(err)
	}
	inOrder(was)
	inOrder(is)
	if at := lacks(is, was, ""); at != "" {
		a.Errorf("%s differs: %s", sample, at)
	}
}

func TestUpgrade(t *testing.T) {
	samples, err := filepath.Glob("../../testdata/upgrade/[0-9]*")
	if err != nil || len(samples) == 0 {
		t.Fatalf("%v, %q", err, samples)
	}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			a := newAged(t, sample)
			a.says("list.json", a.beckon("", "list", "--all", "--json"))
			a.says("history.json", a.beckon("", "history", "--json", "--days", "100000"))
			if spool, _ := os.ReadDir(filepath.Join(a.state, "spool")); len(spool) > 0 {
				t.Errorf("%s still waits", spool[0].Name())
			}
			a.isWhole()
			a.readsTheRest()
			a.goesOn()
		})
	}
}

// readsTheRest checks that configuration, policy, trace and log of decisions can be read.
func (a aged) readsTheRest() {
	a.Helper()
	for want, args := range map[string][]string{
		`"prio"`:       {"config", "--json"},
		"no rm here":   {"policy", "trace"},
		"policy.json":  {"policy", "check"},
		"not sent":     {"notify", "explain"},
		"Which colour": {"show", "adb2b11e"},
	} {
		if out := a.beckon("", args...); !bytes.Contains(out, []byte(want)) {
			a.Errorf("beckon %s does not tell %q:\n%s", strings.Join(args, " "), want, out)
		}
	}
	told, err := filepath.Glob(filepath.Join(a.state, "told", "*", "question-*"))
	if err != nil || len(told) != 1 {
		a.Errorf("%v: what was told is gone: %q", err, told)
	}
}

// goesOn checks that an event of today is folded into every live session of the release.
func (a aged) goesOn() {
	a.Helper()
	sessions, err := filepath.Glob(filepath.Join(a.state, "sessions", "*.json"))
	if err != nil {
		a.Fatal(err)
	}
	for _, path := range sessions {
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		a.beckon(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"UserPromptSubmit","prompt":"go on","prompt_id":"new"}`, id), "hook", "UserPromptSubmit")
	}
	if out := a.beckon("", "history", "go on"); bytes.Count(out, []byte("> go on\n")) != len(sessions) {
		a.Errorf("of %d sessions go on:\n%s", len(sessions), out)
	}
	a.isWhole()
}

// isWhole checks that nothing is called damaged, and that no history has vanished or is there
// twice.
func (a aged) isWhole() {
	a.Helper()
	a.beckon("", "list", "--all") // says so, and fails here, if a file cannot be read
	if damaged, _ := filepath.Glob(filepath.Join(a.state, "aside", "*")); len(damaged) > 0 {
		a.Errorf("%q were set aside", damaged)
	}
	events := func(pattern string) (n int) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			a.Fatalf("%v, no %s", err, pattern)
		}
		for _, f := range files {
			n += bytes.Count(a.read(f), []byte(`"kind":"event"`))
		}
		return n
	}
	old := events(filepath.Join(a.sample, "state", "journal", "*.jsonl"))
	if now := events(filepath.Join(a.state, "history", "*.*.jsonl")); now != old {
		a.Errorf("of %d events in the journals %d are in the history", old, now)
	}
	if left, _ := filepath.Glob(filepath.Join(a.state, "journal*")); len(left) > 0 {
		a.Errorf("%q are still there", left)
	}
}
