//go:build unix

package lab

var qwen = &Agent{
	Name: "qwen", Version: "0.24.4", Package: "@qwen-code/qwen-code", program: ".bin/qwen",
	setup: func(h *Home) error { return writeJSON(h.path("home/.qwen/settings.json"), qwenSettings()) },
	env: func(h *Home) map[string]string {
		return map[string]string{"OPENAI_API_KEY": APIKey, "OPENAI_BASE_URL": h.api + "/v1", "OPENAI_MODEL": "lab-model"}
	},
	resume: []string{"--continue"},
	ready:  `Type your message`,
	screen: []sign{
		on("question", `Enter: Select`),
		titled("permission", `^✳`),
		titled("working", `^◐`),
		titled("idle", `^Qwen`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Escape"}, "esc": {"Escape"}, "choose": {"Enter"},
		"compact": {"/compress", "Enter"}, "clear": {"/clear", "Enter"}, "quit": {"/quit", "Enter"},
	},
	tools: tools{
		run:  func(c string) Tool { return qwenShell(c) },
		asks: func(c string) Tool { return qwenShell(c) },
		form: func() Tool {
			return Tool{"ask_user_question", `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}]}`}
		},
		sub: func(p string) Tool {
			return with(Tool{"agent", object("description", "look around", "prompt", p, "subagent_type", "general-purpose")}, `"run_in_background":false`)
		},
	},
	hooks: func(h *Home, command string) error {
		return jsonHooks(h.path("home/.qwen/settings.json"), command, 10_000, []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
			"Notification", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "StopFailure", "SessionEnd",
		}, qwenSettings())
	},
}

func qwenShell(command string) Tool {
	return with(Tool{"run_shell_command", object("command", command, "description", "run it")}, `"is_background":false`)
}

func qwenSettings() fields {
	return fields{
		"security":    fields{"auth": fields{"selectedType": "openai"}},
		"general":     fields{"disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy":     fields{"usageStatisticsEnabled": false},
		"model":       fields{"name": "lab-model"},
		"tools":       fields{"approvalMode": "default"},
		"permissions": fields{"allow": []string{"Bash(./nap *)", "Agent"}},
	}
}
