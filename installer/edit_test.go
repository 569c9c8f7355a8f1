package installer

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const settingsDir = "../testdata/settings"

var testSpec = Spec{Command: "/opt/beckon/bin/beckon-hook", Events: []string{"SessionStart", "PreToolUse", "SessionEnd"}}

// tester is the part of a *testing.T, *testing.F or *rapid.T that checks need.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// settingsFiles returns the awkward files, by name.
func settingsFiles(t tester) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(settingsDir, "*.json"))
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d settings files, %v", len(paths), err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".json")] = data
	}
	return files
}

func mustEdit(t tester, old []byte, want Spec) []byte {
	t.Helper()
	got, err := Edit(old, want)
	if err != nil {
		t.Fatalf("Edit(%q): %v", old, err)
	}
	return got
}

func mustRemove(t tester, old []byte) []byte {
	t.Helper()
	got, err := remove(old)
	if err != nil {
		t.Fatalf("Remove(%q): %v", old, err)
	}
	return got
}

func TestGolden(t *testing.T) {
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) {
			got := mustEdit(t, old, testSpec)
			golden := filepath.Join(settingsDir, "golden", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("golden differs:\n%s", Change{Old: want, New: got}.Diff())
			}
		})
	}
}

func TestRoundTripFiles(t *testing.T) {
	for name, old := range settingsFiles(t) {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, old) })
	}
}

// checkRoundTrip checks the promises of Edit and remove on settings that have none of our
// entries.
func checkRoundTrip(t tester, old []byte) {
	t.Helper()
	before := bytes.Clone(old)
	if got := mustRemove(t, old); !bytes.Equal(got, old) {
		t.Fatalf("Remove changed a file without our entries:\n%q\n%q", old, got)
	}
	once := mustEdit(t, old, testSpec)
	checkEntries(t, once, testSpec)
	if again := mustEdit(t, once, testSpec); !bytes.Equal(again, once) {
		t.Fatalf("second Edit changed the file:\n%s", Change{Old: once, New: again}.Diff())
	}
	checkRemoved(t, old, mustRemove(t, once))
	// With other events, another program and another form.
	other := Spec{Command: "/home/me/my bin/beckon-hook", Events: []string{"Stop", "SessionEnd", "Notification"}}
	moved := mustEdit(t, once, other)
	checkEntries(t, moved, other)
	checkRemoved(t, old, mustRemove(t, moved))
	if !bytes.Equal(old, before) {
		t.Fatal("the argument was modified")
	}
	sameOtherwise(t, old, once)
}

// checkRemoved checks that settings are the original's, apart from white space and from hooks
// that hold nothing. In the layout that the client writes they are the same to the byte.
func checkRemoved(t tester, old, back []byte) {
	t.Helper()
	a, b := topOf(t, old), topOf(t, back)
	prune(a)
	prune(b)
	if len(a)+len(b) > 0 && !reflect.DeepEqual(a, b) {
		t.Fatalf("Remove did not give the original back:\n%q\n%q", old, back)
	}
}

// prune removes events without groups, and hooks without events.
func prune(settings map[string]any) {
	hooks, _ := settings["hooks"].(map[string]any)
	for event, groups := range hooks {
		if list, ok := groups.([]any); ok && len(list) == 0 || groups == nil {
			delete(hooks, event)
		}
	}
	if len(hooks) == 0 && (hooks != nil || settings["hooks"] == nil) {
		delete(settings, "hooks")
	}
}

// Claude Code writes its settings with JSON.stringify: from such a file our entries go without
// a trace, also after the client has written it.
func TestRemoveFromTheClientsLayout(t *testing.T) {
	for name, old := range settingsFiles(t) {
		top := topOf(t, old)
		if prune(top); len(top) == 0 {
			continue
		}
		text := encode(top, "  ")
		ours := mustStatus(t, mustEdit(t, text, testSpec), testStatus)
		for _, settings := range [][]byte{ours, encode(topOf(t, ours), "  ")} {
			if got := mustRemove(t, settings); !bytes.Equal(got, text) {
				t.Errorf("%s: %s", name, Change{Old: text, New: got}.Diff())
			}
		}
	}
}

// checkEntries checks, with encoding/json alone, that the client would find exactly the wanted
// entries.
func checkEntries(t tester, settings []byte, want Spec) {
	t.Helper()
	found := map[string]int{}
	for event, groups := range decodeHooks(t, settings) {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if !reflect.DeepEqual(handler(h), want.handler(event)) {
					continue
				}
				if g.Matcher != "" && g.Matcher != "*" {
					t.Errorf("%s: our entry is in a group with a matcher", event)
				}
				found[event]++
			}
		}
	}
	for _, event := range want.Events {
		if found[event] != 1 {
			t.Fatalf("%s: %d entries in\n%s", event, found[event], settings)
		}
	}
	if len(found) != len(want.Events) {
		t.Fatalf("entries for %v, want %v", found, want.Events)
	}
}

type decodedGroup struct {
	Matcher string
	Hooks   []map[string]any
}

func decodeHooks(t tester, settings []byte) map[string][]decodedGroup {
	t.Helper()
	_, text := cutBOM(settings)
	var top map[string]json.RawMessage
	hooks := map[string][]decodedGroup{}
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatalf("not JSON: %v\n%q", err, settings)
	}
	if top["hooks"] == nil {
		return hooks
	}
	var raw map[string][]map[string]any
	if err := json.Unmarshal(top["hooks"], &raw); err != nil {
		t.Fatal(err)
	}
	for event, groups := range raw {
		for _, g := range groups {
			hooks[event] = append(hooks[event], decodeGroup(g))
		}
	}
	return hooks
}

func decodeGroup(raw map[string]any) (g decodedGroup) {
	g.Matcher, _ = raw["matcher"].(string)
	list, _ := raw["hooks"].([]any)
	for _, h := range list {
		m, _ := h.(map[string]any)
		g.Hooks = append(g.Hooks, m)
	}
	return g
}

// sameOtherwise checks, with encoding/json, that only our entries were added.
func sameOtherwise(t tester, old, edited []byte) {
	t.Helper()
	_, was := cutBOM(old)
	_, is := cutBOM(edited)
	if len(bytes.TrimSpace(was)) == 0 {
		was = []byte("{}")
	}
	a, b := decodeTop(t, was), decodeTop(t, is)
	stripOurs(b, a)
	prune(a)
	prune(b)
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("something else changed:\n%v\n%v", a, b)
	}
}

func decodeTop(t tester, text []byte) map[string]any {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// stripOurs removes from settings the groups that have only our entry, and then what the
// original does not have.
func stripOurs(settings, original map[string]any) {
	hooks, _ := settings["hooks"].(map[string]any)
	was, _ := original["hooks"].(map[string]any)
	for event, groups := range hooks {
		list, ok := groups.([]any)
		if !ok {
			continue
		}
		kept := []any{}
		for _, g := range list {
			list, _ := g.(map[string]any)["hooks"].([]any)
			if len(list) == 1 && isOurs(list[0], event) {
				continue
			}
			kept = append(kept, g)
		}
		hooks[event] = kept
		if _, had := was[event]; !had && len(kept) == 0 {
			delete(hooks, event)
		}
	}
	if was == nil && len(hooks) == 0 {
		delete(settings, "hooks")
	}
}

func isOurs(entry any, event string) bool {
	text, err := json.Marshal(entry)
	return err == nil && reflect.DeepEqual(readHandler(text), testSpec.handler(event))
}
