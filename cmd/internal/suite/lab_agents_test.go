//go:build unix

package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	hooks: func(h *Home, command string) error {
		return pluginHooks(h, "opencode", "home/.config/opencode/plugins/recorder.js", command)
	},
}

// pluginHooks installs beckon's own plugin, which turns an agent's events into hooks; here it runs
// the recorder.
func pluginHooks(h *Home, agent, file, command string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	plugin, err := os.ReadFile(filepath.Join(root, "installer", "agents", agent+".js"))
	if err != nil {
		return err
	}
	program := filepath.Join(h.Bin, "recorder-of-plugin")
	return errors.Join(
		os.WriteFile(program, []byte("#!/bin/sh\nexec "+command+" \"$1\"\n"), 0o700),
		writeFile(h.path(file), strings.Replace(string(plugin), "@PROGRAM@", program, 1)),
	)
}

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

// Droid asks for no login with a model of the user's own and without the network.
var droid = &Agent{
	Name: "droid", Version: "0.215.0", Package: "droid", program: "@factory/cli-" + runtime.GOOS + "-" + npmArch() + "/bin/droid",
	setup: func(h *Home) error { return writeJSON(h.path("home/.factory/settings.json"), droidSettings(h)) },
	env: func(*Home) map[string]string {
		return map[string]string{
			"FACTORY_AIRGAP_ENABLED": "true", "FACTORY_DISABLE_KEYRING": "1", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
		}
	},
	resume: []string{"--resume", "--last"},
	ready:  `\? for help`,
	screen: []sign{
		on("permission", `to approve ·`),
		on("question", `Or type your own answer`),
		on("working", `\(Press ESC to stop\)`),
		on("idle", `\? for help`),
	},
	keys: map[string][]string{
		"approve": {"Enter"}, "refuse": {"Down", "Down", "Enter"}, "esc": {"Escape"}, "choose": {"Enter"},
		"compact": {"/compress", "Enter", "Enter"}, "clear": {"/new", "Enter"}, "quit": {"/quit", "Enter"},
	},
	tools: tools{
		run:  func(c string) Tool { return droidShell(c, "low") },
		asks: func(c string) Tool { return droidShell(c, "medium") },
		form: func() Tool {
			return Tool{"AskUser", `{"questionnaire":"1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue"}`}
		},
	},
	hooks: func(h *Home, command string) error {
		return jsonHooks(h.path("home/.factory/settings.json"), command, 10, []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "SubagentStop", "PreCompact", "Stop", "SessionEnd",
		}, droidSettings(h))
	},
}

func droidShell(command, risk string) Tool {
	return Tool{"Execute", object("command", command, "summary", "run it", "riskLevel", risk, "riskLevelReason", "It may write a file.")}
}

func droidSettings(h *Home) fields {
	trusted := fields{}
	for _, d := range h.Dirs() {
		trusted[d] = fields{"trustedAt": "2026-01-01T00:00:00Z"}
	}
	return fields{
		"trustedFolders": trusted, "logoAnimation": "off",
		"sessionDefaultSettings": fields{"model": "custom:Lab-0", "autonomyMode": "auto-low"},
		"customModels": []fields{{
			"model": "lab-model", "displayName": "Lab", "baseUrl": h.api + "/v1", "apiKey": APIKey,
			"provider": "generic-chat-completion-api", "maxOutputTokens": 8000,
		}},
	}
}

var pi = &Agent{
	Name: "pi", Version: "0.73.1", Package: "@mariozechner/pi-coding-agent", program: ".bin/pi",
	setup: func(h *Home) error {
		return writeJSON(h.path("home/.pi/agent/models.json"), fields{"providers": fields{"lab": fields{
			"baseUrl": h.api + "/v1", "api": "openai-completions", "apiKey": APIKey, "models": []fields{{"id": "lab-model"}},
		}}})
	},
	env: func(*Home) map[string]string {
		return map[string]string{"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
	},
	args:   []string{"--provider", "lab", "--model", "lab-model"},
	resume: []string{"--provider", "lab", "--model", "lab-model", "--continue"},
	ready:  `(?m)^─+$`,
	screen: []sign{
		on("working", `(?m)^ [⠀-⣿] Working`),
		on("idle", `(?m)lab-model$`),
	},
	keys: map[string][]string{
		"esc": {"Escape"}, "compact": {"/compact", "Enter"}, "clear": {"/new", "Enter"}, "quit": {"/quit", "Enter"},
	},
	tools: tools{
		run: func(c string) Tool { return Tool{"bash", object("command", c)} },
	},
	hooks: func(h *Home, command string) error {
		return pluginHooks(h, "pi", "home/.pi/agent/extensions/recorder.js", command)
	},
}
