//go:build unix

package lab

var copilot = &Agent{
	Name: "copilot", Version: "1.0.102", Package: "@github/copilot", program: ".bin/copilot",
	setup: func(h *Home) error {
		return writeJSON(h.path("home/.copilot/config.json"), fields{
			"trusted_folders": h.Dirs(), "trustedFolders": h.Dirs(), "banner": "never", "askedSetupTerminals": []string{"tmux"},
		})
	},
	env: func(h *Home) map[string]string {
		return map[string]string{
			"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": h.api + "/v1", "COPILOT_PROVIDER_API_KEY": APIKey,
			"COPILOT_MODEL": "lab-model", "COPILOT_AUTO_UPDATE": "false",
			"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "200000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "8000",
		}
	},
	args:   []string{"--allow-tool", "shell(./nap:*)"},
	resume: []string{"--continue"},
	ready:  `(?m)^ *[>❯]`,
	screen: []sign{
		on("permission", `Do you want to`),
		on("question", `Copilot needs information`),
		on("working", `(?m)^ *[●◉◎○] Working( ·| esc|\s{2}|$)|esc (esc|again to) (edit prompt|interrupt)`),
		on("idle", `(?m)^ *[>❯]`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Escape"}, "choose": {"Enter"},
		"compact": {"/compact", "Enter"}, "clear": {"/clear", "Enter"}, "quit": {"/exit", "Enter"},
	},
	again: `esc again to`,
	tools: tools{
		run:  func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		asks: func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		form: func() Tool {
			return Tool{"ask_user", `{"message":"Which colour?","requestedSchema":{"properties":{"colour":{"type":"string","enum":["Red","Blue"]}}}}`}
		},
		sub: func(p string) Tool {
			return Tool{"task", object("description", "look around", "prompt", p, "agent_type", "general-purpose", "name", "looker", "mode", "sync")}
		},
	},
	hooks: func(h *Home, command string) error {
		hooks := fields{}
		for _, e := range []string{
			"sessionStart", "userPromptSubmitted", "preToolUse", "permissionRequest", "postToolUse", "notification", "agentStop",
			"subagentStart", "subagentStop", "preCompact", "errorOccurred", "sessionEnd",
		} {
			hooks[e] = []any{fields{"type": "command", "bash": command + " " + e, "timeoutSec": 10}}
		}
		return writeJSON(h.path("home/.copilot/hooks/recorder.json"), fields{"version": 1, "hooks": hooks})
	},
}
