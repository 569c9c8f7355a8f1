package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
// Later members do not matter; busy_seconds depends on where midnight is.
func lacks(got, want any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return path
		}
		for k, v := range w {
			if at := lacks(g[k], v, path+"."+k); k != "busy_seconds" && at != "" {
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
			a.folds()
			a.says("list.json", a.beckon("", "list", "--all", "--json"))
			a.says("history.json", a.beckon("", "history", "--json", "--days", "100000"))
			if spool, _ := os.ReadDir(filepath.Join(a.state, "spool")); len(spool) > 0 {
				t.Errorf("%s still waits", spool[0].Name())
			}
			if out := a.beckon("", "fsck"); !bytes.HasPrefix(out, []byte("every session is what its journal says")) {
				t.Errorf("%s", out)
			}
			a.readsTheRest()
			a.goesOn()
		})
	}
}

// folds checks that the journals give the sessions again, byte for byte, where they are whole.
func (a aged) folds() {
	a.Helper()
	scratch := newAged(a.T, a.sample)
	var kept []string
	for _, dir := range []string{"sessions", "archive"} {
		files, err := filepath.Glob(filepath.Join(scratch.state, dir, "*.json"))
		if err != nil {
			a.Fatal(err)
		}
		kept = append(kept, files...)
	}
	if err := os.RemoveAll(filepath.Join(scratch.state, "spool")); err != nil {
		a.Fatal(err)
	}
	was := map[string][]byte{}
	for _, path := range kept {
		was[path] = scratch.read(path)
		if strings.Contains(path, "sessions") {
			if err := os.Remove(path); err != nil {
				a.Fatal(err)
			}
		}
	}
	scratch.beckon("", "fsck", "--rebuild")
	if len(was) < 10 {
		a.Errorf("only %d sessions are kept", len(was))
	}
	for path, text := range was {
		if !bytes.Equal(scratch.read(path), text) {
			a.Errorf("%s is not what its journal gives today", filepath.Base(path))
		}
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
	if out := a.beckon("", "fsck"); !bytes.HasPrefix(out, []byte("every session is what its journal says")) {
		a.Errorf("%s", out)
	}
}
