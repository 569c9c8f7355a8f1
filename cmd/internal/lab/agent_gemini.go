//go:build unix

package lab

var gemini = &Agent{
	Name: "gemini", Version: "0.61.0", Package: "@google/gemini-cli", program: ".bin/gemini",
	setup: func(h *Home) error {
		trusted := fields{}
		for _, d := range h.Dirs() {
			trusted[d] = "TRUST_FOLDER"
		}
		if err := writeJSON(h.path("home/.gemini/trustedFolders.json"), trusted); err != nil {
			return err
		}
		const policy = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"./nap\"\ndecision = \"allow\"\npriority = 200\n"
		if err := writeFile(h.path("home/.gemini/policies/lab.toml"), policy); err != nil {
			return err
		}
		return writeJSON(h.path("home/.gemini/settings.json"), geminiSettings())
	},
	env: func(h *Home) map[string]string {
		return map[string]string{"GEMINI_API_KEY": APIKey, "GOOGLE_GEMINI_BASE_URL": h.api}
	},
	args:   []string{"--model", "gemini-2.5-flash"},
	resume: []string{"--resume", "latest"},
	ready:  `Type your message`,
	screen: []sign{
		on("question", `Enter to select`),
		titled("permission", `^✋`),
		titled("working", `^✦`),
		titled("idle", `^◇`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Escape"}, "esc": {"Escape"}, "choose": {"Enter"},
		"compact": {"/compress", "Enter"}, "clear": {"/clear", "Enter"}, "quit": {"/quit", "Enter"},
	},
	tools: tools{
		run:  func(c string) Tool { return Tool{"run_shell_command", object("command", c, "description", "run it")} },
		asks: func(c string) Tool { return Tool{"run_shell_command", object("command", c, "description", "run it")} },
		form: func() Tool {
			return Tool{"ask_user", `{"questions":[{"question":"Which colour?","header":"Colour","type":"choice","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}]}`}
		},
		sub: func(p string) Tool { return Tool{"invoke_agent", object("agent_name", "generalist", "prompt", p)} },
	},
	hooks: func(h *Home, command string) error {
		return jsonHooks(h.path("home/.gemini/settings.json"), command, 10_000, []string{
			"SessionStart", "BeforeAgent", "BeforeModel", "BeforeTool", "AfterTool", "AfterAgent", "Notification", "PreCompress", "SessionEnd",
		}, geminiSettings())
	},
}

func geminiSettings() fields {
	return fields{
		"security": fields{"auth": fields{"selectedType": "gemini-api-key"}, "folderTrust": fields{"enabled": true}},
		"general":  fields{"disableAutoUpdate": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":  fields{"usageStatisticsEnabled": false},
		"ui":       fields{"dynamicWindowTitle": true, "hideTips": true},
	}
}
