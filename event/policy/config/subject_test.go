package config

import (
	"testing"

	"beckon/event"
)

func TestSubject(t *testing.T) {
	payload := []byte(`{"source":"startup","tool_name":"Bash","notification_type":"idle_prompt","file_path":"/a/b/.env","error":"rate_limit","reason":"clear","trigger":"auto","agent_type":"Explore","mcp_server_name":"m","command_name":"c","load_reason":"include","to_model":"x"}`)
	for kind, want := range map[event.Kind]string{event.SessionStart: "startup", event.PreToolUse: "Bash", event.Notification: "idle_prompt",
		event.FileChanged: ".env", event.StopFailure: "rate_limit", event.SessionEnd: "clear", event.PreCompact: "auto", event.SubagentStop: "Explore",
		event.Elicitation: "m", event.UserPromptExpansion: "c", "InstructionsLoaded": "include", "PreModelSwitch": "x", event.Stop: ""} {
		if got := subject(kind, payload); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
