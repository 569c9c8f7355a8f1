package installer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
)

const fakeClient = "BECKON_TEST_CLIENT"

// TestMain lets the test binary stand in for the client.
func TestMain(m *testing.M) {
	if say, ok := os.LookupEnv(fakeClient); ok {
		if say == "hang" {
			time.Sleep(time.Minute)
		}
		fmt.Println(say)
		os.Exit(len(os.Args) - 2) // 0 when asked for --version alone
	}
	os.Exit(m.Run())
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"2.1.329 (Claude Code)\n":             "2.1.329",
		"1.0.38 (Claude Code)":                "1.0.38",
		"2.1.329":                             "2.1.329",
		"v2.1.329-beta.1 (Claude Code)":       "2.1.329",
		"a newer version is out\n2.1.5 (x)\n": "2.1.5",
		"":                                    "",
		"claude: command not found":           "",
		"2.1 (Claude Code)":                   "",
		"127.0.0.1":                           "127.0.0",
		"99999999999999999999.1.1":            "",
		"error at 12.13.14":                   "",
	} {
		if got := ParseVersion(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	ordered := []string{"1.0.9", "1.0.38", "2.0.45", "2.1.9", "2.1.139", "2.1.329", "2.10.0", "10.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := ParseVersion(a).Older(ParseVersion(b)); got != (i < j) {
				t.Errorf("%q against %q: %v", a, b, got)
			}
		}
	}
	if Version("").Older("1.0.9") || Version("1.0.9").Older("") {
		t.Error("an unknown version is older, or newer")
	}
}

func TestEvents(t *testing.T) {
	core := strings.Fields("SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Notification SubagentStart SubagentStop Stop PreCompact SessionEnd")
	known := strings.Fields("StopFailure PostCompact Elicitation ElicitationResult PermissionDenied CwdChanged TaskCreated TaskCompleted")
	for _, c := range []struct {
		version string
		set     Set
		want    int
		with    []string
		without []string
	}{
		{"", CoreEvents, len(core) + len(known), append(core, known...), []string{"Setup"}},
		{"", AllEvents, len(core) + len(known), append(core, known...), []string{"Setup"}},
		{"2.1.329", CoreEvents, len(core) + len(known), append(core, known...), []string{"Setup", "PreModelSwitch"}},
		{"2.1.329", AllEvents, 30, []string{"Setup", "PreModelSwitch", "DirectoryAdded"}, nil},
		{"2.1.197", AllEvents, 27, []string{"Setup"}, []string{"PreModelSwitch", "PostModelSwitch", "DirectoryAdded"}},
		{"2.0.0", CoreEvents, 9, []string{"SessionStart"}, []string{"PermissionRequest", "SubagentStart", "PostToolUseFailure"}},
	} {
		got := Events(ParseVersion(c.version), c.set)
		if len(got) != c.want {
			t.Errorf("%q %s: %d events: %v", c.version, c.set, len(got), got)
		}
		for _, name := range c.with {
			if !slices.Contains(got, name) {
				t.Errorf("%q %s: no %s", c.version, c.set, name)
			}
		}
		for _, name := range append(c.without, "WorktreeCreate", "WorktreeRemove", "MessageDisplay") {
			if slices.Contains(got, name) {
				t.Errorf("%q %s: has %s", c.version, c.set, name)
			}
		}
	}
}

// No event is registered that the client's version does not know.
func TestEventsAreKnown(t *testing.T) {
	for _, k := range event.Kinds {
		if !ParseVersion(k.Since).Known() {
			t.Fatalf("%s: since %q", k.Kind, k.Since)
		}
		v := ParseVersion(k.Since)
		for _, name := range Events(v, AllEvents) {
			if known, _ := event.Lookup(event.Kind(name)); v.Older(Version(known.Since)) {
				t.Errorf("%v does not know %s", v, name)
			}
		}
	}
}

func TestFindClient(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := FindClient(dir); got != (Client{}) {
		t.Error(got)
	}
	path := filepath.Join(dir, "claude")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.Link(os.Args[0], path); err != nil && os.Symlink(os.Args[0], path) != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeClient, "2.1.329 (Claude Code)")
	if got := FindClient(dir); got != (Client{path, "2.1.329", dir}) {
		t.Error(got)
	}
	t.Setenv(fakeClient, strings.Repeat("x", 1<<20))
	if got := FindClient(dir); got.Version.Known() || got.Path == "" {
		t.Error(got)
	}
	t.Setenv(fakeClient, "hang")
	clientDeadline = 100 * time.Millisecond
	t.Cleanup(func() { clientDeadline = 10 * time.Second })
	if got := FindClient(dir); got.Version.Known() {
		t.Error(got)
	}
	if out := (Client{Path: "/nowhere/claude"}).ask(); len(out) > 0 {
		t.Error("a program that is not there was asked")
	}
}

// A client rewrites its settings when it starts: it gets a copy, and the answer names the real
// directory.
func TestAskChangesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is a script of Unix")
	}
	dir := t.TempDir()
	claude, settings := filepath.Join(dir, "claude"), filepath.Join(dir, "settings.json")
	const script = "#!/bin/sh\ncat \"$CLAUDE_CONFIG_DIR/plugins/x/y\"; echo \"$CLAUDE_CONFIG_DIR/skills\"; echo migrated >\"$CLAUDE_CONFIG_DIR/settings.json\"\n"
	err := errors.Join(os.WriteFile(claude, []byte(script), 0o700), os.WriteFile(settings, []byte("{}"), 0o600),
		os.MkdirAll(filepath.Join(dir, "plugins", "x"), 0o700), os.WriteFile(filepath.Join(dir, "plugins", "x", "y"), []byte("seen "), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	out := (Client{Path: claude, Config: dir}).ask()
	if want := "seen " + dir + "/skills\n"; string(out) != want {
		t.Errorf("%q, want %q", out, want)
	}
	if text, _ := os.ReadFile(settings); string(text) != "{}" {
		t.Errorf("settings are %q", text)
	}
}
