//go:build unix

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var opencode = &Agent{
	Name: "opencode", Version: "1.18.33", Package: "opencode-ai",
	program: "opencode-" + runtime.GOOS + "-" + npmArch() + "/bin/opencode",
	setup: func(h *Home) error {
		// It downloads a package for the plugins next to its configuration, and waits for
		// that, unless these two files show that it is there.
		return errors.Join(os.MkdirAll(h.path("home/.config/opencode/node_modules"), 0o700), writeJSON(h.path("home/.config/opencode/package-lock.json"), fields{
			"packages": fields{"": fields{"dependencies": fields{"@opencode-ai/plugin": "1.18.33"}}},
		}), writeJSON(h.path("home/.config/opencode/opencode.json"), fields{
			"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "model": "lab/lab-model", "small_model": "lab/lab-model",
			"enabled_providers": []string{"lab"},
			"provider": fields{"lab": fields{
				"npm": "@ai-sdk/openai-compatible", "name": "lab",
				"options": fields{"baseURL": h.api + "/v1", "apiKey": APIKey},
				"models":  fields{"lab-model": fields{"name": "lab-model", "limit": fields{"context": 200_000, "output": 8_000}}},
			}},
			"permission": fields{"bash": fields{"*": "ask", "./nap *": "allow"}},
		}))
	},
	env: func(*Home) map[string]string {
		return map[string]string{
			"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		}
	},
	title:  "Lab title",
	resume: []string{"--continue"},
	ready:  `Ask anything|ctrl\+p commands`,
	screen: []sign{
		on("permission", `Permission required`),
		on("question", `esc dismiss`),
		on("working", `esc (again to )?interrupt`),
		on("idle", `ctrl\+p commands`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Right", "Right", "Enter"}, "choose": {"Enter"},
		"compact": {"/compact", "Enter"}, "clear": {"/new", "Enter"}, "quit": {"/exit", "Enter"},
	},
	again: `esc again to`,
	tools: tools{
		run:  func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		asks: func(c string) Tool { return Tool{"bash", object("command", c, "description", "run it")} },
		form: func() Tool {
			return Tool{"question", `{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}]}`}
		},
		sub: func(p string) Tool {
			return Tool{"task", object("description", "look around", "prompt", p, "subagent_type", "general")}
		},
	},
	// Beckon's plugin turns its events into hooks; here it runs the recorder.
	hooks: func(h *Home, command string) error {
		root, err := moduleRoot()
		if err != nil {
			return err
		}
		plugin, err := os.ReadFile(filepath.Join(root, "installer", "agents", "opencode.js"))
		if err != nil {
			return err
		}
		program := filepath.Join(h.Bin, "recorder-of-plugin")
		return errors.Join(
			os.WriteFile(program, []byte("#!/bin/sh\nexec "+command+" \"$1\"\n"), 0o700),
			writeFile(h.path("home/.config/opencode/plugins/recorder.js"), strings.Replace(string(plugin), "@PROGRAM@", program, 1)),
		)
	},
}
