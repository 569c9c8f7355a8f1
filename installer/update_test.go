package installer

import (
	"strings"
	"testing"
)

// Entries as an earlier version, another path or a user may have left them.
func TestUpdate(t *testing.T) {
	want := Spec{Command: "/new/beckon-hook", Events: []string{"PreToolUse", "Stop"}}
	pre := `{"type": "command", "command": "/new/beckon-hook", "args": ["PreToolUse"], "timeout": 60}`
	stop := `{"type": "command", "command": "/new/beckon-hook", "args": ["Stop"], "timeout": 60}`
	other := `{"type": "command", "command": "lint"}`
	for _, c := range []struct{ name, old, want string }{
		{
			"another path",
			`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/old/beckon-hook", "args": ["PreToolUse"], "timeout": 60}]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"hooks": [` + pre + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"shell form, in a group with others",
			`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [` + other + `, {"type": "command", "command": "'/old dir/beckon-hook' PreToolUse"}, ` + other + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [` + other + `, ` + pre + `, ` + other + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"under a matcher that keeps it from some tools",
			`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [` + pre + `, ` + other + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [` + other + `]}, {"hooks": [` + pre + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"twice",
			`{"hooks": {"PreToolUse": [{"hooks": [` + pre + `]}, {"hooks": [` + pre + `, ` + pre + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"hooks": [` + pre + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"an event no longer wanted",
			`{"hooks": {"Setup": [{"hooks": [` + pre + `]}], "PreToolUse": [{"hooks": [` + pre + `]}], "PreCompact": [{"hooks": [` + pre + `, ` + other + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"hooks": [` + pre + `]}], "PreCompact": [{"hooks": [` + other + `]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"another order of keys is the same entry",
			`{"hooks": {"PreToolUse": [{"hooks": [{"timeout":6e1,"args":["PreToolUse"],"command":"\/new\/beckon-hook","type":"command"}]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
			`{"hooks": {"PreToolUse": [{"hooks": [{"timeout":6e1,"args":["PreToolUse"],"command":"\/new\/beckon-hook","type":"command"}]}], "Stop": [{"hooks": [` + stop + `]}]}}`,
		},
		{
			"events that moved keep the place of hooks in the file",
			`{"hooks": {"Setup": [{"hooks": [` + pre + `]}]}, "model": "opus"}`,
			`{"hooks": {"PreToolUse": [{"hooks": [` + pre + `]}], "Stop": [{"hooks": [` + stop + `]}]}, "model": "opus"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := string(mustEdit(t, []byte(c.old), want))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if owns(mustRemove(t, []byte(got))) {
				t.Error("Remove left entries")
			}
		})
	}
}

// Each event takes a line.
func TestLayout(t *testing.T) {
	got := string(mustEdit(t, nil, Spec{Command: "/b/beckon-hook", Events: []string{"Stop", "SessionEnd"}}))
	want := strings.Join([]string{
		`{`,
		`  "hooks": {`,
		`    "Stop": [{"hooks": [{"type": "command", "command": "/b/beckon-hook", "args": ["Stop"], "timeout": 60}]}],`,
		`    "SessionEnd": [{"hooks": [{"type": "command", "command": "/b/beckon-hook", "args": ["SessionEnd"]}]}]`,
		`  }`,
		`}`,
		``,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// Entries that others added after ours stay, wherever they are.
func TestRemoveKeepsLaterEntries(t *testing.T) {
	spec := Spec{Command: "/b/beckon-hook", Events: []string{"Stop", "PreToolUse"}}
	edited := string(mustEdit(t, []byte("{\n  \"model\": \"opus\"\n}\n"), spec))
	mine := `{"type": "command", "command": "lint"}`
	added := strings.Replace(edited, `"hooks": {`, `"hooks": {"Setup": [{"hooks": [`+mine+`]}],`, 1)
	added = strings.Replace(added, "\"Stop\": [{\"hooks\": [", "\"Stop\": [{\"hooks\": ["+mine+", ", 1)
	added = strings.Replace(added, "\n}\n", ",\n  \"theme\": \"dark\"\n}\n", 1)
	got := string(mustRemove(t, []byte(added)))
	want := "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Setup\": [{\"hooks\": [" + mine + "]}],\n    \"Stop\": [{\"hooks\": [" + mine +
		"]}]\n  },\n  \"theme\": \"dark\"\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
