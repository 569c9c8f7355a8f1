package run

import (
	"os"
	"runtime"
	"strings"

	"beckon/event"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// variables returns the values of a call that a handler may use, in a fixed order. A variable
// without a value in the event is empty, so that one from the caller's environment never
// replaces it.
func variables(c wire.Call) [][2]string {
	return [][2]string{
		{"HOOK_EVENT", c.Event},
		{"TOOL_NAME", c.ToolName},
		{"TOOL_INPUT", string(c.ToolInput)},
		{"SESSION_ID", c.SessionID},
		{"FILE_PATH", filePath(c)},
		{"COMMAND", text(c.ToolInput, "command")},
		{"PROJECT_DIR", c.ProjectDir},
	}
}

// filePath returns the file or directory that a tool call is about, else the one that the
// event itself names (FileChanged, InstructionsLoaded).
func filePath(c wire.Call) string {
	for _, key := range []string{"file_path", "notebook_path", "path"} {
		if s := text(c.ToolInput, key); s != "" {
			return s
		}
	}
	return text(c.Payload, "file_path")
}

// text returns the string at a member of an object; "" for anything else.
func text(object []byte, key string) string {
	if v := gjson.GetBytes(object, key); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// environment returns base with the call's variables. A value that would not fit is cut, and
// NAME_TRUNCATED=1 says so; stdin has all of it.
//
// The values are the agent's text. A shell expands them once and does not parse them again;
// nothing here puts them into a command line.
func environment(base []string, c wire.Call) []string {
	if base == nil {
		base = os.Environ()
	}
	ours := map[string]bool{}
	var set []string
	for _, v := range variables(c) {
		ours[v[0]], ours[v[0]+"_TRUNCATED"] = true, true
		if v[1] == "" {
			continue
		}
		value := strings.ReplaceAll(v[1], "\x00", "") // no program starts with one in its environment
		if room := maxEnv - len(v[0]) - len("=\x00"); len(value) > room {
			value = event.Cut(value, room)
			set = append(set, v[0]+"_TRUNCATED=1")
		}
		set = append(set, v[0]+"="+value)
	}
	if c.ProjectDir != "" {
		ours["CLAUDE_PROJECT_DIR"] = true
		set = append(set, "CLAUDE_PROJECT_DIR="+c.ProjectDir)
	}
	return append(without(base, ours), set...)
}

// without returns env without the named variables.
func without(env []string, names map[string]bool) []string {
	kept := make([]string, 0, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if !names[name] {
			kept = append(kept, e)
		}
	}
	return kept
}
