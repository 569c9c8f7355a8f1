//go:build unix

package lab

import (
	"fmt"
	"strings"
)

// codexAlone is codex without the background process that its terminals share.
var codexAlone = func() *Agent {
	a := *codex
	a.Mode, a.args = "--no-daemon", []string{"--no-daemon"}
	return &a
}()

var codex = &Agent{
	Name: "codex", Version: "0.169.0", Package: "@openai/codex", program: ".bin/codex",
	setup: func(h *Home) error {
		var b strings.Builder
		fmt.Fprintf(&b, `model = "lab-model"
model_provider = "lab"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
[model_providers.lab]
name = "lab"
base_url = "%s/v1"
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[features]
plugins = false
`, h.api)
		for _, d := range h.Dirs() {
			fmt.Fprintf(&b, "[projects.%q]\ntrust_level = \"trusted\"\n", d)
		}
		return writeFile(h.path("home/.codex/config.toml"), b.String())
	},
	env:    func(*Home) map[string]string { return map[string]string{"LAB_KEY": APIKey} },
	resume: []string{"resume", "--last"},
	ready:  `(?m)^  lab-model \w+ · `,
	review: `Hooks need review`, trust: "2",
	screen: []sign{
		on("permission", `Would you like to`), // the title blinks: [ ! ], [ . ]
		on("question", `(?i)enter to submit`),
		titled("working", `^[⠀-⣿] `),
		on("idle", `(?m)^› `),
	},
	keys: map[string][]string{
		"approve": {"y"}, "refuse": {"n"}, "esc": {"Escape"}, "choose": {"Enter"},
		"compact": {"/compact", "Enter"}, "clear": {"/clear", "Enter"}, "quit": {"/quit", "Enter"},
	},
	tools: tools{
		run: func(c string) Tool { return Tool{"exec_command", object("cmd", c)} },
		asks: func(c string) Tool {
			return Tool{"exec_command", object("cmd", c, "sandbox_permissions", "require_escalated", "justification", "May I?")}
		},
		form: func() Tool {
			return Tool{"request_user_input", `{"questions":[{"id":"colour","header":"Colour","question":"Which colour?","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}]}`}
		},
		sub:  func(p string) Tool { return Tool{"multi_agent_v1.spawn_agent", object("message", p)} },
		wait: func() Tool { return Tool{"multi_agent_v1.wait_agent", `{"targets":["$AGENT"],"timeout_ms":60000}`} },
	},
	hooks: func(h *Home, command string) error {
		return jsonHooks(h.path("home/.codex/hooks.json"), command, 10, []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact",
			"SubagentStart", "SubagentStop", "Stop", "SessionEnd", "Interrupt",
		}, nil)
	},
}
